package tool

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// explainer says in plain words why a value does not fit a schema. Whether it
// fits is the validator's to say; its words are those of its own types.
type explainer struct {
	surveyor
	steps int
}

// maxExplained bounds the work: a schema whose references multiply has been
// judged already.
const maxExplained = 100_000

// wrong returns the first thing that is wrong with v, and where: "" if it finds
// none.
func (x *explainer) wrong(schema, v any, at string) string {
	if x.steps++; x.steps > maxExplained {
		return ""
	}
	if schema == false {
		return placed(at) + "nothing may stand there"
	}
	s, ok := schema.(map[string]any)
	if !ok {
		return ""
	}
	if ref, ok := s["$ref"].(string); ok {
		if target, ok := x.find(ref); ok {
			if wrong := x.wrong(target, v, at); wrong != "" {
				return wrong
			}
		}
	}
	if wrong := plainly(s, v); wrong != "" {
		return placed(at) + wrong
	}
	for _, look := range []func(map[string]any, any, string) string{x.choices, x.object, x.list} {
		if wrong := look(s, v, at); wrong != "" {
			return wrong
		}
	}
	return ""
}

func placed(at string) string {
	if at == "" {
		return ""
	}
	return "at " + clip(at, 200) + ": "
}

// choices looks at the schemas that v as a whole is held against.
func (x *explainer) choices(s map[string]any, v any, at string) string {
	for _, each := range listAt(s, "allOf") {
		if wrong := x.wrong(each, v, at); wrong != "" {
			return wrong
		}
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		var all []string
		list := listAt(s, key)
		for _, each := range list {
			if wrong := x.wrong(each, v, at); wrong != "" {
				all = append(all, strings.TrimPrefix(wrong, placed(at)))
			}
		}
		switch {
		case list == nil:
		case len(all) == len(list):
			return placed(at) + fmt.Sprintf("%s fits none of the %d alternatives (%s)", shown(v), len(list), clip(strings.Join(all, "; "), 600))
		case key == "oneOf" && len(list)-len(all) > 1:
			return placed(at) + shown(v) + " fits more than one alternative, and only one may fit"
		}
	}
	if not, ok := s["not"]; ok && x.wrong(not, v, at) == "" {
		return placed(at) + shown(v) + " is what must not stand there"
	}
	return ""
}

func (x *explainer) object(s map[string]any, v any, at string) string {
	object, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, name := range listAt(s, "required") {
		if name, ok := name.(string); ok && !has(object, name) {
			return placed(at) + fmt.Sprintf("%q is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, schema := range schemasOf(s, name) {
			if schema == false {
				return placed(at) + fmt.Sprintf("%q is not known", clip(name, 80))
			}
			if wrong := x.wrong(schema, object[name], at+"/"+escapePointer(name)); wrong != "" {
				return wrong
			}
		}
	}
	return ""
}

func has(object map[string]any, name string) bool { _, ok := object[name]; return ok }

// schemasOf returns the schemas of a property.
func schemasOf(s map[string]any, name string) (schemas []any) {
	if properties, _ := s["properties"].(map[string]any); has(properties, name) {
		schemas = append(schemas, properties[name])
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, p := range slices.Sorted(maps.Keys(patterns)) {
		if re, err := regexp.Compile(p); err == nil && re.MatchString(name) {
			schemas = append(schemas, patterns[p])
		}
	}
	if other, ok := s["additionalProperties"]; ok && schemas == nil {
		schemas = append(schemas, other)
	}
	return schemas
}

func (x *explainer) list(s map[string]any, v any, at string) string {
	list, ok := v.([]any)
	if !ok {
		return ""
	}
	first, rest := listAt(s, "prefixItems"), s["items"]
	if first == nil {
		if first = listAt(s, "items"); first != nil { // draft-07
			rest = s["additionalItems"]
		}
	}
	for i, item := range list {
		schema := rest
		if i < len(first) {
			schema = first[i]
		}
		if wrong := x.wrong(schema, item, fmt.Sprintf("%s/%d", at, i)); wrong != "" {
			return wrong
		}
	}
	return ""
}

func listAt(s map[string]any, key string) []any {
	list, _ := s[key].([]any)
	return list
}

// plainly looks at what a schema says of a value itself.
func plainly(s map[string]any, v any) string {
	if want := s["type"]; want != nil && !isOf(want, v) {
		list, ok := want.([]any)
		if !ok {
			list = []any{want}
		}
		return fmt.Sprintf("%s is %s where the schema wants %s", shown(v), nameOf(v), shownAll(list, " or "))
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		return shown(v) + " is none of " + clip(shownAll(list, ", "), 400)
	}
	if want, ok := s["const"]; ok && !reflect.DeepEqual(want, v) {
		return shown(v) + " is not " + shown(want)
	}
	switch v := v.(type) {
	case float64:
		return number(s, v)
	case string:
		if p, ok := s["pattern"].(string); ok {
			if re, err := regexp.Compile(p); err == nil && !re.MatchString(v) {
				return shown(v) + " does not match the pattern " + shown(p)
			}
		}
		return size(s, utf8.RuneCountInString(v), "Length", "characters")
	case []any:
		return size(s, len(v), "Items", "items")
	case map[string]any:
		return size(s, len(v), "Properties", "names")
	}
	return ""
}

func number(s map[string]any, v float64) string {
	for _, limit := range []struct {
		key, says string
		bad       func(n float64) bool
	}{
		{"minimum", "less than", func(n float64) bool { return v < n }},
		{"maximum", "more than", func(n float64) bool { return v > n }},
		{"exclusiveMinimum", "not more than", func(n float64) bool { return v <= n }},
		{"exclusiveMaximum", "not less than", func(n float64) bool { return v >= n }},
	} {
		if n, ok := s[limit.key].(float64); ok && limit.bad(n) {
			return fmt.Sprintf("%s is %s %s", shown(v), limit.says, shown(n))
		}
	}
	if n, ok := s["multipleOf"].(float64); ok && n > 0 && v/n != float64(int64(v/n)) {
		return fmt.Sprintf("%s is no multiple of %s", shown(v), shown(n))
	}
	return ""
}

func size(s map[string]any, n int, key, what string) string {
	if least, ok := s["min"+key].(float64); ok && float64(n) < least {
		return fmt.Sprintf("it has %d %s, at least %s are wanted", n, what, shown(least))
	}
	if most, ok := s["max"+key].(float64); ok && float64(n) > most {
		return fmt.Sprintf("it has %d %s, at most %s are allowed", n, what, shown(most))
	}
	return ""
}

// isOf reports whether v is of a type, or of one of a list of them.
func isOf(want, v any) bool {
	if list, ok := want.([]any); ok {
		return slices.ContainsFunc(list, func(t any) bool { return isOf(t, v) })
	}
	switch v := v.(type) {
	case nil:
		return want == "null"
	case bool:
		return want == "boolean"
	case string:
		return want == "string"
	case []any:
		return want == "array"
	case map[string]any:
		return want == "object"
	case float64:
		return want == "number" || want == "integer" && v == float64(int64(v))
	}
	return false
}

func shownAll(list []any, with string) string {
	var all []string
	for _, v := range list {
		all = append(all, shown(v))
	}
	return strings.Join(all, with)
}
