package checkpoint

import (
	"regexp"
	"slices"
	"strings"
)

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$`)

// CheckID reports why id can't name a session, nil if it can. Device names of
// Windows are refused so that a directory can be copied anywhere.
func CheckID(id string) error {
	if !idPattern.MatchString(id) {
		return &IDError{id, "want 1 to 128 letters, digits, _ or -, not beginning with -"}
	}
	lower := strings.ToLower(id)
	device := regexp.MustCompile(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`)
	if device.MatchString(lower) || slices.Contains([]string{"all", "last", "none", "lock", "events", "checkpoint"}, lower) {
		return &IDError{id, "the name is reserved"}
	}
	return nil
}

// near returns ids that a mistyped one may have meant, at most three.
func near(id string, all []string) []string {
	var out []string
	for _, a := range all {
		la, li := strings.ToLower(a), strings.ToLower(id)
		n := min(len(la), len(li), 4)
		if n > 0 && (strings.Contains(la, li) || strings.Contains(li, la) || la[:n] == li[:n]) {
			out = append(out, a)
		}
		if len(out) == 3 {
			break
		}
	}
	return out
}
