package tool

import "fmt"

func (x *explainer) list(s map[string]any, v any, at string) string {
	list, ok := v.([]any)
	if !ok {
		return ""
	}
	first, rest := x.itemsOf(s)
	for i, item := range list {
		schema := rest
		if i < len(first) {
			schema = first[i]
		}
		if wrong := x.wrong(schema, item, itemAt(at, i)); wrong != "" {
			return wrong
		}
	}
	for _, look := range []func(map[string]any, []any, string) string{x.contains, x.unique, x.unevaluatedItems} {
		if wrong := look(s, list, at); wrong != "" {
			return wrong
		}
	}
	return ""
}

func itemAt(at string, i int) string { return fmt.Sprintf("%s/%d", at, i) }

// itemsOf returns the schemas of the first items, and that of the rest.
func (x *explainer) itemsOf(s map[string]any) (first []any, rest any) {
	if !x.draft7 {
		return listAt(s, "prefixItems"), s["items"]
	}
	if first = listAt(s, "items"); first != nil {
		return first, s["additionalItems"]
	}
	return nil, s["items"]
}

func (x *explainer) contains(s map[string]any, list []any, at string) string {
	schema, ok := s["contains"]
	if !ok {
		return ""
	}
	n := 0
	for _, item := range list {
		if x.fits(schema, item) {
			n++
		}
	}
	least, most := 1, len(list)
	if m, ok := wholeOf(s["minContains"]); ok {
		least = m
	}
	if m, ok := wholeOf(s["maxContains"]); ok {
		most = m
	}
	switch {
	case n < least:
		return x.say(at, "%d of the %d items fit %s, at least %d have to", n, len(list), lazy{schema}, least)
	case n > most:
		return x.say(at, "%d of the %d items fit %s, at most %d may", n, len(list), lazy{schema}, most)
	}
	return ""
}

func (x *explainer) unique(s map[string]any, list []any, at string) string {
	if s["uniqueItems"] != true {
		return ""
	}
	seen := map[string]int{}
	for i, item := range list {
		text := canonical(item)
		if before, again := seen[text]; again {
			return x.say(at, "the items are not all different: those at /%d and /%d are both %s", before, i, lazy{item})
		}
		seen[text] = i
	}
	return ""
}

func (x *explainer) unevaluatedItems(s map[string]any, list []any, at string) string {
	schema, ok := s["unevaluatedItems"]
	if !ok {
		return ""
	}
	seen := make([]bool, len(list))
	note := func(inner map[string]any) {
		first, rest := x.itemsOf(inner)
		test, tests := inner["contains"]
		for i, item := range list {
			seen[i] = seen[i] || i < len(first) || rest != nil || tests && x.fits(test, item)
		}
	}
	note(s)
	x.evaluated(s, list, func(inner map[string]any) {
		note(inner)
		for i := range seen {
			seen[i] = seen[i] || has(inner, "unevaluatedItems")
		}
	})
	for i, item := range list {
		if seen[i] {
			continue
		}
		if schema == false {
			return x.say(at, "there may be no item at /%d", i)
		}
		if wrong := x.wrong(schema, item, itemAt(at, i)); wrong != "" {
			return wrong
		}
	}
	return ""
}

// evaluated goes through the schemas below s that a value as a whole fits.
func (x *explainer) evaluated(s map[string]any, v any, note func(map[string]any)) {
	enter := func(schema any) {
		if inner, ok := schema.(map[string]any); ok && x.fits(inner, v) && !x.spent() {
			note(inner)
			x.evaluated(inner, v, note)
		}
	}
	if ref, ok := s["$ref"].(string); ok {
		target, _ := x.find(ref)
		enter(target)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		for _, each := range listAt(s, key) {
			enter(each)
		}
	}
	if test, ok := s["if"]; ok {
		if enter(test); x.fits(test, v) {
			enter(s["then"])
		} else {
			enter(s["else"])
		}
	}
	object, _ := v.(map[string]any)
	rules, _ := s["dependentSchemas"].(map[string]any)
	for name, schema := range rules {
		if has(object, name) {
			enter(schema)
		}
	}
}
