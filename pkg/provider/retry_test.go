package provider

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"
)

// answers is a provider that fails with its errors one by one, then replies.
type answers struct {
	errs     []error
	attempts []int // the labels that it saw
}

func (a *answers) Stream(_ context.Context, req Request, emit func(Event)) (Reply, error) {
	a.attempts = append(a.attempts, req.Label.Attempt)
	emit(Event{Text: "half"})
	if n := len(a.attempts); n <= len(a.errs) && a.errs[n-1] != nil {
		return Reply{}, a.errs[n-1]
	}
	return Reply{Model: "m"}, nil
}

// clock notes the sleeps and takes no time.
type clock struct {
	slept []time.Duration
	then  func() // called in each sleep
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	if c.then != nil {
		c.then()
	}
	return context.Cause(ctx)
}

func fail(k Kind) error { return &Error{Kind: k, Provider: "p"} }

func failAfter(k Kind, d time.Duration) error { return &Error{Kind: k, Provider: "p", RetryAfter: d} }

// F089: what can pass is retried as often as allowed, what can't not at all.
func TestOnlyPassingErrorsAreRetried(t *testing.T) {
	retried := map[Kind]bool{RateLimit: true, Overloaded: true, Server: true, Network: true, Timeout: true}
	for _, k := range []Kind{
		Auth, Permission, Quota, RateLimit, Overloaded, ContextLength, InvalidRequest,
		NotFound, ContentFilter, Server, Network, Timeout, Cancelled,
	} {
		p, c := &answers{errs: []error{fail(k), fail(k), fail(k), fail(k), fail(k)}}, &clock{}
		_, err := Retry(p, RetryOptions{Retries: 3, Sleep: c.sleep}).Stream(t.Context(), Request{}, func(Event) {})
		want := 1
		if retried[k] {
			want = 4
		}
		if len(p.attempts) != want || len(c.slept) != want-1 {
			t.Errorf("%s: %d attempts, %d waits, want %d", k, len(p.attempts), len(c.slept), want)
		}
		var e *Error
		if !errors.As(err, &e) || e.Kind != k {
			t.Errorf("%s: error %v", k, err)
		}
	}
}

func TestForeignErrorsAreNotRetried(t *testing.T) {
	p := &answers{errs: []error{errors.New("disk on fire")}}
	_, err := Retry(p, RetryOptions{Retries: 3}).Stream(t.Context(), Request{}, func(Event) {})
	if len(p.attempts) != 1 || err == nil || err.Error() != "disk on fire" {
		t.Errorf("%d attempts, error %v", len(p.attempts), err)
	}
}

func TestAttemptsAreCountedOnAndAnnounced(t *testing.T) {
	p, c := &answers{errs: []error{fail(Network), fail(Server)}}, &clock{}
	var events []Event
	emit := func(e Event) {
		if e.Retry != nil && len(c.slept) != len(events)/2 {
			t.Error("announced after the wait")
		}
		events = append(events, e)
	}
	retry := Retry(p, RetryOptions{Retries: 5, Sleep: c.sleep, Rand: func() float64 { return 0.5 }})
	reply, err := retry.Stream(t.Context(), Request{Label: Label{Attempt: 7}}, emit)
	if err != nil || reply.Model != "m" {
		t.Fatal(reply, err)
	}
	if want := []int{7, 8, 9}; !reflect.DeepEqual(p.attempts, want) {
		t.Errorf("attempts %v, want %v", p.attempts, want)
	}
	want := []Event{
		{Text: "half"},
		{Retry: &Retrying{7, 750 * time.Millisecond, fail(Network).(*Error), ""}},
		{Text: "half"},
		{Retry: &Retrying{8, 1500 * time.Millisecond, fail(Server).(*Error), ""}},
		{Text: "half"},
	}
	if !reflect.DeepEqual(events, want) {
		t.Errorf("events %v, want %v", events, want)
	}
}

func TestWaitsGrowUpToTheLimitAndAreRandom(t *testing.T) {
	for _, random := range []float64{0, 0.999} {
		var errs []error
		for range 70 {
			errs = append(errs, fail(Server))
		}
		p, c := &answers{errs: errs}, &clock{}
		o := RetryOptions{Retries: 70, MaxWait: 10 * time.Second, Sleep: c.sleep, Rand: func() float64 { return random }}
		if _, err := Retry(p, o).Stream(t.Context(), Request{}, func(Event) {}); err != nil {
			t.Fatal(err)
		}
		for i, d := range c.slept {
			top := o.MaxWait
			if i < 4 {
				top = time.Second << i
			}
			if d < top/2 || d > top || (random == 0) != (d == top/2) {
				t.Errorf("wait %d is %v with random %v, want between %v and %v", i, d, random, top/2, top)
			}
		}
	}
}

func TestTheServersWaitIsKeptAndNeverCutShort(t *testing.T) {
	for _, random := range []float64{0, 0.999} {
		p, c := &answers{errs: []error{failAfter(RateLimit, 9*time.Second), failAfter(Overloaded, time.Minute)}}, &clock{}
		o := RetryOptions{Retries: 3, MaxWait: time.Minute, Sleep: c.sleep, Rand: func() float64 { return random }}
		if _, err := Retry(p, o).Stream(t.Context(), Request{}, func(Event) {}); err != nil {
			t.Fatal(err)
		}
		if d := c.slept[0]; d < 9*time.Second || d > 10*time.Second {
			t.Errorf("waited %v, want 9s and a little", d)
		}
		if d := c.slept[1]; d != time.Minute {
			t.Errorf("waited %v, want 1m", d)
		}
	}
}

func TestAWaitBeyondTheLimitIsTheCallersBusiness(t *testing.T) {
	p, c := &answers{errs: []error{failAfter(RateLimit, time.Hour)}}, &clock{}
	var retries int
	_, err := Retry(p, RetryOptions{Retries: 3, MaxWait: time.Minute, Sleep: c.sleep}).
		Stream(t.Context(), Request{}, func(e Event) {
			if e.Retry != nil {
				retries++
			}
		})
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter != time.Hour || e.Kind != RateLimit {
		t.Errorf("error %#v, want the server's with its hour", err)
	}
	if len(p.attempts) != 1 || len(c.slept) != 0 || retries != 0 {
		t.Errorf("%d attempts, %d waits, %d announcements", len(p.attempts), len(c.slept), retries)
	}
}

func TestCancellationEndsTheWait(t *testing.T) {
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(t.Context())
	p, c := &answers{errs: []error{fail(Network), fail(Network)}}, &clock{then: func() { cancel(cause) }}
	_, err := Retry(p, RetryOptions{Retries: 3, Sleep: c.sleep}).Stream(ctx, Request{}, func(Event) {})
	if !errors.Is(err, cause) || len(p.attempts) != 1 {
		t.Errorf("error %v after %d attempts", err, len(p.attempts))
	}
	// Once more: ended already, it is neither announced nor waited for.
	_, err = Retry(p, RetryOptions{Retries: 3, Sleep: c.sleep}).Stream(ctx, Request{}, func(e Event) {
		if e.Retry != nil {
			t.Error("announced a retry that won't be")
		}
	})
	if !errors.Is(err, cause) || len(c.slept) != 1 {
		t.Errorf("error %v after %d waits", err, len(c.slept))
	}
}
