package provider

import (
	"encoding/json"
	"slices"

	"kagent/pkg/message"
)

// DroppedFromTools names what ToolSchema drops from the tools' schemas, one line
// each as "tool: path.keyword".
func DroppedFromTools(tools []message.ToolSpec) []string {
	var list []string
	for _, t := range tools {
		_, lost := ToolSchema(t.Schema)
		for _, l := range lost {
			list = append(list, t.Name+": "+l)
		}
	}
	return list
}

// ToolSchema returns a tool's schema as OpenAI accepts it, and so do the many
// services that speak like it: of type object, with properties, without a
// choice at the top, every array with items. lost names what was dropped, as
// "path.keyword"; the tool itself still checks it. A schema that needs no
// change is returned as it is.
func ToolSchema(schema json.RawMessage) (reshaped json.RawMessage, lost []string) {
	o, ok := parseObject(schema)
	if !ok {
		if len(schema) > 0 {
			lost = []string{"everything: it is no JSON object"}
		}
		return json.RawMessage(`{"type":"object","properties":{}}`), lost
	}
	changed := false
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "enum", "not"} {
		if o.get(keyword) != nil {
			o.remove(keyword)
			lost, changed = append(lost, keyword), true
		}
	}
	if string(o.get("type")) != `"object"` {
		o.set("type", `"object"`)
		changed = true
	}
	if _, ok := parseObject(o.get("properties")); !ok {
		o.set("properties", "{}")
		changed = true
	}
	o.subschemas(func(_ string, s json.RawMessage) json.RawMessage { return withItems(s, 2, &changed) })
	if !changed {
		return schema, nil
	}
	return o.raw(), lost
}

// deepest is how deep in a schema is looked for what has to be mended: the
// work grows with the square of the depth, and tools come from anywhere.
const deepest = 32

// withItems gives every array items, where it says nothing about them.
func withItems(schema json.RawMessage, depth int, changed *bool) json.RawMessage {
	o, ok := parseObject(schema)
	if !ok || depth > deepest {
		return schema
	}
	before := *changed
	*changed = false
	if slices.Contains(texts(o.get("type")), "array") && o.get("items") == nil {
		o.set("items", "{}")
		*changed = true
	}
	o.subschemas(func(_ string, s json.RawMessage) json.RawMessage { return withItems(s, depth+1, changed) })
	if *changed {
		schema = o.raw()
	}
	*changed = *changed || before
	return schema
}
