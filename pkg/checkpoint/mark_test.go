package checkpoint

import (
	"testing"

	"kagent/pkg/session"
)

// A word from outside closes a session wherever it stands, and its log stays
// one that makes sense.
func TestMarkClosesASessionWhereverItStands(t *testing.T) {
	says := func(data ...session.Data) []session.Data { return data }
	begun := says(&session.UserMessage{Source: session.FromTask}, &session.TurnStart{Turn: 1})
	over := append(begun, &session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonNetwork})
	for name, c := range map[string]struct {
		log  []session.Data
		turn int
	}{
		"before its first turn": {nil, 1},
		"in an open turn":       {begun, 1},
		"after its turn":        {over, 1},
		"with an unheard word":  {append(over, said("and more")), 1},
		"completed":             {append(begun, &session.TurnEnd{Turn: 1, Status: session.Completed}), 1},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := newTestStore(t.TempDir())
			j, err := s.Create("s", task)
			check(t, err)
			check(t, j.Append("", c.log...))
			check(t, j.Mark(session.TurnEnd{Status: session.Failed, Reason: session.ReasonAttempts}))
			check(t, j.Close())
			v, err := s.Read("s")
			check(t, err)
			status, reason := v.Status()
			if status != session.Failed || reason != session.ReasonAttempts || !v.Saved || v.State.Main().Turn.N != c.turn {
				t.Errorf("%s: %s, saved %t, turn %d", status, reason, v.Saved, v.State.Main().Turn.N)
			}
			if r, err := s.Verify("s"); err != nil || !r.OK {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
}
