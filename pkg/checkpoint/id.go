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
