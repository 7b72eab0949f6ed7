package tool

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// anyValue draws a value whose numbers a float64 holds to the last digit.
func anyValue(t *rapid.T, deep int) any {
	most := 6
	if deep == 0 {
		most = 4
	}
	switch rapid.IntRange(0, most).Draw(t, "value") {
	case 0:
		return nil
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2, 3:
		return float64(rapid.IntRange(-4, 8).Draw(t, "number")) / 2
	case 4:
		return rapid.SampledFrom([]string{"", "a", "b", "ab"}).Draw(t, "text")
	case 5:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range list {
			list[i] = anyValue(t, deep-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "names") {
		object[rapid.SampledFrom([]string{"a", "b", "ab"}).Draw(t, "name")] = anyValue(t, deep-1)
	}
	return object
}

func anySchema(t *rapid.T, deep int) any {
	if deep == 0 || rapid.IntRange(0, 9).Draw(t, "bool") == 0 {
		return rapid.SampledFrom([]any{true, false, map[string]any{"type": "number"}, map[string]any{"type": "integer"}, map[string]any{"type": []any{"string", "object"}}, map[string]any{"minimum": 1}}).Draw(t, "leaf")
	}
	s := map[string]any{}
	for range rapid.IntRange(1, 4).Draw(t, "keywords") {
		key := rapid.SampledFrom([]string{
			"allOf", "anyOf", "oneOf", "prefixItems", "not", "if", "then", "else", "contains", "items", "additionalProperties",
			"propertyNames", "unevaluatedProperties", "unevaluatedItems", "properties", "patternProperties", "dependentSchemas", "dependentRequired",
			"required", "enum", "const", "minimum", "exclusiveMaximum", "multipleOf", "minLength", "maxItems", "minProperties", "minContains",
			"maxContains", "uniqueItems", "pattern", "type", "$ref",
		}).Draw(t, "key")
		s[key] = anyKeyword(t, key, deep-1)
	}
	return s
}

func anyKeyword(t *rapid.T, key string, deep int) any {
	switch key {
	case "allOf", "anyOf", "oneOf", "prefixItems":
		return []any{anySchema(t, deep), anySchema(t, deep)}
	case "properties", "dependentSchemas":
		return map[string]any{"a": anySchema(t, deep), "b": anySchema(t, deep)}
	case "patternProperties":
		return map[string]any{"^a": anySchema(t, deep)}
	case "dependentRequired":
		return map[string]any{"a": []any{"b"}}
	case "required":
		return []any{"a"}
	case "enum":
		return []any{anyValue(t, 1), anyValue(t, 2)}
	case "const":
		return anyValue(t, 2)
	case "minimum", "exclusiveMaximum":
		return rapid.SampledFrom([]float64{0, 1, 1.5}).Draw(t, "limit")
	case "multipleOf":
		return 0.5
	case "minLength", "maxItems", "minProperties", "minContains", "maxContains":
		return rapid.IntRange(0, 2).Draw(t, "count")
	case "uniqueItems":
		return true
	case "pattern":
		return "a"
	case "type":
		return rapid.SampledFrom([]any{"integer", "object", "array", []any{"number", "null"}}).Draw(t, "type")
	case "$ref":
		return "#/$defs/d"
	}
	return anySchema(t, deep)
}

// Where numbers make no difference, the explainer finds a fault where the validator
// does, and nowhere else.
func TestTheExplainerAgreesWithTheValidator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema, _ := anySchema(t, 3).(map[string]any)
		if schema == nil {
			schema = map[string]any{}
		}
		schema["$defs"] = map[string]any{"d": map[string]any{"minimum": 1, "properties": map[string]any{"ab": true}}}
		if rapid.Bool().Draw(t, "draft-07") {
			schema["$schema"] = "http://json-schema.org/draft-07/schema#"
			schema["dependencies"] = map[string]any{"a": []any{"b"}, "b": map[string]any{"required": []any{"ab"}}}
		}
		raw, _ := json.Marshal(schema)
		s, err := NewSchema(raw)
		if err != nil {
			t.Skip(err)
		}
		value, _ := json.Marshal(anyValue(t, 3))
		var rounded any
		_ = json.Unmarshal(value, &rounded)
		v, _ := exactly(value)
		fits := s.c.resolved.Validate(rounded) == nil
		if wrong := s.judge(v); (wrong == "") != fits {
			t.Fatalf("%s\n%s\nvalidator: %v, explainer: %q", raw, value, fits, wrong)
		}
	})
}
