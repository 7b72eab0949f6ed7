package provider

import (
	"context"
	"errors"
	"time"
)

// StepTimeout returns a provider that gives each of next's calls at most d;
// d <= 0 means no limit. A call that takes longer ends with an *Error of kind
// Timeout that tells of the model, "service/model". When the caller's own ctx
// ends, its cause is returned, not ours.
//
// Inside Retry it bounds one attempt, around Retry all of them and the waits.
func StepTimeout(next Provider, model string, d time.Duration) Provider {
	if d <= 0 {
		return next
	}
	return &stepTimeout{next, model, d}
}

type stepTimeout struct {
	next  Provider
	model string
	d     time.Duration
}

func (s *stepTimeout) Stream(ctx context.Context, req Request, emit func(Event)) (Reply, error) {
	late := &Error{Kind: Timeout, Provider: s.model, Message: "no complete answer within " + s.d.String()}
	step, cancel := context.WithTimeoutCause(ctx, s.d, late)
	defer cancel()
	reply, err := s.next.Stream(step, req, emit)
	switch {
	case err == nil:
		return reply, nil
	case ctx.Err() != nil:
		return Reply{}, context.Cause(ctx)
	case errors.Is(err, late) || errors.Is(err, context.DeadlineExceeded):
		return Reply{}, late
	}
	return Reply{}, err
}
