package anthropic

import (
	"maps"
	"slices"
	"strings"
)

// definition returns the name that a reference means, "" for others than to
// definitions.
func definition(ref any) string {
	s, _ := ref.(string)
	for _, prefix := range []string{"#/$defs/", "#/definitions/"} {
		if name, ok := strings.CutPrefix(s, prefix); ok {
			return name
		}
	}
	return ""
}

// recursive reports whether a definition leads back to itself.
func (n *narrowing) recursive() bool {
	done := map[string]bool{}
	var visit func(name string, above []string) bool
	visit = func(name string, above []string) bool {
		if slices.Contains(above, name) {
			return true
		}
		if done[name] {
			return false
		}
		done[name] = true
		return slices.ContainsFunc(references(n.defs[name]), func(next string) bool { return visit(next, append(above, name)) })
	}
	return slices.ContainsFunc(slices.Sorted(maps.Keys(n.defs)), func(name string) bool { return visit(name, nil) })
}

// references returns the definitions that v refers to.
func references(v any) []string {
	var names []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			names = append(names, references(e)...)
		}
	case map[string]any:
		if name := definition(v["$ref"]); name != "" {
			names = append(names, name)
		}
		for _, e := range v {
			names = append(names, references(e)...)
		}
	}
	return names
}
