package session

import "slices"

// Forget drops what was said in a scope before its last entry: what stays tells
// how the session stands, whatever its size. It can't be gone on with.
func (s *State) Forget(scope string) {
	sc := s.scopes[scope]
	if sc == nil || len(sc.Entries) < 2 {
		return
	}
	n := len(sc.Entries) - 1
	sc.Entries = slices.Delete(sc.Entries, 0, n)
	sc.moves++
	sc.heard, sc.Turn.First = max(sc.heard-n, 0), max(sc.Turn.First-n, 0)
}
