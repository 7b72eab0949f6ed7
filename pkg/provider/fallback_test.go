package provider

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// link is a model of a chain that fails in some way, or answers.
func link(name string, asked *[]string, err error) Link {
	return Link{name, function(func(_ context.Context, req Request, emit func(Event)) (Reply, error) {
		*asked = append(*asked, name)
		emit(Event{Text: "half of " + name})
		return Reply{Model: "m of " + name}, err
	})}
}

type function func(context.Context, Request, func(Event)) (Reply, error)

func (f function) Stream(ctx context.Context, req Request, emit func(Event)) (Reply, error) {
	return f(ctx, req, emit)
}

func of(k Kind) error { return &Error{Kind: k, Provider: "p"} }

func TestAChainGoesOnWhereAnotherModelMayAnswer(t *testing.T) {
	for _, kind := range []Kind{Overloaded, RateLimit, Server, Network, Timeout, NotFound} {
		var asked []string
		var events []Event
		p := Fallback(link("a", &asked, of(kind)), link("b", &asked, nil), link("c", &asked, nil))
		reply, err := p.Stream(t.Context(), Request{}, func(e Event) { events = append(events, e) })
		if err != nil || reply.Asked != "b" || reply.Model != "m of b" || !slices.Equal(asked, []string{"a", "b"}) {
			t.Errorf("%s: %+v, %v, asked %q", kind, reply, err, asked)
		}
		if len(events) != 3 || events[1].Retry == nil || events[1].Retry.Next != "b" || events[1].Retry.Err.Kind != kind {
			t.Errorf("%s: what the first had streamed is not void: %+v", kind, events)
		}
	}
}

func TestAChainEndsAtAnErrorThatIsTheUsersToMend(t *testing.T) {
	for _, kind := range []Kind{Auth, Permission, Quota, InvalidRequest, ContextLength, ContentFilter} {
		var asked []string
		_, err := Fallback(link("a", &asked, of(kind)), link("b", &asked, nil)).Stream(t.Context(), Request{}, func(Event) {})
		var e *Error
		if !errors.As(err, &e) || e.Kind != kind || len(asked) != 1 {
			t.Errorf("%s: %v, asked %q", kind, err, asked)
		}
	}
}

func TestAChainOfFailuresTellsTheFirst(t *testing.T) {
	var asked []string
	_, err := Fallback(link("a", &asked, of(RateLimit)), link("b", &asked, of(Network))).Stream(t.Context(), Request{}, func(Event) {})
	var e *Error
	if !errors.As(err, &e) || e.Kind != RateLimit || len(asked) != 2 {
		t.Errorf("%v, asked %q", err, asked)
	}
}

// failing is a model of a chain that says when it may be asked again, some time
// after it was asked.
func failing(e *Error, after time.Duration) Link {
	return Link{e.Model, function(func(context.Context, Request, func(Event)) (Reply, error) {
		time.Sleep(after)
		return Reply{}, e
	})}
}

func TestAChainOfFailuresNamesEach(t *testing.T) {
	long := strings.Repeat("很长", 100)
	_, err := Fallback(
		failing(&Error{Kind: NotFound, Provider: "p", Model: "a", Status: 404, Message: "no such model"}, 0),
		failing(&Error{Kind: Server, Provider: "q", Model: "b", Status: 500, Message: "broken"}, 0),
		failing(&Error{Kind: Network, Provider: "r", Model: "c", Message: long}, 0),
	).Stream(t.Context(), Request{}, func(Event) {})
	want := "q/b: server (HTTP 500): broken; p/a: not_found (HTTP 404): no such model; r/c: network: " + long[:3*119] + "…"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// The kind whose exit code comes first decides; only what passes is waited for.
func TestWhatAChainOfFailuresComesTo(t *testing.T) {
	for _, c := range []struct {
		all   []Kind
		final bool // the last
		want  Kind
	}{
		{[]Kind{RateLimit, Network}, false, RateLimit},
		{[]Kind{NotFound, Timeout, Overloaded}, false, Timeout},
		{[]Kind{Overloaded, Auth}, false, Auth},
		{[]Kind{Overloaded, Quota}, false, Quota},
		{[]Kind{Overloaded, ContextLength}, false, ContextLength},
		{[]Kind{Overloaded, InvalidRequest}, false, Overloaded},
		{[]Kind{Overloaded, InvalidRequest}, true, InvalidRequest},
		{[]Kind{NotFound, InvalidRequest}, false, NotFound},
		{[]Kind{Server, Cancelled}, false, Cancelled},
	} {
		var links []Link
		for i, k := range c.all {
			links = append(links, failing(&Error{Kind: k, Final: c.final && i == len(c.all)-1, RetryAfter: time.Minute}, 0))
		}
		_, err := Fallback(links...).Stream(t.Context(), Request{}, func(Event) {})
		var e *Error
		if !errors.As(err, &e) || e.Kind != c.want || len(e.Others) != len(c.all)-1 || e.Final != c.final {
			t.Errorf("%v: %+v", c.all, err)
		}
	}
}

func TestAChainMayBeAskedAgainAsSoonAsOneOfItMay(t *testing.T) {
	const none = time.Duration(0)
	for _, c := range []struct{ a, b, later, want time.Duration }{
		{time.Hour, none, none, none}, // it may be well again in a second
		{none, 6 * time.Hour, none, none},
		{time.Hour, time.Minute, none, time.Minute},
		{time.Minute, time.Hour, 10 * time.Second, 50 * time.Second}, // the second has taken its time
		{time.Minute, time.Hour, 2 * time.Minute, none},
		{none, none, none, none},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := Fallback(
				failing(&Error{Kind: Server, RetryAfter: c.a}, time.Second),
				failing(&Error{Kind: RateLimit, RetryAfter: c.b}, c.later),
			).Stream(t.Context(), Request{}, func(Event) {})
			var e *Error
			if !errors.As(err, &e) || e.RetryAfter != c.want {
				t.Errorf("after %s, and %s told %s later: %+v", c.a, c.b, c.later, e)
			}
		})
	}
}

func TestAModelThatNamesNoWaitIsNotWaitedForForAnother(t *testing.T) {
	for kind, want := range map[Kind]time.Duration{
		Overloaded: 0, Server: 0, Network: 0, Timeout: 0, RateLimit: 0,
		NotFound: time.Hour, // waiting is of no use there
	} {
		synctest.Test(t, func(t *testing.T) {
			named := &Error{Kind: RateLimit, RetryAfter: time.Hour}
			for _, chain := range [][]Link{
				{failing(&Error{Kind: kind}, 0), failing(named, 0)},
				{failing(named, 0), failing(&Error{Kind: kind}, 0)},
			} {
				_, err := Fallback(chain...).Stream(t.Context(), Request{}, func(Event) {})
				var e *Error
				if !errors.As(err, &e) || e.RetryAfter != want {
					t.Errorf("%s: %+v", kind, err)
				}
			}
		})
	}
}

func TestACancelledChainAsksNobodyElse(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("stop")
	var asked []string
	first := Link{"a", function(func(context.Context, Request, func(Event)) (Reply, error) {
		cancel(why)
		return Reply{}, of(Network)
	})}
	if _, err := Fallback(first, link("b", &asked, nil)).Stream(ctx, Request{}, func(Event) {}); err != why || asked != nil {
		t.Errorf("%v, asked %q", err, asked)
	}
}

func TestAttemptsAreCountedOnAlongAChain(t *testing.T) {
	var seen []int
	last := Link{"b", function(func(_ context.Context, req Request, _ func(Event)) (Reply, error) {
		seen = append(seen, req.Label.Attempt)
		return Reply{}, nil
	})}
	var asked []string
	retried := Retry(link("a", &asked, of(Server)).Provider, RetryOptions{Retries: 2, Sleep: func(context.Context, time.Duration) error { return nil }})
	_, err := Fallback(Link{"a", retried}, last).Stream(t.Context(), Request{Label: Label{Attempt: 4}}, func(Event) {})
	if err != nil || len(asked) != 3 || !slices.Equal(seen, []int{7}) {
		t.Errorf("%v, asked %q, attempts %v", err, asked, seen)
	}
}
