package gemini

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// resolved replaces a reference by what it means, with what stands beside it
// on top. done is to be called when the schema has been worked off: a
// reference to a schema that is being worked on would go on for ever.
func (r *reshaper) resolved(in map[string]any, path string) (out map[string]any, done func()) {
	depth := len(r.refs)
	done = func() { r.refs = r.refs[:depth] }
	for {
		ref, ok := in["$ref"].(string)
		if !ok {
			return in, done
		}
		target, found := r.target(ref)
		if !found || slices.Contains(r.refs, ref) {
			r.lose(path, "$ref")
			out = maps.Clone(in)
			delete(out, "$ref")
			return out, done
		}
		r.refs = append(r.refs, ref)
		out = maps.Clone(target)
		for k, v := range in {
			if k != "$ref" {
				out[k] = v
			}
		}
		in = out
	}
}

// target finds what a reference inside of the schema leads to.
func (r *reshaper) target(ref string) (map[string]any, bool) {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	v := any(r.root)
	for _, step := range strings.Split(pointer, "/")[1:] {
		m, _ := v.(map[string]any)
		v = m[strings.NewReplacer("~1", "/", "~0", "~").Replace(step)]
	}
	m, ok := v.(map[string]any)
	return m, ok && (pointer == "" || pointer[0] == '/')
}

// merged takes in what allOf demands as well. Where two say different things
// the first one counts, which is not quite what allOf means.
func (r *reshaper) merged(in map[string]any, path string) map[string]any {
	all := listOf(in["allOf"])
	if all == nil {
		return in
	}
	out := maps.Clone(in)
	delete(out, "allOf")
	for _, v := range all {
		more, _ := v.(map[string]any)
		more, _ = r.resolved(more, path)
		for k, v := range r.merged(more, path) {
			out[k] = both(k, out[k], v)
		}
	}
	return out
}

// both joins what two schemas say under a keyword.
func both(keyword string, a, b any) any {
	switch keyword {
	case "properties":
		m, ok := a.(map[string]any)
		more, ok2 := b.(map[string]any)
		if ok && ok2 {
			joined := maps.Clone(more)
			maps.Copy(joined, m)
			return joined
		}
	case "required":
		return slices.Concat(listOf(a), listOf(b))
	}
	return or(a, b)
}

// types sets the type. The service knows one, and nullable; several are
// alternatives.
func (r *reshaper) types(out map[string]any, v any) {
	var kinds []any
	list, isList := v.([]any)
	if !isList {
		list = []any{v}
	}
	for _, k := range list {
		switch k, _ := k.(string); k {
		case "":
		case "null":
			out["nullable"] = true
		default:
			kinds = append(kinds, strings.ToLower(k))
		}
	}
	switch len(kinds) {
	case 0:
	case 1:
		out["type"] = kinds[0]
	default:
		for _, k := range kinds {
			alternative := map[string]any{"type": k}
			if k == "array" {
				alternative["items"] = or(out["items"], map[string]any{})
			}
			if k == "object" && out["properties"] != nil {
				alternative["properties"] = out["properties"]
				alternative["required"] = or(out["required"], []any{})
			}
			out["anyOf"] = append(listOf(out["anyOf"]), alternative)
		}
		delete(out, "items")
		delete(out, "properties")
		delete(out, "required")
	}
}

// unions turns anyOf and oneOf into anyOf, and an alternative null into
// nullable. One alternative alone is none, and so is a choice between things
// that can't be said here.
func (r *reshaper) unions(out, in map[string]any, path string) {
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, v := range listOf(in[key]) {
			s := r.schema(v, path)
			switch {
			case len(s) == 0:
				r.lose(path, key)
				delete(out, "anyOf")
				return
			case len(s) == 1 && s["nullable"] == true:
				out["nullable"] = true
			default:
				out["anyOf"] = append(listOf(out["anyOf"]), s)
			}
		}
	}
	if only := listOf(out["anyOf"]); len(only) == 1 {
		delete(out, "anyOf")
		for k, v := range only[0].(map[string]any) {
			out[k] = or(out[k], v)
		}
	}
}

// enum keeps a choice of texts; of other values the service takes none, so
// that the description has to name them.
func (r *reshaper) enum(out, in map[string]any, path string) {
	values := listOf(in["enum"])
	if v, ok := in["const"]; ok {
		values = []any{v}
	}
	if values == nil {
		return
	}
	var texts []any
	for _, v := range values {
		if v == nil {
			out["nullable"] = true
		} else if s, ok := v.(string); ok && s != "" {
			texts = append(texts, s)
		} else {
			texts = nil
			break
		}
	}
	if texts != nil && (out["type"] == "string" || out["type"] == nil) {
		out["type"], out["enum"] = "string", texts
		return
	}
	r.lose(path, "enum")
	var names []string
	for _, v := range values {
		names = append(names, fmt.Sprint(v))
	}
	description, _ := out["description"].(string)
	out["description"] = strings.TrimSpace(description + " One of: " + strings.Join(names, ", ") + ".")
}

// tidy mends what the service would refuse: an array without items, required
// properties that it wasn't told of.
func (r *reshaper) tidy(out map[string]any, path string) {
	if out["type"] == nil && out["properties"] != nil {
		out["type"] = "object"
	}
	if out["type"] == nil && out["items"] != nil {
		out["type"] = "array"
	}
	if out["type"] == "array" && out["items"] == nil {
		out["items"] = map[string]any{}
	}
	if out["type"] != "array" {
		delete(out, "items")
	}
	properties, _ := out["properties"].(map[string]any)
	var required []any
	for _, v := range listOf(out["required"]) {
		name, ok := v.(string)
		if _, known := properties[name]; ok && known && !slices.Contains(required, v) {
			required = append(required, v)
		} else if ok && !known {
			r.lose(path, "required")
		}
	}
	delete(out, "required")
	if required != nil {
		out["required"] = required
	}
}

func listOf(v any) []any {
	list, _ := v.([]any)
	return list
}

// or returns a, or b if a is nil.
func or(a, b any) any {
	if a == nil {
		return b
	}
	return a
}
