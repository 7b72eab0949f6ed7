package userfile

import (
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// wanted says what a type takes.
func wanted(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if all := names(t); len(all) < 8 {
			return "fields (" + strings.Join(all, ", ") + ")"
		}
		return "an object"
	case reflect.Map:
		return "names with their values"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}

// given says what stands there.
func given(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "names with their values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int":
		return "a number"
	case "!!float":
		return "a number with a fraction"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return "a text"
}

// short keeps a name that is none out of the way.
func short(name string) string {
	if r := []rune(name); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return name
}
