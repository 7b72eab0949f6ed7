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
// readers that disagree about a log are worse than none. So, beside decoding, a
// Shape checks that each field has its own name, once.

// Shape is the form of a Go type as JSON: nil where keys don't matter, because
// the value decodes itself or holds no struct. Fields that a type does not know
// are allowed; what they hold is not looked at.
type Shape struct {
	fields []shapeField
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
	case reflect.Slice, reflect.Array, reflect.Map:
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

// Check says what is wrong with the keys of b, which must be valid JSON that
// fits the type.
func (s *Shape) Check(b []byte) error {
	_, err := s.value(b)
	return err
}

// value checks the value that b begins with and returns what follows it.
func (s *Shape) value(b []byte) ([]byte, error) {
	b = skipSpace(b)
	switch {
	case s == nil || len(b) == 0:
		return skipValue(b), nil
	case b[0] == '{':
		return s.object(b[1:])
	case b[0] == '[' && s.elem != nil:
		for b = skipSpace(b[1:]); len(b) > 0 && b[0] != ']'; b = skipSpace(bytes.TrimPrefix(skipSpace(b), comma)) {
			var err error
			if b, err = s.elem.value(b); err != nil {
				return nil, err
			}
		}
		return b[min(1, len(b)):], nil
	}
	return skipValue(b), nil
}

var comma = []byte(",")

func (s *Shape) object(b []byte) ([]byte, error) {
	var had uint64
	for b = skipSpace(b); len(b) > 0 && b[0] != '}'; b = skipSpace(bytes.TrimPrefix(skipSpace(b), comma)) {
		rest := skipString(b)
		key := b[1 : len(b)-len(rest)-1]
		if bytes.IndexByte(key, '\\') >= 0 {
			var plain string
			if err := json.Unmarshal(b[:len(b)-len(rest)], &plain); err != nil {
				return nil, err
			}
			key = []byte(plain)
		}
		inner := s.elem
		i, err := s.find(key)
		switch {
		case err != nil:
			return nil, err
		case i >= 0 && had&(1<<i) != 0:
			return nil, fmt.Errorf("field %q stands there twice", key)
		case i >= 0:
			had |= 1 << i
			inner = s.fields[i].shape
		}
		if b, err = inner.value(skipSpace(rest)[1:]); err != nil {
			return nil, err
		}
	}
	return b[min(1, len(b)):], nil
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

func skipSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}

// skipString passes over a string.
func skipString(b []byte) []byte {
	for b = b[1:]; len(b) > 0; {
		i := bytes.IndexByte(b, '"')
		if i < 0 {
			return nil
		}
		slashes := i
		for slashes > 0 && b[slashes-1] == '\\' {
			slashes--
		}
		if b = b[i+1:]; (i-slashes)%2 == 0 {
			return b
		}
	}
	return nil
}

// skipValue passes over a value of any depth without going into it.
func skipValue(b []byte) []byte {
	for depth := 0; len(b) > 0; {
		switch b[0] {
		case '"':
			b = skipString(b)
		case '{', '[':
			depth++
			b = b[1:]
		case '}', ']':
			if depth == 0 {
				return b
			}
			depth--
			b = b[1:]
		case ',':
			if depth == 0 {
				return b
			}
			b = b[1:]
		default:
			b = b[1:]
			continue // a number or a word ends where something else begins
		}
		if depth == 0 {
			return b
		}
	}
	return nil
}
