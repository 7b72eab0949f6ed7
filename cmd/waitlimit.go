package cmd

import (
	"context"
	"errors"
	"time"

	"kagent/pkg/agent"
	"kagent/pkg/session"
)

const (
	firstPause = time.Minute // before a limit is tried again that does not say when it ends
	mostPause  = 15 * time.Minute
)

// patiently runs a turn, and goes on with it as often as a rate limit has ended
// it, as long as --wait-limit allows. While it waits the session is saved as
// interrupted: whatever kills it, a resume goes on.
func (t *turn) patiently(ctx context.Context, r *agent.Runner, prompt string) (agent.Finish, error) {
	left, pause := t.display.waitLimit, firstPause
	for {
		end, err := r.Run(ctx, prompt)
		if err != nil || end.Status != session.Interrupted || end.Reason != session.ReasonRateLimit {
			return end, err
		}
		now := time.Now()
		at := end.End.RetryAt
		if at.IsZero() {
			at, pause = now.Add(pause), min(2*pause, mostPause)
		}
		until := t.journal.State().Settings.Limits.Until
		if at.Sub(now) > left || !until.IsZero() && at.After(until) {
			return end, nil
		}
		t.say("interrupted: rate_limit: waiting until %s", at.Local().Format(time.RFC3339))
		left, prompt = left-at.Sub(now), ""
		select {
		case <-time.After(at.Sub(now)):
		case <-ctx.Done():
			return t.woken(ctx, end)
		}
	}
}

// woken closes a turn that was waiting when the run was ended.
func (t *turn) woken(ctx context.Context, end agent.Finish) (agent.Finish, error) {
	var stop *agent.Stop
	if errors.As(context.Cause(ctx), &stop) {
		end.Status, end.Reason = stop.Status, stop.Reason
	}
	if end.Status == session.Cancelled {
		end.End.RetryAt, end.End.Error = time.Time{}, nil
	}
	end.End.Status, end.End.Reason = end.Status, end.Reason
	return end, t.journal.Mark(end.End)
}
