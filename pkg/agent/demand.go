package agent

import (
	"strings"

	"kagent/pkg/session"
)

// demanding lets the session's turn be completed only when each tool that the
// session requires has worked in it.
func demanding(next Strategy) Strategy {
	return func(s *session.State, scope string) Action {
		a := next(s, scope)
		if f, ok := a.(Finish); !ok || scope != "" || f.Status != session.Completed {
			return a
		}
		var missing []string
		for _, name := range s.Settings.RequireTools {
			if !s.Worked(name) {
				missing = append(missing, name)
			}
		}
		if missing == nil {
			return a
		}
		return because(session.Failed, session.ReasonTool, "the answer came without a successful call of "+strings.Join(missing, ", ")+", which is required; another prompt may help")
	}
}
