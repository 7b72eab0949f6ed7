package session_test

import (
	"strings"
	"testing"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

func TestStepsAreLeftUntilTheLimit(t *testing.T) {
	for _, c := range []struct {
		max, steps int
		want       bool
	}{{0, 1000, true}, {-1, 5, true}, {2, 0, true}, {2, 1, true}, {2, 2, false}, {2, 3, false}} {
		check(t, "room for another step", session.Limits{MaxSteps: c.max}.StepsLeft(session.Turn{Steps: c.steps}), c.want)
	}
}

// What children spend counts, and so does what is under way.
func TestLimitsOfASessionHoldForAllItsScopes(t *testing.T) {
	cost := 0.25
	spent := func() *log {
		l := newLog(task(), turn(1))
		r := reply(message.StopEnd, "x").(*session.AssistantMessage) // 10 tokens
		r.CostUSD = &cost
		l.add(r)
		l.state.Apply(session.Event{Seq: l.state.Seq + 1, Epoch: 1, Scope: "node/a", Type: r.Type(), Data: r})
		return l
	}
	for _, c := range []struct {
		limits session.Limits
		flying session.Spending
		want   session.Reason
		text   string
	}{
		{session.Limits{}, session.Spending{Steps: 1e6}, "", ""},
		{session.Limits{MaxTotalSteps: 3}, session.Spending{}, "", ""},
		{session.Limits{MaxTotalSteps: 3}, session.Spending{Steps: 1}, session.ReasonMaxSteps, "--max-total-steps"},
		{session.Limits{MaxTotalSteps: 2}, session.Spending{}, session.ReasonMaxSteps, "2 model calls"},
		{session.Limits{MaxTotalTokens: 21}, session.Spending{}, "", ""},
		{session.Limits{MaxTotalTokens: 21}, session.Spending{Tokens: 1}, session.ReasonMaxTokens, "20 are spent"},
		{session.Limits{MaxCost: 0.51}, session.Spending{}, "", ""},
		{session.Limits{MaxCost: 0.5}, session.Spending{}, session.ReasonMaxCost, "$0.5000 are spent"},
		{session.Limits{MaxCost: 0.6}, session.Spending{Cost: 0.1}, session.ReasonMaxCost, "--max-cost"},
	} {
		l := spent()
		l.state.Settings.Limits = c.limits
		reason, text := l.state.Exhausted(c.flying)
		if reason != c.want || !strings.Contains(text, c.text) {
			t.Errorf("%+v, %+v: %q %q", c.limits, c.flying, reason, text)
		}
	}
}

// The time that nobody worked does not count, nor what a dead process did after
// its last event.
func TestActiveTimeIsThatOfOpenTurns(t *testing.T) {
	var s session.State
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	epoch, seq := int64(1), int64(0)
	add := func(after time.Duration, d session.Data) {
		seq++
		at = at.Add(after)
		s.Apply(session.Event{Seq: seq, Epoch: epoch, Time: at, Type: d.Type(), Data: d})
	}
	add(0, &session.Created{ID: "s"})
	add(time.Hour, &session.TurnStart{Turn: 1})
	add(time.Minute, &session.StepStart{Step: 1})
	epoch++ // killed
	add(24*time.Hour, &session.Opened{})
	add(0, &session.TurnEnd{Turn: 1, Status: session.Interrupted, Reason: session.ReasonCrash})
	add(time.Hour, &session.TurnStart{Turn: 1, Continues: 1})
	add(2*time.Minute, &session.StepStart{Step: 1})
	add(-time.Hour, &session.StepEnd{Step: 1}) // a clock that was set back
	add(time.Minute, &session.TurnEnd{Turn: 1, Status: session.Completed})
	add(time.Hour, &session.SettingsChanged{})
	check(t, "active", s.Active, 4*time.Minute)

	left := func(l session.Limits, want time.Duration, limited bool) {
		t.Helper()
		s.Settings.Limits = l
		got, is := s.TimeLeft(at)
		check(t, "left", got, want)
		check(t, "limited", is, limited)
	}
	left(session.Limits{}, 0, false)
	left(session.Limits{MaxActive: session.Duration(5 * time.Minute)}, time.Minute, true)
	left(session.Limits{Until: at.Add(-time.Hour)}, -time.Hour, true)
	left(session.Limits{Until: at.Add(time.Second), MaxActive: session.Duration(5 * time.Minute)}, time.Second, true)
	left(session.Limits{Until: at.Add(time.Hour), MaxActive: session.Duration(5 * time.Minute)}, time.Minute, true)
}

// The limit that ends first is the one that is named, though the last event is
// from before it: the time may end in a tool or in a wait.
func TestATimeThatIsOverIsNamedByTheLimitThatEndsFirst(t *testing.T) {
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	s := &session.State{Updated: at, Active: 4 * time.Minute}
	for _, c := range []struct {
		limits session.Limits
		want   string
	}{
		{session.Limits{Until: at.Add(time.Hour)}, "the deadline 2026-12-01T10:00:00Z is reached; --deadline moves it"},
		{session.Limits{Until: at.Add(time.Second), MaxActive: session.Duration(5 * time.Minute)}, "the deadline 2026-12-01T09:00:01Z is reached; --deadline moves it"},
		{session.Limits{Until: at.Add(time.Hour), MaxActive: session.Duration(5 * time.Minute)}, "the limit of 5m0s of work for the session is reached; --deadline raises it"},
		{session.Limits{MaxActive: session.Duration(time.Minute)}, "the limit of 1m0s of work for the session is reached; --deadline raises it"},
	} {
		s.Settings.Limits = c.limits
		check(t, "words", s.Overdue(), c.want)
	}
}
