package sse

import (
	"encoding/json"
	"math"
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

// Lax is a value that an answer can do without: one of a wrong type is none.
type Lax[T any] struct {
	Is  T
	Bad bool // something was said, but nothing that can be read
}

func (l *Lax[T]) UnmarshalJSON(raw []byte) error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		l.Bad = IsError(raw)
		return nil
	}
	l.Is = v
	return nil
}

// Integer tells an index that is absent or null from 0. It may be given as text or
// as 0.0, as some languages write every number; anything else is an error: what an index is of would be put in a wrong place.
type Integer struct {
	N     int64
	Given bool
}

func (i *Integer) UnmarshalJSON(raw []byte) error {
	*i = Integer{}
	if string(raw) == "null" {
		return nil
	}
	said := strings.Trim(string(raw), `"`)
	n, err := strconv.ParseInt(said, 10, 64)
	f, noFloat := strconv.ParseFloat(said, 64)
	if err != nil && noFloat == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		n, err = int64(f), nil
	}
	if err != nil {
		return json.Unmarshal(raw, &i.N) // says what is wrong
	}
	*i = Integer{n, true}
	return nil
}

// IsNull reports whether a field is absent or null, IsString whether it is a
// string.
func IsNull(raw json.RawMessage) bool   { return len(raw) == 0 || string(raw) == "null" }
func IsString(raw json.RawMessage) bool { return len(raw) > 1 && raw[0] == '"' }
