package cmd

import "fmt"

// UsageError says that a command was called or configured wrongly, so that
// nothing was started: exit 2.
type UsageError struct {
	Message string // what is wrong, and where
	Hint    string // what to do about it; may be empty
}

// Error returns the message and the hint on one line.
func (e *UsageError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// usageErrorf makes a UsageError from a hint and a formatted message.
func usageErrorf(hint, format string, args ...any) *UsageError {
	return &UsageError{Message: fmt.Sprintf(format, args...), Hint: hint}
}
