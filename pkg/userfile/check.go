package userfile

import (
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mostNodes bounds how much is looked at: aliases repeat what they name.
const mostNodes = 200_000

// checker holds a text against the type that it is to be decoded into.
type checker struct {
	strict bool
	left   int
}

func (c *checker) check(n *yaml.Node, t reflect.Type, path string) error {
	if c.left--; c.left < 0 {
		return fault(n, path, "aliases repeat too much of it")
	}
	for n.Kind == yaml.AliasNode && c.left > 0 {
		n, c.left = n.Alias, c.left-1
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[yaml.Node]() || n.ShortTag() == "!!null" {
		return nil
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return c.fields(n, t, path)
	case reflect.Slice:
		return c.items(n, t, path)
	case reflect.Interface:
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		return fault(n, path, "want %s, not %s", wanted(t), given(n))
	}
	return scalar(n, t, path)
}

func (c *checker) items(n *yaml.Node, t reflect.Type, path string) error {
	if n.Kind != yaml.SequenceNode {
		return fault(n, path, "want a list, not %s", given(n))
	}
	for i, item := range n.Content {
		if err := c.check(item, t.Elem(), path+"["+strconv.Itoa(i+1)+"]"); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) fields(n *yaml.Node, t reflect.Type, path string) error {
	if n.Kind != yaml.MappingNode {
		return fault(n, path, "want %s, not %s", wanted(t), given(n))
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind == yaml.AliasNode {
			key = key.Alias
		}
		switch {
		case key.ShortTag() == "!!merge":
			continue // the decoder looks at it
		case key.Kind != yaml.ScalarNode:
			return fault(key, path, "want a name before the colon, not %s", given(key))
		case seen[key.Value] != 0:
			return fault(key, path, "%q is given twice, in line %d too", short(key.Value), seen[key.Value])
		}
		seen[key.Value] = key.Line
		inner := t
		if t.Kind() == reflect.Map {
			inner = t.Elem()
		} else if field, ok := named(t, key.Value); ok {
			inner = field
		} else if c.strict {
			return fault(key, path, "there is no field %q; known are %s", short(key.Value), strings.Join(names(t), ", "))
		} else {
			continue
		}
		if err := c.check(value, inner, strings.TrimPrefix(path+"."+short(key.Value), ".")); err != nil {
			return err
		}
	}
	return nil
}

// scalar sees whether a single value is of a type. A text takes any.
func scalar(n *yaml.Node, t reflect.Type, path string) error {
	whole := t.Kind() != reflect.Float64 && t.Kind() != reflect.Bool && t.Kind() != reflect.String
	f, number := strconv.ParseFloat(n.Value, 64)
	switch {
	case n.ShortTag() == "!!int" && t.Kind() != reflect.String && Octal(n.Value):
		return fault(n, path, "a number does not begin with 0: 010 is 8 to some and 10 to others")
	case whole && number == nil && n.ShortTag() == "!!float" && f == float64(int64(f)) && f < 1e18 && f > -1e18:
		return nil
	case whole && number == nil && (f >= 1e18 || f <= -1e18):
		return fault(n, path, "the number is too large")
	case whole && n.ShortTag() == "!!float", n.Decode(reflect.New(t).Interface()) != nil:
		return fault(n, path, "want %s, not %s", wanted(t), given(n))
	}
	return nil
}

// Octal reports whether a number is written as octal ones were before YAML 1.2.
func Octal(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return len(digits) > 1 && digits[0] == '0' && strings.Trim(digits, "0123456789_") == ""
}

// named returns the type of a struct's field by the name that it has in files.
func named(t reflect.Type, name string) (reflect.Type, bool) {
	for i := range t.NumField() {
		if tagged(t.Field(i)) == name {
			return t.Field(i).Type, true
		}
	}
	return nil, false
}

func names(t reflect.Type) (all []string) {
	for i := range t.NumField() {
		all = append(all, tagged(t.Field(i)))
	}
	return all
}

func tagged(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
	if name == "" {
		return strings.ToLower(f.Name)
	}
	return name
}
