package session_test

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// attempt is one that failed after the service had counted so many tokens.
func attempt(n int, tokens int64, cost *float64, givenUp bool) *session.RequestRetried {
	used := message.Usage{Input: tokens, Total: tokens}
	return &session.RequestRetried{
		Attempt: n, Error: &session.Failure{Kind: "server"}, GivenUp: givenUp,
		Billed: session.Billed{Model: "p/m", Usage: &used, CostUSD: cost},
	}
}

func TestWhatFailedAttemptsTookIsSpent(t *testing.T) {
	half := 0.5
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, attempt(1, 100, &half, false), &session.AssistantChunk{Text: "cut"},
		attempt(2, 10, &half, true), ends(1, session.Interrupted, session.ReasonServer))
	check(t, "tokens", l.state.Usage.Total, 110)
	check(t, "cost without a reply", *l.state.Cost(), 1)
	check(t, "tries", l.main().Tries, 2)
	check(t, "the partial text", l.main().Partial(), "cut")
	check(t, "replies without a count", l.state.Unmetered, 0)
	for _, limits := range []session.Limits{{MaxTotalTokens: 110}, {MaxCost: 1}} {
		l.state.Settings.Limits = limits
		if reason, _ := l.state.Exhausted(session.Spending{}); reason == "" {
			t.Errorf("%+v leave room", limits)
		}
	}
	l.add(continued(1), &session.StepStart{Step: 1}, reply(message.StopEnd, "done"), ends(1, session.Completed, ""))
	tally, steps := session.NewTally(), session.Steps{}
	for _, e := range l.events {
		tally.See(e)
		steps.See(e)
	}
	s := tally.Stats(false)
	check(t, "tokens of the statistics", s.Usage.Total, l.state.Usage.Total)
	check(t, "retries", s.Retries, 1)
	var sum int64
	for _, step := range steps.All() {
		sum += step.Usage.Total
	}
	check(t, "tokens of the steps", sum, l.state.Usage.Total)
}

func TestAFailedAttemptOfUnknownPriceLeavesNoCost(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, attempt(1, 100, nil, true))
	if c := l.state.Cost(); c != nil {
		t.Errorf("it is said to cost $%g", *c)
	}
	check(t, "attempts without a price", l.state.Unpriced, 1)
}

func TestAFailedAttemptThatTheServiceDidNotCountCostsNothing(t *testing.T) {
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, &session.RequestRetried{Attempt: 1}, reply(message.StopEnd, "yes"))
	plain := newLog(task(), turn(1), &session.StepStart{Step: 1}, reply(message.StopEnd, "yes"))
	check(t, "usage", l.state.Usage, plain.state.Usage)
	check(t, "unpriced", l.state.Unpriced, plain.state.Unpriced)
	check(t, "unmetered", l.state.Unmetered, plain.state.Unmetered)
}

func TestWhatWasSaidBeforeTheContextWasFullIsKept(t *testing.T) {
	full := &session.RequestRetried{Attempt: 1, Error: &session.Failure{Kind: "context_length"}}
	l := newLog(task(), turn(1), &session.StepStart{Step: 1}, &session.AssistantChunk{Text: "so far"}, full)
	check(t, "partial", l.main().Partial(), "so far")
	l.add(ends(1, session.Paused, session.ReasonContextLength))
	check(t, "partial of the paused turn", l.main().Partial(), "so far")
	l.add(continued(1), &session.StepStart{Step: 1})
	check(t, "partial of a shorter request", l.main().Partial(), "")
}
