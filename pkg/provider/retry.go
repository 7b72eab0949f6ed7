package provider

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// RetryOptions says how stubborn Retry is. The zero value never retries.
type RetryOptions struct {
	Retries int           // further attempts after the first
	MaxWait time.Duration // longest wait between two attempts; 0: one minute

	Sleep func(context.Context, time.Duration) error // nil: a timer; returns ctx's cause when ctx ends first
	Rand  func() float64                             // nil: math/rand/v2; in [0, 1)
}

// firstWait is the upper end of the wait after the first failure; it doubles.
const firstWait = time.Second

// Retry returns a provider that asks next again when an error may pass
// (Kind.Retryable, unless Error.Once). Before each wait it emits a Retry event: whatever the
// failed attempt had streamed is void. Attempts are numbered on from
// req.Label.Attempt.
//
// A wait that the server asks for is never cut short. If it asks for more than
// MaxWait, its error is returned at once, RetryAfter and all: the caller knows
// better than a sleeping process what to do until then.
func Retry(next Provider, o RetryOptions) Provider {
	if o.MaxWait <= 0 {
		o.MaxWait = time.Minute
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return &retry{next, o}
}

type retry struct {
	next Provider
	o    RetryOptions
}

func (r *retry) Stream(ctx context.Context, req Request, emit func(Event)) (Reply, error) {
	req.Label.Attempt = max(req.Label.Attempt, 1)
	for tries := 0; ; tries++ {
		reply, err := r.next.Stream(ctx, req, emit)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return Reply{}, context.Cause(ctx)
		}
		var failed *Error
		if !errors.As(err, &failed) || !failed.Kind.Retryable() || failed.Once || tries >= r.o.Retries || failed.RetryAfter > r.o.MaxWait {
			return Reply{}, err
		}
		delay := r.wait(tries, failed.RetryAfter)
		emit(Event{Retry: &Retrying{Attempt: req.Label.Attempt, Delay: delay, Err: failed}})
		if ctx.Err() != nil { // whoever heard it may have had enough
			return Reply{}, context.Cause(ctx)
		}
		if err := r.o.Sleep(ctx, delay); err != nil {
			return Reply{}, err
		}
		req.Label.Attempt++
	}
}

// wait returns the pause after that many earlier failures: exponential with
// half of it random, or what the server asked for and up to a quarter more, so
// that many clients don't come back in the same instant.
func (r *retry) wait(failures int, asked time.Duration) time.Duration {
	jitter := func(d time.Duration) time.Duration { return time.Duration(r.o.Rand() * float64(d)) }
	if asked > 0 {
		return min(asked+jitter(min(asked/4, firstWait)), r.o.MaxWait)
	}
	d := r.o.MaxWait
	if failures < 30 { // beyond, the shift would overflow
		d = min(firstWait<<failures, r.o.MaxWait)
	}
	return d/2 + jitter(d/2)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
