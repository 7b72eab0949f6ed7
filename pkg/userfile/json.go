package userfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// JSON words an error of encoding/json about a text for people; another error it
// returns as it is.
func JSON(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typ *json.UnmarshalTypeError
	switch {
	case errors.As(err, &typ):
		return typeFault(typ)
	case !errors.As(err, &syntax):
		return err
	case len(bytes.TrimSpace(data)) == 0:
		return errors.New("it is empty")
	}
	at := min(max(syntax.Offset, 1), int64(len(data)))
	line := 1 + bytes.Count(data[:at-1], []byte("\n"))
	switch text := syntax.Error(); {
	case strings.Contains(text, "unexpected end"):
		return fmt.Errorf("line %d: it ends in the middle of a value", line)
	case strings.Contains(text, "after top-level value"):
		return fmt.Errorf("line %d: more stands there after the end of the value", line)
	}
	if strings.Contains(syntax.Error(), "max depth") {
		return errors.New("it is nested too deeply")
	}
	column := int(at) - bytes.LastIndexByte(data[:at-1], '\n') - 1
	return fmt.Errorf("line %d: it is no JSON from byte %d of the line on", line, column)
}

func typeFault(err *json.UnmarshalTypeError) error {
	field := err.Field[strings.LastIndex(err.Field, ".")+1:]
	if field != "" {
		field += ": "
	}
	want := wanted(err.Type)
	if strings.HasPrefix(want, "fields") || strings.HasPrefix(want, "names") {
		want = "an object"
	}
	value, _, _ := strings.Cut(err.Value, " ")
	found := map[string]string{"string": "a text", "number": "a number", "bool": "true or false", "array": "a list", "object": "an object"}[value]
	if found == "" {
		found = "what stands there"
	}
	return fmt.Errorf("%swant %s, not %s", field, want, found)
}
