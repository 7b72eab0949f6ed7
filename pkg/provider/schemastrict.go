package provider

import (
	"encoding/json"
	"slices"
	"strings"
)

// maxDepth is how deep a schema may be nested for OpenAI to enforce it.
const maxDepth = 10

// OutputSchema returns the schema of an answer as OpenAI accepts it. With
// strict the service can enforce it: every object is closed and every property
// required (https://platform.openai.com/docs/guides/structured-outputs). A
// schema is made so only where that doesn't change what fits it: an open object
// that names its properties is closed, an optional property that may be null
// becomes required, annotations go. Others are returned as they are, as advice
// to the model. ok is false for what the service takes in no way: the answer
// has to be an object.
func OutputSchema(schema json.RawMessage) (reshaped json.RawMessage, strict, ok bool) {
	root, ok := parseObject(schema)
	if !ok || string(root.get("type")) != `"object"` {
		return nil, false, false
	}
	if root.get("anyOf") != nil || root.get("$ref") != nil {
		return schema, false, true
	}
	root.remove("$schema")
	root.remove("$id")
	closed, strict := closed(root.raw(), 1)
	if !strict {
		return schema, false, true
	}
	return closed, true, true
}

// closed returns a schema in the form that is enforced; ok is false if it
// would not mean the same.
func closed(schema json.RawMessage, depth int) (reshaped json.RawMessage, ok bool) {
	o, ok := parseObject(schema)
	if !ok || depth > maxDepth {
		return nil, false
	}
	for _, f := range slices.Clone(o) {
		switch {
		case annotation(f.name):
			o.remove(f.name)
		case !enforced(f):
			return nil, false
		}
	}
	if !o.typed() || !o.closeObject() {
		return nil, false
	}
	ok = true
	o.subschemas(func(path string, s json.RawMessage) json.RawMessage {
		if path == "additionalProperties" {
			return s // false, see closeObject
		}
		s, fits := closed(s, depth+1)
		ok = ok && fits
		return s
	})
	return o.raw(), ok
}

// annotation reports whether a keyword forbids nothing and isn't accepted.
func annotation(keyword string) bool {
	switch keyword {
	case "default", "examples", "example", "$comment", "deprecated", "readOnly", "writeOnly":
		return true
	}
	return strings.HasPrefix(keyword, "x-")
}

// enforced reports whether the service enforces a keyword with that value.
func enforced(f field) bool {
	switch f.name {
	case "type", "properties", "required", "additionalProperties", "enum", "const", "anyOf",
		"$ref", "$defs", "definitions", "title", "description",
		"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
		return true
	case "items":
		return f.value[0] == '{'
	case "pattern":
		return !strings.Contains(string(f.value), "(?")
	case "format":
		known := []string{"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
		return slices.ContainsFunc(texts(f.value), func(s string) bool { return slices.Contains(known, s) })
	}
	return false
}

// typed makes sure that a schema says what type it is of, as it has to.
func (o *object) typed() bool {
	switch {
	case o.get("$ref") != nil:
		return len(*o) == 1 // nothing may stand beside it
	case o.get("type") != nil:
		return o.get("items") != nil || !slices.Contains(texts(o.get("type")), "array")
	case o.get("anyOf") != nil:
		return true
	}
	var choice []string
	var only string
	if json.Unmarshal(o.get("enum"), &choice) != nil && json.Unmarshal(o.get("const"), &only) != nil {
		return false
	}
	o.set("type", `"string"`)
	return true
}

// closeObject forbids further properties and requires all that there are.
func (o *object) closeObject() bool {
	kinds := texts(o.get("type"))
	if !slices.Contains(kinds, "object") {
		return o.get("properties") == nil && o.get("additionalProperties") == nil
	}
	properties, ok := parseObject(o.get("properties"))
	switch more := string(o.get("additionalProperties")); {
	case !ok || more != "" && more != "false":
		return false
	case more == "" && len(properties) == 0: // any object at all
		return false
	}
	required := texts(o.get("required"))
	for _, p := range properties {
		if !slices.Contains(required, p.name) {
			if !nullable(p.value) {
				return false
			}
			required = append(required, p.name)
		}
	}
	if len(required) != len(properties) {
		return false
	}
	if required == nil {
		required = []string{}
	}
	o.set("required", string(encoded(required)))
	o.set("additionalProperties", "false")
	return true
}

// nullable reports whether null fits a schema, as far as that is plain to see.
func nullable(schema json.RawMessage) bool {
	o, _ := parseObject(schema)
	if o.get("enum") != nil || o.get("const") != nil {
		return false
	}
	if slices.Contains(texts(o.get("type")), "null") {
		return true
	}
	var alternatives []json.RawMessage
	json.Unmarshal(o.get("anyOf"), &alternatives)
	return o.get("type") == nil && slices.ContainsFunc(alternatives, nullable)
}
