package responses

import (
	"errors"
	"net/http"
	"strings"

	"kagent/pkg/message"
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

// markSilent writes down in a reply that thoughts before it were refused, so
// that no later request sends any: the session remembers it, not the process.
func markSilent(parts []message.Part) {
	for i, p := range parts {
		if p.Type == message.TypeText || p.Type == message.TypeCall {
			o := opened(p.Opaque)
			o.Silent = true
			parts[i].Opaque = o.sealed()
			return
		}
	}
}

// silent reports whether thoughts were refused earlier in the conversation.
func (c *client) silent(list []message.Message) bool {
	for _, m := range list {
		for _, p := range m.Parts {
			if p.Type != message.TypeReasoning && m.Model == c.http.ID() && opened(p.Opaque).Silent {
				return true
			}
		}
	}
	return false
}
