package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"kagent/pkg/message"
)

// Schema is a JSON Schema that values are checked against.
type Schema struct {
	c    *compiled
	root any // the schema as it was written
}

// NewSchema reads a schema that a person wrote: its error says in one line what
// is wrong with it and where. References to other documents are one.
func NewSchema(raw json.RawMessage) (*Schema, error) {
	if len(raw) > maxSchema || message.Nesting(raw) > maxNested {
		return nil, fmt.Errorf("it has more than %d bytes or %d levels", maxSchema, maxNested)
	}
	if err := wellFormed(raw); err != nil {
		return nil, err
	}
	c, err := compile(raw)
	if err != nil {
		return nil, err
	}
	s := &Schema{c: c}
	return s, json.Unmarshal(raw, &s.root)
}

// Problem says what is wrong with a value, "" if it fits. Text is valid UTF-8 of
// at most about 2 KiB.
func (s *Schema) Problem(value json.RawMessage) string {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return strings.TrimPrefix(describeJSON(string(value), err), "they are ")
	}
	if depth := message.Nesting(value); depth > maxNested || !s.c.spread.bears(depth) {
		return "it is nested too deep to be held against the schema"
	}
	return message.Clean(clip(s.wrong(v), maxProblem))
}

// wrong names all that is missing or unknown at once, where it is that, so that
// one more try can mend it.
func (s *Schema) wrong(v any) string {
	if s.c.resolved.Validate(v) == nil {
		return ""
	}
	if object, ok := v.(map[string]any); ok {
		if wrong := cmp.Or(misnamed(s.c.schema, object), misnamedBelow(s.c.schema, object, "")); wrong != "" {
			return wrong
		}
	}
	x := explainer{surveyor: surveyor{root: s.root}}
	return cmp.Or(x.wrong(s.root, v, ""), "it does not fit")
}
