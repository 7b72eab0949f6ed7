package tool

import (
	"fmt"
	"maps"
	"slices"
)

func (x *explainer) object(s map[string]any, v any, at string) string {
	object, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, name := range listAt(s, "required") {
		if name, ok := name.(string); ok && !has(object, name) {
			return x.say(at, "%q is missing", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		for _, schema := range x.schemasOf(s, name) {
			if wrong := x.property(schema, object, name, at); wrong != "" {
				return wrong
			}
		}
	}
	for _, look := range []func(map[string]any, map[string]any, string) string{x.names, x.dependent, x.unevaluatedNames} {
		if wrong := look(s, object, at); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (x *explainer) property(schema any, object map[string]any, name, at string) string {
	if schema == false {
		return x.say(at, "%q is not known", clip(name, 80))
	}
	return x.wrong(schema, object[name], at+"/"+escapePointer(name))
}

func has(object map[string]any, name string) bool { _, ok := object[name]; return ok }

// schemasOf returns the schemas of a property.
func (x *explainer) schemasOf(s map[string]any, name string) (schemas []any) {
	if properties, _ := s["properties"].(map[string]any); has(properties, name) {
		schemas = append(schemas, properties[name])
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for _, p := range slices.Sorted(maps.Keys(patterns)) {
		if x.matches(p, name) {
			schemas = append(schemas, patterns[p])
		}
	}
	if other, ok := s["additionalProperties"]; ok && schemas == nil {
		schemas = append(schemas, other)
	}
	return schemas
}

func (x *explainer) names(s, object map[string]any, at string) string {
	schema, ok := s["propertyNames"]
	if !ok {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if schema == false {
			return x.say(at, "%q is not known", clip(name, 80))
		}
		if wrong := x.wrong(schema, name, ""); wrong != "" {
			return x.say(at, "%q is no name that it may have: %s", clip(name, 80), wrong)
		}
	}
	return ""
}

// dependent looks at what has to be where something else is. Its keywords have
// other names in draft-07.
func (x *explainer) dependent(s, object map[string]any, at string) string {
	keys := []string{"dependentRequired", "dependentSchemas"}
	if x.draft7 {
		keys = []string{"dependencies"}
	}
	for _, key := range keys {
		rules, _ := s[key].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(rules)) {
			if !has(object, name) {
				continue
			}
			for _, other := range listAt(rules, name) {
				if other, ok := other.(string); ok && !has(object, other) {
					return x.say(at, "where %q is there, %q has to be too", clip(name, 80), clip(other, 80))
				}
			}
			if wrong := x.wrong(rules[name], object, at); wrong != "" {
				return wrong + fmt.Sprintf(" (it has to be so where %q is there)", clip(name, 80))
			}
		}
	}
	return ""
}

func (x *explainer) unevaluatedNames(s, object map[string]any, at string) string {
	schema, ok := s["unevaluatedProperties"]
	if !ok {
		return ""
	}
	seen := map[string]bool{}
	x.evaluated(s, object, func(inner map[string]any) {
		for name := range object {
			if len(x.schemasOf(inner, name)) > 0 || has(inner, "unevaluatedProperties") {
				seen[name] = true
			}
		}
	})
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if seen[name] || len(x.schemasOf(s, name)) > 0 {
			continue
		}
		if wrong := x.property(schema, object, name, at); wrong != "" {
			return wrong
		}
	}
	return ""
}
