package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// inputSchema returns a tool's schema as the service accepts it: of type
// object, no anyOf, oneOf or allOf at the top, valid in draft 2020-12, keys
// that fit its pattern. What can't be said so is lost, in words for the model,
// to whom a schema is advice anyway: the tools check it themselves.
func inputSchema(raw json.RawMessage) (schema json.RawMessage, lost string) {
	s, ok := parseSchema(raw)
	if !ok {
		return json.RawMessage(`{"type":"object","properties":{}}`), ""
	}
	r := &reshaping{}
	if s["type"] != "object" {
		s["type"] = "object"
		r.changed = true
	}
	r.top(s)
	r.walk(s)
	if !r.changed {
		return clean(raw), ""
	}
	out, err := sse.Encode(s)
	if err != nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), ""
	}
	return clean(out), strings.Join(r.lost, "\n")
}

// parseSchema keeps numbers as they are written.
func parseSchema(raw json.RawMessage) (map[string]any, bool) {
	dec := json.NewDecoder(bytes.NewReader([]byte(message.Clean(string(raw)))))
	dec.UseNumber()
	var s map[string]any
	err := dec.Decode(&s)
	return s, err == nil && s != nil
}

type reshaping struct {
	changed bool
	lost    []string
}

// top takes the alternatives out of the top of a schema. Their properties are
// offered all together, and the rule is told in words.
func (r *reshaping) top(s map[string]any) {
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		branches, ok := s[key].([]any)
		if _, there := s[key]; !there {
			continue
		}
		if rule, err := sse.Encode(map[string]any{key: s[key]}); ok && err == nil {
			r.lost = append(r.lost, "The input has to fit this JSON Schema as well: "+string(rule))
		}
		delete(s, key)
		r.changed = true
		for _, b := range branches {
			branch, _ := b.(map[string]any)
			properties, _ := branch["properties"].(map[string]any)
			r.offer(s, properties)
			if required, ok := branch["required"].([]any); ok && key == "allOf" {
				had, _ := s["required"].([]any)
				s["required"] = append(had, required...)
			}
		}
	}
}

func (r *reshaping) offer(s, properties map[string]any) {
	if len(properties) == 0 {
		return
	}
	had, ok := s["properties"].(map[string]any)
	if !ok {
		had = map[string]any{}
		s["properties"] = had
	}
	for name, p := range properties {
		if _, there := had[name]; !there {
			had[name] = p
		}
	}
}

// walk mends a schema and those in it.
func (r *reshaping) walk(v any) {
	s, ok := v.(map[string]any)
	if !ok {
		return
	}
	r.keywords(s)
	r.keys(s)
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"} {
		if m, ok := s[key].(map[string]any); ok {
			for _, name := range slices.Sorted(maps.Keys(m)) {
				r.walk(m[name])
			}
		}
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf", "prefixItems"} {
		if list, ok := s[key].([]any); ok {
			for _, e := range list {
				r.walk(e)
			}
		}
	}
	for _, key := range []string{"items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"} {
		r.walk(s[key])
	}
}

// keywords turns those of older drafts into today's, and drops what is none.
func (r *reshaping) keywords(s map[string]any) {
	if list, ok := s["items"].([]any); ok {
		r.set(s, "prefixItems", list)
		r.drop(s, "items")
		if rest, there := s["additionalItems"]; there {
			r.set(s, "items", rest)
			r.drop(s, "additionalItems")
		}
	}
	for exclusive, limit := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
		if is, ok := s[exclusive].(bool); ok {
			r.drop(s, exclusive)
			if n, there := s[limit]; is && there {
				r.set(s, exclusive, n)
				r.drop(s, limit)
			}
		}
	}
	if t, there := s["type"]; there && !legalType(t) {
		r.drop(s, "type")
	}
	if q, there := s["required"]; there {
		if list, ok := q.([]any); !ok || slices.ContainsFunc(list, func(e any) bool { _, ok := e.(string); return !ok }) {
			r.drop(s, "required")
		}
	}
	for _, key := range []string{"properties", "patternProperties", "$defs", "definitions"} {
		if v, there := s[key]; there {
			if _, ok := v.(map[string]any); !ok {
				r.drop(s, key)
			}
		}
	}
}

// keys drops properties whose names the service doesn't take.
func (r *reshaping) keys(s map[string]any) {
	properties, _ := s["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if legalKey().MatchString(name) {
			continue
		}
		r.drop(properties, name)
		r.lost = append(r.lost, fmt.Sprintf("There is also a property %q, which can't be described here.", name))
		if required, ok := s["required"].([]any); ok {
			s["required"] = slices.DeleteFunc(required, func(e any) bool { return e == name })
		}
	}
}

var legalKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`) })

func (r *reshaping) set(s map[string]any, key string, v any) { s[key], r.changed = v, true }

func (r *reshaping) drop(s map[string]any, key string) {
	delete(s, key)
	r.changed = true
}

func legalType(t any) bool {
	types := []any{"object", "array", "string", "number", "integer", "boolean", "null"}
	list, ok := t.([]any)
	if !ok {
		return slices.Contains(types, t)
	}
	return len(list) > 0 && !slices.ContainsFunc(list, func(e any) bool { return !slices.Contains(types, e) })
}

// Dropped names what the tools' schemas lose on the way to the service, one line
// each as "tool: what". The model is told of it in words.
func Dropped(tools []message.ToolSpec) []string {
	var list []string
	for _, t := range tools {
		_, lost := inputSchema(t.Schema)
		for l := range strings.Lines(lost) {
			list = append(list, t.Name+": "+strings.TrimSpace(l))
		}
	}
	return list
}
