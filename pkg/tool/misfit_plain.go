package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// plainly looks at what a schema says of a value itself.
func (x *explainer) plainly(s map[string]any, v any, at string) string {
	if want := s["type"]; want != nil && !isOf(want, v) {
		list, ok := want.([]any)
		if !ok {
			list = []any{want}
		}
		return x.say(at, "%s is %s where the schema wants %s", lazy{v}, nameOf(v), shownAll(list, " or "))
	}
	if list, ok := s["enum"].([]any); ok && !slices.ContainsFunc(list, func(e any) bool { return same(e, v) }) {
		return x.say(at, "%s is none of %s", lazy{v}, clip(shownAll(list, ", "), 400))
	}
	if want, ok := s["const"]; ok && !same(want, v) {
		return x.say(at, "%s is not %s", lazy{v}, lazy{want})
	}
	switch v := v.(type) {
	case json.Number:
		return x.number(s, v, at)
	case string:
		if p, ok := s["pattern"].(string); ok && !x.matches(p, v) {
			return x.say(at, "%s does not match the pattern %s", lazy{v}, lazy{p})
		}
		return x.size(s, utf8.RuneCountInString(v), "Length", "characters", at)
	case []any:
		return x.size(s, len(v), "Items", "items", at)
	case map[string]any:
		return x.size(s, len(v), "Properties", "names", at)
	}
	return ""
}

func (x *explainer) number(s map[string]any, v json.Number, at string) string {
	for _, limit := range []struct {
		key, says string
		bad       func(order int) bool
	}{
		{"minimum", "less than", func(order int) bool { return order < 0 }},
		{"maximum", "more than", func(order int) bool { return order > 0 }},
		{"exclusiveMinimum", "not more than", func(order int) bool { return order <= 0 }},
		{"exclusiveMaximum", "not less than", func(order int) bool { return order >= 0 }},
	} {
		if n, ok := s[limit.key].(json.Number); ok && limit.bad(exact(v).Cmp(exact(n))) {
			return x.say(at, "%s is %s %s", lazy{v}, limit.says, lazy{n})
		}
	}
	if n, ok := s["multipleOf"].(json.Number); ok && !multiple(v, n) {
		return x.say(at, "%s is no multiple of %s", lazy{v}, lazy{n})
	}
	return ""
}

func (x *explainer) size(s map[string]any, n int, key, what, at string) string {
	if least, ok := wholeOf(s["min"+key]); ok && n < least {
		return x.say(at, "it has %d %s, at least %d are wanted", n, what, least)
	}
	if most, ok := wholeOf(s["max"+key]); ok && n > most {
		return x.say(at, "it has %d %s, at most %d are allowed", n, what, most)
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
	case json.Number:
		return want == "number" || want == "integer" && exact(v).IsInt()
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
