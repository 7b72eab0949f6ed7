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
	Once       bool     // the service says that the same request won't pass a little later, whatever the kind
	Final      bool     // the session as a whole can't go on, whoever in it has asked
	Others     []*Error // how the other models of a chain failed, as far as they were asked
}

// Error gives one line: what, and which model, of each that was asked.
func (e *Error) Error() string {
	if len(e.Others) == 0 {
		return e.line(e.Message)
	}
	text := e.line(brief(e.Message))
	for _, other := range e.Others {
		text += "; " + other.line(brief(other.Message))
	}
	return text
}

func (e *Error) line(said string) string {
	s := e.Provider
	if e.Model != "" {
		s += "/" + e.Model
	}
	if e.Status != 0 {
		return fmt.Sprintf("%s: %s (HTTP %d): %s", s, e.Kind, e.Status, said)
	}
	return fmt.Sprintf("%s: %s: %s", s, e.Kind, said)
}

// briefly is how many characters are told of what each of a chain said.
const briefly = 120

func brief(s string) string {
	if runes := []rune(s); len(runes) > briefly {
		return string(runes[:briefly-1]) + "…"
	}
	return s
}
