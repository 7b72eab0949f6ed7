package tool

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
)

// Schema is a JSON Schema that values are checked against.
type Schema struct{ c *compiled }

// NewSchema reads a schema. References to other documents are an error.
func NewSchema(raw json.RawMessage) (*Schema, error) {
	c, err := compile(raw)
	if err != nil {
		return nil, err
	}
	return &Schema{c}, nil
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
	wrong := ""
	if object, ok := v.(map[string]any); ok {
		wrong = s.c.validate(object)
	} else if err := s.c.resolved.Validate(v); err != nil {
		wrong = readable(err)
	}
	return message.Clean(clip(wrong, maxProblem))
}
