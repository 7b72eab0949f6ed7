package agent

import (
	"context"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/session"
)

// A model call is paid for when it is made: what it may come to is held until
// the log says what it came to. So of children that run together none spends
// what another has in hand, and a limit is passed by no more than what was
// under way when it was reached.

// exhausted is how a turn ends that may not ask the model again, nil if it may.
func (r *run) exhausted() *Finish {
	reason, why := r.Journal.State().Exhausted(r.flying)
	if reason == "" {
		return nil
	}
	f := because(session.Paused, reason, why)
	return &f
}

// overspent is how a turn ends whose call has failed at that price, nil if the
// model may be asked once more for what is held for the call.
func (r *run) overspent(b session.Billed, held session.Spending) *Finish {
	if b.Usage == nil {
		return nil
	}
	reason, why := r.Journal.State().ExhaustedBy(b, r.flying.Less(held))
	if reason == "" {
		return nil
	}
	f := because(session.Paused, reason, why)
	return &f
}

// asking makes a model call on account.
func (r *run) asking(held session.Spending, call func()) {
	r.flying = r.flying.Add(held)
	r.outside(call)
	r.flying = r.flying.Less(held)
}

// perToken is how many characters of a request are taken for a token.
const perToken = 4

// estimate is what a request of so many characters costs before its first word
// is answered.
func (r *run) estimate(model string, chars int) session.Spending {
	model, _, _ = strings.Cut(model, ",") // of a chain the first is asked
	held := session.Spending{Steps: 1, Tokens: int64(chars / perToken)}
	if r.Price != nil {
		if cost := r.Price(model, message.Usage{Input: held.Tokens}); cost != nil {
			held.Cost = *cost
		}
	}
	return held
}

// inTime ends the context when the session's time is over, whatever it waits
// for.
func (r *Runner) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	left, limited := r.Journal.State().TimeLeft(r.now())
	if !limited {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, left, &Stop{Status: session.Paused, Reason: session.ReasonDeadline})
}
