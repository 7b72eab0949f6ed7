package session

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// encoding/json takes "SEQ" for "seq", lets the last of two equal keys win, and
// mixes the objects of both. Other tools read such a text otherwise, and two
// readers that disagree about a log are worse than none. It also makes 72 bytes
// of each {} in a list. So a text is checked before it is decoded.

// Shape is the form of a Go type as JSON: nil where nothing is to be checked,
// because the value is no list and no struct, or decodes itself. Fields that a
// type does not know are allowed; what they hold is not looked at.
type Shape struct {
	fields []shapeField
	list   bool
	elem   *Shape // of a list's or a map's values
}

type shapeField struct {
	name  string
	shape *Shape
}

// ShapeOf returns the form of v's type. A struct may have up to 64 fields.
func ShapeOf(v any) *Shape { return shapeOf(reflect.TypeOf(v), map[reflect.Type]*Shape{}) }

func shapeOf(t reflect.Type, seen map[reflect.Type]*Shape) *Shape {
	if t.Kind() == reflect.Pointer {
		return shapeOf(t.Elem(), seen)
	}
	p := reflect.PointerTo(t)
	if p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	if s, ok := seen[t]; ok {
		return s
	}
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		return &Shape{list: true, elem: shapeOf(t.Elem(), seen)}
	case reflect.Map:
		if elem := shapeOf(t.Elem(), seen); elem != nil {
			return &Shape{elem: elem}
		}
	case reflect.Struct:
		s := &Shape{}
		seen[t] = s
		for i := range t.NumField() {
			s.add(t.Field(i), seen)
		}
		return s
	}
	return nil
}

func (s *Shape) add(f reflect.StructField, seen map[reflect.Type]*Shape) {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case f.Anonymous && name == "":
		if inner := shapeOf(f.Type, seen); inner != nil {
			s.fields = append(s.fields, inner.fields...)
		}
		return
	case !f.IsExported() || name == "-":
		return
	case name == "":
		name = f.Name
	}
	s.fields = append(s.fields, shapeField{name, shapeOf(f.Type, seen)})
}

// find returns the place of a field, -1 if it is not known.
func (s *Shape) find(key []byte) (int, error) {
	for i := range s.fields {
		if s.fields[i].name == string(key) {
			return i, nil
		}
	}
	for i := range s.fields {
		if bytes.EqualFold([]byte(s.fields[i].name), key) {
			return -1, fmt.Errorf("field %q is written %q", s.fields[i].name, key)
		}
	}
	return -1, nil
}
