package checkpoint

import "strings"

// CheckID reports why id can't name a session, nil if it can: it must match
// ^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$. Device names of Windows are refused so
// that a directory can be copied anywhere.
func CheckID(id string) error {
	ok := len(id) >= 1 && len(id) <= 128 && id[0] != '-'
	for i := 0; i < len(id) && ok; i++ {
		c := id[i]
		ok = c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
	}
	if !ok {
		return &IDError{id, "want 1 to 128 letters, digits, _ or -, not beginning with -"}
	}
	if reserved(strings.ToLower(id)) {
		return &IDError{id, "the name is reserved"}
	}
	return nil
}

func reserved(id string) bool {
	switch id {
	case "con", "prn", "aux", "nul", "all", "last", "none", "lock", "events", "checkpoint":
		return true
	}
	port := len(id) == 4 && (strings.HasPrefix(id, "com") || strings.HasPrefix(id, "lpt"))
	return port && id[3] >= '0' && id[3] <= '9'
}

// near returns ids that a mistyped one may have meant, at most three.
func near(id string, all []string) []string {
	var out []string
	for _, a := range all {
		if len(out) < 3 && resembles(strings.ToLower(a), strings.ToLower(id)) {
			out = append(out, a)
		}
	}
	return out
}

// resembles reports whether one of two may have been typed for the other: it is
// in it, begins alike for the better part, or differs in the middle only.
func resembles(a, b string) bool {
	short, long := min(len(a), len(b)), max(len(a), len(b))
	head := 0
	for head < short && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < short-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return short > 2 && (strings.Contains(a, b) || strings.Contains(b, a)) ||
		head > 3 && 2*head >= short || 3*(head+tail) >= 2*long
}
