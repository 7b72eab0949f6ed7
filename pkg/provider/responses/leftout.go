package responses

import (
	"errors"
	"net/http"
	"strings"

	"kagent/pkg/provider"
)

// leftOut is what a request does without because the service refused it: a
// refused request costs nothing and has emitted nothing.
type leftOut struct {
	seal     bool // the wish for encrypted thoughts: which models reason can't be told from their names
	thoughts bool // those thoughts, where the service can't decrypt its own any more
}

// more reports whether the request may pass without something else.
func (l *leftOut) more(err error) bool {
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest {
		return false
	}
	says := func(words string) bool { return strings.Contains(failed.Message, words) }
	switch {
	case says("ncrypted content is not supported") && !l.seal:
		l.seal = true
	case (failed.Code == "invalid_encrypted_content" || says("ncrypted content") && says("could not be")) && !l.thoughts:
		l.thoughts = true
	default:
		return false
	}
	return true
}
