package sse

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"kagent/pkg/message"
)

// Word is a string that an answer can't do without; null is none. A value of
// another type is an error.
type Word string

func (w *Word) UnmarshalJSON(raw []byte) error {
	if raw[0] == 'n' {
		*w = ""
		return nil
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return err
	}
	*w = Word(message.Clean(s))
	return nil
}

// MaxReply is the size in bytes of the largest reply that is taken: what is
// heard of it, its calls, and what goes back to the service unread.
const MaxReply = 64 << 20

// ErrTooLarge is the error of a larger one. A model that has lost its way goes
// on until somebody stops it.
var ErrTooLarge = fmt.Errorf("the reply is larger than %d MiB", MaxReply>>20)

// Strict remembers the first field of an answer that matters and has a wrong
// type. What it says would be missing without anybody knowing. So it does that
// an answer has grown too large.
type Strict struct {
	Err  error
	size int
}

// Grow counts n more bytes of the reply.
func (s *Strict) Grow(n int) {
	if s.size += n; s.size > MaxReply && s.Err == nil {
		s.Err = ErrTooLarge
	}
}

// Text reports whether a field is a string; null is as good as absent.
func (s *Strict) Text(field string, raw json.RawMessage) bool {
	if !IsNull(raw) && !IsString(raw) {
		s.Refuse(field, raw, "text")
	}
	return IsString(raw)
}

// Word returns the string that a field is, "" if it is null.
func (s *Strict) Word(field string, raw json.RawMessage) string {
	var w Word
	if s.Text(field, raw) && json.Unmarshal(raw, &w) != nil {
		return "" // can't happen: it is a string
	}
	return string(w)
}

// Refuse notes that a field is not what it has to be.
func (s *Strict) Refuse(field string, raw json.RawMessage, wanted string) {
	if s.Err == nil {
		s.Err = fmt.Errorf("%s is %s where %s belongs", field, typeOf(raw), wanted)
	}
}

func typeOf(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "text"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// At adds to encoding/json's error where in an event the value was found.
func At(field string, err error) error {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		wrong.Field = strings.TrimSuffix(field+"."+wrong.Field, ".")
	}
	return err
}

// plainly says what encoding/json has found, without Go's words.
func plainly(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	field := wrong.Field
	if field == "" {
		field = "a value"
	}
	is := map[byte]string{'s': "text", 'a': "a list", 'o': "an object", 'b': "true or false", 'n': "a number"}[wrong.Value[0]]
	return fmt.Sprintf("%s is %s where %s belongs", field, is, wanted(wrong.Type))
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Bool:
		return "true or false"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	}
	return "a number"
}
