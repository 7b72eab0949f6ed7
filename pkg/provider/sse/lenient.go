package sse

import (
	"encoding/json"
	"strconv"
	"strings"

	"kagent/pkg/message"
)

// Loose is a string that may be given as a number; anything else is "".
type Loose string

func (l *Loose) UnmarshalJSON(raw []byte) error {
	var s string
	switch {
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		s = string(raw)
	}
	*l = Loose(message.Clean(s))
	return nil
}

// Count is a number of tokens; what is no number, or negative, is 0.
type Count int64

func (c *Count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || f != f || f < 0 {
		f = 0
	}
	*c = Count(min(f, 1e15))
	return nil
}

// Integer tells an index that is absent or null from 0.
type Integer struct {
	N     int64
	Given bool
}

func (i *Integer) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*i = Integer{n, err == nil}
	return nil
}

// IsNull reports whether a field is absent or null, IsString whether it is a
// string.
func IsNull(raw json.RawMessage) bool   { return len(raw) == 0 || string(raw) == "null" }
func IsString(raw json.RawMessage) bool { return len(raw) > 1 && raw[0] == '"' }
