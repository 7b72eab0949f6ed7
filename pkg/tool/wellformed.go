package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
)

// wellFormed says in one line what is wrong with a schema that a person wrote,
// where (a JSON pointer) and what belongs there. A validator finds some of it only
// with the first value, some never: a type that doesn't exist, a keyword of
// another draft.
func wellFormed(raw json.RawMessage) error {
	var root any
	if err := json.Unmarshal(raw, &root); err != nil {
		return err
	}
	object, ok := root.(map[string]any)
	if !ok {
		return fmt.Errorf("a schema is an object, not %s", nameOf(root))
	}
	if dialect := object["$schema"]; !known(dialect) {
		return fmt.Errorf("/$schema: %s is not supported; write it for draft 2020-12 or draft-07", shown(dialect))
	}
	return wellFormedAt("", object, &surveyor{root: root})
}

// known reports whether the validator speaks a dialect.
func known(dialect any) bool {
	s, ok := dialect.(string)
	return dialect == nil || ok && slices.Contains([]string{"json-schema.org/draft/2020-12/schema", "json-schema.org/draft-07/schema"}, plainDialect(s))
}

// plainDialect drops what is written in two ways.
func plainDialect(s string) string {
	_, after, _ := strings.Cut(s, "://")
	return strings.TrimSuffix(after, "#")
}

func wellFormedAt(at string, schema any, w *surveyor) error {
	if _, ok := schema.(bool); ok && at != "" {
		return nil
	}
	object, ok := schema.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: %s is no schema; an object belongs there", at, shown(schema))
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if err := keyword(at+"/"+escapePointer(key), key, object[key], w); err != nil {
			return err
		}
	}
	return nil
}

// keyword checks one keyword of a schema and the schemas below it.
func keyword(at, key string, v any, w *surveyor) error {
	switch key {
	case "items":
		if list, ok := v.([]any); ok { // draft-07
			return eachWellFormed(at, list, w)
		}
	case "allOf", "anyOf", "oneOf", "prefixItems":
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return misplaced(at, v, "a list of schemas belongs")
		}
		return eachWellFormed(at, list, w)
	case "dependencies": // draft-07, of names too
		return nil
	case "$ref":
		ref, ok := v.(string)
		if !ok {
			return misplaced(at, v, "text belongs")
		}
		if _, ok := w.find(ref); !ok {
			return fmt.Errorf("%s: %s names no place in this schema, of the form #/…; other documents are not fetched", at, shown(ref))
		}
		return nil
	}
	switch h, _ := keywordHolds(key); h {
	case someSchema:
		return wellFormedAt(at, v, w)
	case namedSchemas, keptSchemas:
		return namedWellFormed(at, key, v, w)
	}
	if wrong := simple(key, v); wrong != "" {
		return fmt.Errorf("%s: %s", at, wrong)
	}
	return nil
}

func misplaced(at string, v any, belongs string) error {
	return fmt.Errorf("%s: %s there, not %s", at, belongs, shown(v))
}

func eachWellFormed(at string, list []any, w *surveyor) error {
	for i, s := range list {
		if err := wellFormedAt(fmt.Sprintf("%s/%d", at, i), s, w); err != nil {
			return err
		}
	}
	return nil
}

func namedWellFormed(at, key string, v any, w *surveyor) error {
	object, ok := v.(map[string]any)
	if !ok {
		return misplaced(at, v, "an object of schemas belongs")
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		below := at + "/" + escapePointer(name)
		if key == "patternProperties" {
			if wrong := pattern(name); wrong != "" {
				return fmt.Errorf("%s: %s", below, wrong)
			}
		}
		if err := wellFormedAt(below, object[name], w); err != nil {
			return err
		}
	}
	return nil
}

// simple says what is wrong with a keyword that holds no schemas.
func simple(key string, v any) string {
	switch key {
	case "type":
		return types(v)
	case "required":
		if !texts(v) {
			return "a list of names belongs there, not " + shown(v)
		}
	case "enum":
		if list, ok := v.([]any); !ok || len(list) == 0 {
			return "a list of values belongs there, not " + shown(v)
		}
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf":
		if n, ok := v.(float64); !ok || key == "multipleOf" && n <= 0 {
			return "a number belongs there, not " + shown(v)
		}
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains":
		if n, ok := v.(float64); !ok || n < 0 || n != math.Trunc(n) {
			return "a whole number from 0 on belongs there, not " + shown(v)
		}
	case "uniqueItems":
		if _, ok := v.(bool); !ok {
			return "true or false belongs there, not " + shown(v)
		}
	case "pattern":
		s, ok := v.(string)
		if !ok {
			return "text belongs there, not " + shown(v)
		}
		return pattern(s)
	}
	return ""
}

func types(v any) string {
	names := []any{"string", "number", "integer", "boolean", "object", "array", "null"}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, name := range list {
		if _, text := name.(string); !text || !slices.Contains(names, name) {
			return shown(name) + " is no type; types are string, number, integer, boolean, object, array and null"
		}
	}
	if len(list) == 0 {
		return "a type belongs there, not an empty list"
	}
	return ""
}

func texts(v any) bool {
	list, ok := v.([]any)
	return ok && !slices.ContainsFunc(list, func(e any) bool { _, ok := e.(string); return !ok })
}

func pattern(s string) string {
	if _, err := regexp.Compile(s); err != nil {
		return shown(s) + " is no regular expression that can be used (RE2: no look-around, no back-references)"
	}
	return ""
}

// shown is a value as JSON, cut.
func shown(v any) string {
	raw, _ := json.Marshal(v) // was parsed
	return clip(string(raw), 80)
}

// nameOf names the type of a value.
func nameOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return cmp.Or(map[bool]string{true: "true"}[v], "false")
	case float64, json.Number:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
