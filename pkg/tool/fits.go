package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"kagent/pkg/message"
)

// Schema is a JSON Schema that values are checked against.
type Schema struct {
	c       *compiled
	root    any  // the schema as it was written
	inexact bool // it has numbers that the validator does not have to the last digit

	// Unchecked tells, by JSON pointers, which patterns values are not held
	// against: those with look-around or back-references.
	Unchecked []string
}

// NewSchema reads a schema that a person wrote: its error says in one line what
// is wrong with it and where. References to other documents are one.
func NewSchema(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchema || message.Nesting(raw) > maxNested {
		return nil, fmt.Errorf("it has more than %d bytes or %d levels", maxSchema, maxNested)
	}
	s := new(Schema)
	raw, s.Unchecked = withoutPatterns(raw)
	if err := s.read(raw); err != nil {
		return nil, err
	}
	if err := wellFormed(raw); err != nil {
		return nil, err
	}
	var err error
	s.c, err = compile(raw)
	return s, err
}

func (s *Schema) read(raw json.RawMessage) error {
	if err := json.Unmarshal(raw, new(any)); tooLarge(err) != "" {
		return fmt.Errorf("the number %s is too large for a schema", tooLarge(err))
	} else if err != nil {
		return err
	}
	var err error
	if s.root, err = exactly(raw); err != nil {
		return err
	}
	wrong := ""
	if wrong, s.inexact = unbounded(s.root, ""); wrong != "" {
		return errors.New(wrong)
	}
	s.inexact = s.inexact || bytes.Contains(raw, []byte(`"multipleOf"`)) // the quotient may be what is not
	return nil
}

// tooLarge is the number that an error is about because a float64 can't hold it.
func tooLarge(err error) string {
	var typ *json.UnmarshalTypeError
	if !errors.As(err, &typ) {
		return ""
	}
	number, _ := strings.CutPrefix(typ.Value, "number ")
	return clip(number, 80)
}

// Problem says what is wrong with a value, "" if it fits. Text is valid UTF-8 of
// at most about 2 KiB.
func (s *Schema) Problem(value json.RawMessage) string {
	var rounded any
	err := json.Unmarshal(value, &rounded)
	if err != nil && tooLarge(err) == "" {
		return strings.TrimPrefix(describeJSON(string(value), err), "they are ")
	}
	if depth := message.Nesting(value); depth > maxNested || !s.c.spread.bears(depth) {
		return "it is nested too deep to be held against the schema"
	}
	v, _ := exactly(value) // was parsed
	wrong, inexact := unbounded(v, "")
	switch {
	case wrong != "":
	case err != nil:
		wrong = s.judge(v)
	case s.inexact || inexact:
		wrong = s.judge(v, rounded)
	case s.c.resolved.Validate(rounded) != nil:
		wrong = cmp.Or(s.judge(v), "it does not fit")
	}
	return message.Clean(clip(wrong, maxProblem))
}

// judge names all that is missing or unknown at once, where it is that, so that one
// more try can mend it. What takes too long is judged by the validator, if it can.
func (s *Schema) judge(v any, rounded ...any) string {
	root, _ := s.root.(map[string]any)
	dialect, _ := root["$schema"].(string)
	x := explainer{surveyor: surveyor{root: s.root}, draft7: strings.Contains(dialect, "draft-07"), patterns: map[string]*regexp.Regexp{}}
	wrong := x.wrong(s.root, v, "")
	if x.spent() && wrong == "" {
		if len(rounded) == 0 || s.c.resolved.Validate(rounded[0]) != nil {
			return "it does not fit, or is too large to be held against the schema"
		}
		return ""
	}
	object, ok := v.(map[string]any)
	if !ok || wrong == "" {
		return wrong
	}
	return cmp.Or(misnamed(s.c.schema, object), misnamedBelow(s.c.schema, object, ""), wrong)
}
