package agent_test

import (
	"cmp"
	"context"
	"errors"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/session"
)

// costly streams a word and fails the first n times, at 100 tokens each.
func costly(n int) model {
	return func(_ context.Context, _ provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		if n--; n < 0 {
			return says("whole"), nil
		}
		emit(provider.Event{Text: "half"})
		emit(provider.Event{Lost: &message.Usage{Input: 100, Total: 100}})
		return provider.Reply{}, cutOff()
	}
}

func TestWhatFailedAttemptsTookCountsInTheLimits(t *testing.T) {
	for name, c := range map[string]struct {
		limits session.Limits
		reason session.Reason
		limit  session.Reason // that the resume meets, if another
		asked  int
	}{
		"tokens":            {session.Limits{MaxTotalTokens: 150}, session.ReasonMaxTokens, "", 2},
		"cost":              {session.Limits{MaxCost: 1.5}, session.ReasonMaxCost, "", 2},
		"at the last retry": {session.Limits{MaxCost: 3}, session.ReasonNetwork, session.ReasonMaxCost, 3},
	} {
		r := newRig(t, costly(4))
		r.Provider, r.Price = retrying(r.Provider), perTokenCent
		r.set(func(s *session.Settings) { s.Limits = c.limits })
		status := session.Paused
		if c.reason == session.ReasonNetwork {
			status = session.Interrupted
		}
		r.run("", status, c.reason)
		check(t, name+": requests", len(r.asked), c.asked)
		check(t, name+": tokens", r.log.state.Usage.Total, int64(100*c.asked))
		check(t, name+": cost", *r.log.state.Cost(), float64(c.asked))
		check(t, name+": the partial text", r.log.state.Main().Partial(), "half")
		r.run("", session.Paused, cmp.Or(c.limit, c.reason)) // a resume holds it
		check(t, name+": requests after a resume", len(r.asked), c.asked)
		r.set(func(s *session.Settings) { s.Limits = session.Limits{} })
		r.run("", session.Completed, "")
		r.answer("whole")
		check(t, name+": tokens in the end", r.log.state.Usage.Total, 400)
		r.log.replays(t)
	}
}

// A caller who gives up has the cause of his context for an error, and pays all
// the same.
func TestAnAttemptThatIsGivenUpIsPaidFor(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	r := newRig(t, model(func(ctx context.Context, _ provider.Request, emit func(provider.Event)) (provider.Reply, error) {
		stop(errors.New("enough"))
		emit(provider.Event{Lost: &message.Usage{Input: 100, Total: 100}})
		return provider.Reply{}, context.Cause(ctx)
	}))
	r.Price = perTokenCent
	r.runIn(ctx, "", session.Interrupted, session.ReasonSignal)
	check(t, "cost", *r.log.state.Cost(), 1)
	last := data[*session.RequestRetried](r.log)[0]
	if !last.GivenUp || last.Error == nil || last.Billed.Model == "" {
		t.Errorf("%+v", last)
	}
}

func TestEachModelOfAChainIsBilledForItself(t *testing.T) {
	r := newRig(t, costly(0))
	r.Provider = provider.Fallback(provider.Link{Name: "a/x", Provider: costly(1)}, provider.Link{Name: "b/y", Provider: costly(1)})
	r.Price = func(model string, u message.Usage) *float64 {
		cost := map[string]float64{"a/x": 1, "b/y": 10}[model]
		return &cost
	}
	r.run("", session.Interrupted, session.ReasonNetwork)
	check(t, "cost", *r.log.state.Cost(), 11)
}
