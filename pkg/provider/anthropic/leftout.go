package anthropic

import (
	"errors"
	"net/http"
	"strings"

	"kagent/pkg/provider"
)

// leftOut is what a request does without because the service refused it.
// Otherwise it would refuse this conversation for ever.
type leftOut struct {
	thoughts bool // thinking blocks that the service does not recognise
	binding  bool // a field that a gateway does not know
}

// more reports whether the request may pass without something else.
func (l *leftOut) more(err error) bool {
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest || failed.Kind != provider.InvalidRequest {
		return false
	}
	says := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(failed.Message, w) {
				return true
			}
		}
		return false
	}
	switch {
	case says("block_binding") && says("not permitted", "nknown", "nrecognized", "nexpected") && !l.binding:
		l.binding = true
	case says("thinking") && says("signature", "cannot be modified", "Expected `thinking`", "bound to a different") && !l.thoughts:
		l.thoughts = true
	default:
		return false
	}
	return true
}
