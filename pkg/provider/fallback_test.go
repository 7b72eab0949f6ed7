package provider

import (
	"context"
	"errors"
	"slices"
	"testing"
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
