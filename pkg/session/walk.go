package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Check says why b must not be decoded: what it means depends on the reader, or
// it would take far more memory than it has bytes. Of a text that is no JSON at
// all it may say nothing.
func (s *Shape) Check(b []byte) error {
	w := walk{items: max(1<<16, len(b)/16)}
	_, err := w.value(s, b)
	return err
}

// walk is one look at a text.
type walk struct{ items int } // that lists may still hold

var (
	errNoJSON = errors.New("not valid JSON")
	errItems  = errors.New("too many items in lists")
)

// value checks the value that b begins with and returns what follows it.
func (w *walk) value(s *Shape, b []byte) ([]byte, error) {
	b = skipSpace(b)
	switch {
	case s == nil || len(b) == 0:
	case b[0] == '{' && !s.list:
		return w.object(s, b[1:])
	case b[0] == '[' && s.list:
		return w.array(s, b[1:])
	}
	return skipValue(b), nil
}

func (w *walk) array(s *Shape, b []byte) ([]byte, error) {
	for b = skipSpace(b); len(b) > 0 && b[0] != ']'; b = next(b) {
		if w.items--; w.items < 0 {
			return nil, errItems
		}
		before := len(b)
		var err error
		if b, err = w.value(s.elem, b); err != nil {
			return nil, err
		}
		if len(b) == before {
			return nil, errNoJSON
		}
	}
	return b[min(1, len(b)):], nil
}

func (w *walk) object(s *Shape, b []byte) ([]byte, error) {
	var had uint64
	for b = skipSpace(b); len(b) > 0 && b[0] != '}'; b = next(b) {
		key, rest, err := takeKey(b)
		if err != nil {
			return nil, err
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
		if b, err = w.value(inner, rest); err != nil {
			return nil, err
		}
	}
	return b[min(1, len(b)):], nil
}

// takeKey reads a key and its colon.
func takeKey(b []byte) (key, rest []byte, err error) {
	if b[0] != '"' {
		return nil, nil, errNoJSON
	}
	rest = skipString(b)
	text := b[:len(b)-len(rest)]
	if rest = skipSpace(rest); len(rest) == 0 || rest[0] != ':' {
		return nil, nil, errNoJSON
	}
	key = text[1 : len(text)-1]
	if bytes.IndexByte(key, '\\') >= 0 {
		var plain string
		err = json.Unmarshal(text, &plain)
		key = []byte(plain)
	}
	return key, rest[1:], err
}

// next passes over a comma.
func next(b []byte) []byte {
	if b = skipSpace(b); len(b) > 0 && b[0] == ',' {
		return skipSpace(b[1:])
	}
	return b
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
