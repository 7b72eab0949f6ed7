package provider

import (
	"fmt"
	"time"
)

// Kind classifies what went wrong, the same for every vendor.
type Kind string

// The kinds.
const (
	Auth           Kind = "auth"            // the key is missing or wrong
	Permission     Kind = "permission"      // the key may not do this
	Quota          Kind = "quota"           // the account is used up; waiting does not help
	RateLimit      Kind = "rate_limit"      // too many requests; waiting helps
	Overloaded     Kind = "overloaded"      // the service is busy
	ContextLength  Kind = "context_length"  // the request is too long for the model
	InvalidRequest Kind = "invalid_request" // the service does not accept the request
	NotFound       Kind = "not_found"       // no such model or address
	ContentFilter  Kind = "content_filter"  // refused by a policy
	Server         Kind = "server"          // the service failed
	Network        Kind = "network"         // the connection failed or ended too early
	Timeout        Kind = "timeout"         // no answer, or silence, for too long
	Cancelled      Kind = "cancelled"       // the caller gave up
)

// Retryable reports whether the same request may succeed a little later.
func (k Kind) Retryable() bool {
	switch k {
	case RateLimit, Overloaded, Server, Network, Timeout:
		return true
	}
	return false
}

// Error is a failed request.
type Error struct {
	Kind       Kind
	Status     int           // HTTP status, 0 if there was none
	RetryAfter time.Duration // as the server asked, 0 if it did not
	Message    string        // one line, without secrets
	Provider   string        // for example "openai"
	Model      string
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
