package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"kagent/pkg/provider/sse"
)

// What a schema may hold at most; beyond, the service refuses the request.
const (
	maxOptional = 24
	maxUnions   = 16
)

// outputSchema returns the schema of an answer in the subset that the service
// can hold a model to
// (https://platform.claude.com/docs/en/build-with-claude/structured-outputs).
// Limits of numbers and lengths become words in the description, as in the
// service's own libraries: whoever asked checks the answer anyway. ok is false
// if the schema means more than the subset can say, free-form objects and
// recursion: then the answer has to do without.
func outputSchema(raw json.RawMessage) (schema json.RawMessage, ok bool) {
	s, ok := parseSchema(raw)
	if !ok {
		return nil, false
	}
	n := &narrowing{defs: map[string]any{}}
	for _, key := range []string{"$defs", "definitions"} {
		if m, ok := s[key].(map[string]any); ok {
			maps.Copy(n.defs, m)
		}
	}
	narrow := n.schema(s)
	if defs := n.definitions(); len(defs) > 0 {
		narrow["$defs"] = defs
	}
	if n.failed || n.optional > maxOptional || n.unions > maxUnions || n.recursive() {
		return nil, false
	}
	out, err := sse.Encode(narrow)
	return clean(out), err == nil
}

type narrowing struct {
	defs     map[string]any
	failed   bool
	optional int
	unions   int
}

func (n *narrowing) definitions() map[string]any {
	out := map[string]any{}
	for name, d := range n.defs {
		out[name] = n.any(d)
	}
	return out
}

func (n *narrowing) any(v any) map[string]any {
	s, ok := v.(map[string]any)
	if !ok { // true or false
		n.failed = true
		return nil
	}
	return n.schema(s)
}

func (n *narrowing) list(v any) []any {
	var out []any
	list, _ := v.([]any)
	for _, e := range list {
		out = append(out, n.any(e))
	}
	n.failed = n.failed || len(out) == 0
	return out
}

// schema narrows one schema. Keys that it doesn't know go to the description.
func (n *narrowing) schema(s map[string]any) map[string]any {
	out, words := map[string]any{}, map[string]any{}
	for key, v := range s {
		switch key {
		case "type", "enum", "const", "default", "title", "description", "required":
			out[key] = v
		case "$ref":
			n.ref(out, v)
		case "anyOf", "oneOf":
			out["anyOf"] = n.list(v)
			n.unions++
		case "allOf":
			out[key] = n.list(v)
		case "items":
			out[key] = n.any(v)
		case "format":
			n.either(out, words, key, v, slices.Contains(formats(), v))
		case "minItems":
			n.either(out, words, key, v, v == json.Number("0") || v == json.Number("1"))
		case "properties", "additionalProperties", "$defs", "definitions", "$schema", "$id", "$comment", "examples":
		default:
			words[key] = v
		}
	}
	if _, list := s["type"].([]any); list {
		n.unions++
	}
	n.object(out, s)
	n.failed = n.failed || len(out) == 0 // anything at all
	describe(out, words)
	return out
}

// object closes an object: it has the properties that are named, no others.
func (n *narrowing) object(out, s map[string]any) {
	properties, has := s["properties"].(map[string]any)
	if !has && s["type"] != "object" {
		return
	}
	if extra, there := s["additionalProperties"]; len(properties) == 0 || there && extra != false {
		n.failed = true
	}
	required, _ := s["required"].([]any)
	narrow := map[string]any{}
	for name, p := range properties {
		narrow[name] = n.any(p)
		if !slices.Contains(required, any(name)) {
			n.optional++
		}
	}
	out["properties"], out["additionalProperties"] = narrow, false
}

func (n *narrowing) ref(out map[string]any, v any) {
	name := definition(v)
	if _, ok := n.defs[name]; !ok {
		n.failed = true
	}
	out["$ref"] = "#/$defs/" + name
}

func (n *narrowing) either(out, words map[string]any, key string, v any, known bool) {
	if known {
		out[key] = v
	} else {
		words[key] = v
	}
}

func formats() []any {
	return []any{"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
}

func describe(out, words map[string]any) {
	if len(words) == 0 {
		return
	}
	rule, err := sse.Encode(words)
	if err != nil {
		return
	}
	said, _ := out["description"].(string)
	out["description"] = strings.TrimSpace(said + "\n\nHas to fit: " + string(rule))
}
