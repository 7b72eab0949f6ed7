package provider

import (
	"fmt"
	"time"
)

// Error is a failed request.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // as the server asked, 0 if it did not
	Message    string        // one line, without secrets
	Code       string        // the service's own word for it, "" if it gave none
	Provider   string        // for example "openai"
	Model      string
	Final      bool // the session as a whole can't go on, whoever in it has asked
}

// Error gives one line: what, and which model.
func (e *Error) Error() string {
	s := e.Provider
	if e.Model != "" {
		s += "/" + e.Model
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %s", s, e.Kind, e.Status, e.Message)
	}
	return fmt.Sprintf("%s: %s: %s", s, e.Kind, e.Message)
}
