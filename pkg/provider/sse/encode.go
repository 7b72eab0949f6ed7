package sse

import (
	"bytes"
	"encoding/json"

	"kagent/pkg/message"
)

// Encode returns the body of a request: JSON in one line, without escapes for
// HTML, valid UTF-8 without NUL and without half surrogate pairs.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	body := bytes.TrimRight(b.Bytes(), "\n")
	return []byte(message.CleanEscapes(string(bytes.ToValidUTF8(body, []byte("\uFFFD"))))), nil
}
