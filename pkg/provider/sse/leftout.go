package sse

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"kagent/pkg/provider"
)

// leftOut is what requests do without because the service refuses it of this
// model: many can't be made to call a tool while they think, or to fit a schema.
// Whoever asks checks what comes anyway; a refused request costs nothing.
type leftOut struct {
	choice bool // the tool that has to be called
	output bool // the schema of the answer
}

var (
	namesChoice = pattern(`tool[_ ]?choice|function[_ ]?calling[_ ]?config|allowed[_ ]?function[_ ]?names`)
	namesOutput = pattern(`schema|\b(response_?|output_?)?format\b|output_config|mime[_ ]?type|grammar|structured|json mode`)
)

// more reports whether the request may pass without something else. The words
// may be about another thing: what is left out is remembered only if it helped.
func (l *leftOut) more(err error) bool {
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Kind != provider.InvalidRequest && failed.Kind != provider.NotFound ||
		// 404: OpenRouter's, where none of those that serve a model takes the field.
		!slices.Contains([]int{http.StatusBadRequest, http.StatusNotFound, http.StatusUnprocessableEntity}, failed.Status) {
		return false
	}
	switch said := strings.ToLower(failed.Message); {
	case !l.choice && namesChoice().MatchString(said):
		l.choice = true
	case !l.output && namesOutput().MatchString(said):
		l.output = true
	default:
		return false
	}
	return true
}

func (l leftOut) of(req provider.Request) provider.Request {
	if l.choice {
		req.Choice = ""
	}
	if l.output {
		req.Output = nil
	}
	return req
}

// refusals remembers for the process what a model does without.
type refusals struct{ choice, output atomic.Bool }

func (r *refusals) leftOut() leftOut { return leftOut{r.choice.Load(), r.output.Load()} }

func (r *refusals) remember(l leftOut) {
	if l.choice {
		r.choice.Store(true)
	}
	if l.output {
		r.output.Store(true)
	}
}

// attempt is one way to ask.
type attempt struct {
	left leftOut
	body []byte
}

// after returns the attempt that may pass where this one was refused; ok is
// false if there is none, or it would be the same.
func (a attempt) after(refused error, encode func(leftOut) ([]byte, error)) (next attempt, ok bool) {
	for next = a; next.left.more(refused); {
		body, err := encode(next.left)
		if err == nil && !bytes.Equal(body, a.body) {
			next.body = body
			return next, true
		}
	}
	return a, false
}
