package provider

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// stuck is a provider that answers only when its context ends.
type stuck struct{ calls int }

func (s *stuck) Stream(ctx context.Context, _ Request, _ func(Event)) (Reply, error) {
	s.calls++
	<-ctx.Done()
	return Reply{}, context.Cause(ctx)
}

func TestAStepTakesNoLongerThanItsLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := StepTimeout(&stuck{}, "openai/m", 10*time.Minute).Stream(t.Context(), Request{}, func(Event) {})
		var e *Error
		if !errors.As(err, &e) || e.Kind != Timeout {
			t.Errorf("error %v, want a timeout", err)
		}
		if took := time.Since(start); took != 10*time.Minute {
			t.Errorf("took %v", took)
		}
		if want := "openai/m: timeout: no complete answer within 10m0s"; err.Error() != want {
			t.Errorf("error %q, want %q", err, want)
		}
	})
}

func TestTheCallersOwnEndStaysItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := errors.New("deadline of the session")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		_, err := StepTimeout(&stuck{}, "openai/m", 10*time.Minute).Stream(ctx, Request{}, func(Event) {})
		if !errors.Is(err, cause) {
			t.Errorf("error %v, want the caller's cause", err)
		}
	})
}

func TestAStepsErrorsAndRepliesPass(t *testing.T) {
	p := &answers{errs: []error{fail(Auth)}}
	limited := StepTimeout(p, "openai/m", time.Hour)
	if _, err := limited.Stream(t.Context(), Request{}, func(Event) {}); err == nil || err.Error() != fail(Auth).Error() {
		t.Errorf("error %v", err)
	}
	if reply, err := limited.Stream(t.Context(), Request{}, func(Event) {}); err != nil || reply.Model != "m" {
		t.Errorf("%v, %v", reply, err)
	}
	if StepTimeout(p, "openai/m", 0) != Provider(p) {
		t.Error("no limit is not no limit")
	}
}

func TestATimedOutStepIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stuck{}
		_, err := Retry(StepTimeout(p, "openai/m", time.Minute), RetryOptions{Retries: 2}).Stream(t.Context(), Request{}, func(Event) {})
		var e *Error
		if !errors.As(err, &e) || e.Kind != Timeout || p.calls != 3 {
			t.Errorf("%d calls, error %v", p.calls, err)
		}
	})
}
