package session_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"kagent/pkg/session"
)

// How a session stands does not need what was said in it.
func TestForgettingChangesNothingOfHowASessionStands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var whole, outline session.State
		for _, e := range anything(t) {
			whole.Apply(e)
			outline.Apply(e)
			outline.Forget(e.Scope)
			if got, want := standing(&outline), standing(&whole); !reflect.DeepEqual(got, want) {
				t.Fatalf("after %+v\n got %+v\nwant %+v", e, got, want)
			}
			if sc := outline.Scope(e.Scope); len(sc.Entries) > 1 {
				t.Fatalf("%d entries are kept", len(sc.Entries))
			}
		}
	})
}

// standing is all of a state that does not depend on what was said.
func standing(s *session.State) []any {
	status, reason := s.Status()
	out := []any{status, reason, s.Seq, s.Usage, s.Iterations, s.ToolCalls, s.Denied, s.Attempts, s.UnknownOf, s.Removed, s.Settings}
	for _, name := range []string{"", "plan-1"} {
		if sc := s.Scope(name); sc != nil {
			t := sc.Turn
			t.First = 0
			out = append(out, t, sc.Unheard(), sc.Steps, sc.Tries, sc.Partial(), len(sc.Pending()), sc.LastReply() == nil)
		}
	}
	return out
}
