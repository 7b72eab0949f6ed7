package session_test

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// What was done with tools counts for the turn, whatever cuts it, and not for
// the next one.
func TestToolsCountForTheirTurn(t *testing.T) {
	l := newLog(task(), turn(1))
	r := l.add(reply(message.StopCalls, "", asks("a", "x"), asks("b", "y"), asks("c", "z")))
	l.add(brought(id(r, 0), session.OutcomeOK), brought(id(r, 1), session.OutcomeError), brought(id(r, 2), session.OutcomeDenied))
	now := func(x, y bool, denied int) {
		t.Helper()
		check(t, "x worked", l.state.Worked("x"), x)
		check(t, "y worked", l.state.Worked("y"), y)
		check(t, "denied", len(l.state.DeniedNow()), denied)
	}
	now(true, false, 1)
	l.add(ends(1, session.Interrupted, session.ReasonCrash), continued(1))
	now(true, false, 1)
	l.add(reply(message.StopEnd, "done"), ends(1, session.Completed, ""), says("more"), turn(2))
	now(false, false, 0)
	check(t, "denied in all", len(l.state.Denied), 1)
}
