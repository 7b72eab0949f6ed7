package tool

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"unicode/utf8"
)

// decode reads a built-in tool's arguments. They have been checked, so that an
// error is a caller's mistake; it is told to the model all the same.
func decode[T any](args json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(args, &v); err != nil {
		return v, fmt.Errorf("invalid arguments: %w", err)
	}
	return v, nil
}

// count is a whole number. JSON Schema calls 3.0 and 3e0 integers, some models
// write them so, and a Go integer would refuse them.
type count int64

func (c *count) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return fmt.Errorf("%s is not a whole number that can be counted to", b)
	}
	*c = count(f)
	return nil
}

// clip shortens s to about limit bytes by taking from its middle, on rune
// boundaries: the beginning says where, the end says what was wanted.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := limit/2, len(s)-limit/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + " … " + s[tail:]
}

// reason is an error without the names that the system put around it: they are
// relative to some open directory and would mislead.
func reason(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	case *os.SyscallError:
		return e.Err
	}
	return err
}
