package cmd

import (
	"strings"

	"kagent/pkg/provider/sse"
	"kagent/pkg/session"
)

// trustWarnings tells of a variable for certificates that Go would pass over in
// silence; the service may be trusted all the same.
func trustWarnings(s session.Settings) []string {
	if !certified(s) {
		return nil
	}
	if fault := sse.AuthorityFault(); fault != "" {
		return []string{fault + ": it is passed over"}
	}
	return nil
}

// certified reports whether a session's model is told by a certificate.
func certified(s session.Settings) bool {
	return strings.Contains(s.Model, "/") && !strings.HasPrefix(s.Model, "script:") && !strings.HasPrefix(s.BaseURL, "http://")
}
