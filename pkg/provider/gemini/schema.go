package gemini

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// Dropped names what the tools' schemas lose on the way to the service, which
// knows only a part of JSON Schema (https://ai.google.dev/api/caching#Schema):
// one line each, as "tool: path.keyword". The model may then write arguments
// that the tool's own check refuses. Keywords that forbid nothing, and
// additionalProperties: false, which no model needs to be told, are not named.
func Dropped(tools []message.ToolSpec) []string {
	var list []string
	for _, t := range tools {
		_, lost := reshape(t.Schema)
		for _, l := range lost {
			list = append(list, t.Name+": "+l)
		}
	}
	return list
}

// reshape returns a tool's schema in the service's terms and what was lost:
// references are replaced by what they mean, unions are anyOf. nil stands for
// a tool without parameters.
func reshape(raw json.RawMessage) (parameters json.RawMessage, lost []string) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var root map[string]any
	if dec.Decode(&root) != nil || root == nil {
		return nil, nil
	}
	r := reshaper{root: root}
	s := r.schema(root, "")
	delete(s, "nullable")
	s["type"] = "object"
	if properties, _ := s["properties"].(map[string]any); len(properties) == 0 && s["anyOf"] == nil {
		return nil, r.lost
	}
	parameters, err := sse.Encode(s)
	if err != nil {
		return nil, r.lost // can't happen: it was JSON
	}
	return parameters, r.lost
}

type reshaper struct {
	root  map[string]any
	lost  []string
	refs  []string // being replaced right now, outermost first
	nodes int
}

// maxNodes bounds what references to references may blow up to.
const maxNodes = 2000

// lose notes that a keyword at a path is dropped.
func (r *reshaper) lose(path, keyword string) {
	if path != "" {
		keyword = path + "." + keyword
	}
	if !slices.Contains(r.lost, keyword) {
		r.lost = append(r.lost, keyword)
	}
}

// schema returns v in the service's terms. true, which allows anything, has
// none but {}.
func (r *reshaper) schema(v any, path string) map[string]any {
	in, _ := v.(map[string]any)
	if r.nodes++; r.nodes > maxNodes {
		r.lose("", "everything after the first 2000 schemas")
		return map[string]any{}
	}
	in, done := r.resolved(in, path)
	defer done()
	in = r.merged(in, path)
	out := map[string]any{}
	for _, key := range sorted(in) {
		r.keyword(out, in, key, path)
	}
	r.types(out, in["type"])
	r.unions(out, in, path)
	r.enum(out, in, path)
	r.tidy(out, path)
	return out
}

// keyword copies what both sides know, and notes what only we do.
func (r *reshaper) keyword(out, in map[string]any, key, path string) {
	switch v := in[key]; key {
	case "title", "description", "pattern":
		if s, ok := v.(string); ok {
			out[key] = s
		}
	case "minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties":
		if n, ok := v.(json.Number); ok {
			out[key] = n
		}
	case "nullable":
		out[key] = v == true
	case "default":
		out[key] = v
	case "format":
		r.format(out, in, path)
	case "properties":
		r.properties(out, v, path)
	case "items":
		r.items(out, v, path)
	case "prefixItems":
		r.lose(path, key)
	case "required":
		out[key] = v // tidied later
	case "additionalProperties":
		if _, isSchema := v.(map[string]any); isSchema {
			r.lose(path, key)
		}
	case "type", "enum", "const", "anyOf", "oneOf", "allOf", "$ref": // treated elsewhere
	case "$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "examples", "example",
		"deprecated", "readOnly", "writeOnly", "propertyOrdering", "additionalItems", "unevaluatedProperties": // forbid nothing
	default:
		if !strings.HasPrefix(key, "x-") {
			r.lose(path, key)
		}
	}
}

// format keeps the few that the service accepts; it refuses all others.
func (r *reshaper) format(out, in map[string]any, path string) {
	known := map[string][]string{
		"string": {"enum", "date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"},
	}
	kind, _ := in["type"].(string)
	format, _ := in["format"].(string)
	if slices.Contains(known[kind], format) {
		out["format"] = format
	} else {
		r.lose(path, "format")
	}
}

func (r *reshaper) properties(out map[string]any, v any, path string) {
	in, ok := v.(map[string]any)
	if !ok {
		return
	}
	properties := map[string]any{}
	for _, name := range sorted(in) {
		properties[name] = r.schema(in[name], join(path, name))
	}
	out["properties"] = properties
}

// items takes one schema for all; a list, one for each, has no counterpart.
func (r *reshaper) items(out map[string]any, v any, path string) {
	if _, list := v.([]any); list {
		r.lose(path, "items")
		return
	}
	out["items"] = r.schema(v, path+"[]")
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func sorted(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
