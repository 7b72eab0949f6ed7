package session

// used is what the session's turn, children included, has done with tools. A
// turn that goes on keeps it.
type used struct {
	worked map[string]bool // tools of which a call succeeded
	denied int             // length of State.Denied when the turn began
}

// begin forgets the tools of the turn before.
func (u *used) begin(denied int) { *u = used{denied: denied} }

func (u *used) success(tool string) {
	if u.worked == nil {
		u.worked = map[string]bool{}
	}
	u.worked[tool] = true
}

// Worked reports whether a call of the tool has succeeded in this turn.
func (s *State) Worked(tool string) bool { return s.used.worked[tool] }

// DeniedNow returns the tools that were denied in this turn.
func (s *State) DeniedNow() []string { return s.Denied[s.used.denied:] }
