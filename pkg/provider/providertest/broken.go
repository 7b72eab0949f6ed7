package providertest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"kagent/pkg/provider"
)

// F067, F070, F077: bytes that are no answer, though the status is 200.
func testNoAnswer(t *testing.T, a Adapter) {
	half := a.Wire.frame(a.Wire.Answer(Answer{Text: Literals("The answer is 4", 5)})[:2])
	whole := a.Wire.frame(a.Wire.Answer(Answer{Text: Literals("The answer is 4", 5)}))
	oops := Event{Data: "{oops}"}
	for name, c := range map[string]struct {
		body string
		kind provider.Kind
		says string
	}{
		"nothing":           {"", provider.Network, ""},
		"blanks":            {" \n\n", provider.Network, ""},
		"an error":          {a.Wire.frame(a.Wire.Error("too busy: m1")), provider.Overloaded, "m1"},
		"an error later":    {half + a.Wire.frame(a.Wire.Error("too busy: m1")), provider.Overloaded, "m1"},
		"an error body":     {a.Wire.Body("m1 went wrong"), "", "m1 went wrong"},
		"another value":     {`{"status":"fine"}`, "", ""},
		"no JSON":           {half + a.Wire.frame([]Event{oops}) + whole, provider.Server, ""},
		"no JSON at all":    {"upstream connect error\nor disconnect\n", "", ""},
		"a web page":        {"\n<!DOCTYPE html>\n<html><head><title>Log in</title>", provider.Server, "Log in"},
		"only unknown ones": {a.Wire.frame(a.Wire.Unknown), "", ""},
	} {
		for _, r := range []io.Reader{strings.NewReader(c.body), iotest.OneByteReader(strings.NewReader(c.body))} {
			reply, err := a.answer(t, r)
			if err == nil {
				t.Errorf("%s became %+v", name, reply)
				continue
			}
			if e := failed(t, err); c.kind != "" && e.Kind != c.kind || !strings.Contains(e.Message, c.says) {
				t.Errorf("%s: %v, want %s: %s", name, e, c.kind, c.says)
			}
		}
	}
	if !a.Wire.NDJSON {
		_, err := a.answer(t, strings.NewReader(": hello\n\n"))
		if e := failed(t, err); e.Kind != provider.Network {
			t.Errorf("only a comment: %v", e)
		}
	}
}

// F082: silence is a timeout, wherever it begins. The clock is synctest's.
func testSilence(t *testing.T, a Adapter) {
	events := a.Wire.Answer(example())
	for name, answer := range map[string]Transport{
		"before the head": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
		"before the first byte": func(r *http.Request) (*http.Response, error) { return slow(r), nil },
		"in the middle": func(r *http.Request) (*http.Response, error) {
			return slow(r, a.Wire.frame(events[:1]), a.Wire.frame(events[1:len(events)/2])), nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			_, err := a.ask(t, Options{HTTPClient: &http.Client{Transport: answer}, Idle: time.Minute})
			if e := failed(t, err); e.Kind != provider.Timeout {
				t.Errorf("%s: %v", name, e)
			}
			if took := time.Since(start); took < time.Minute || took > 3*time.Minute {
				t.Errorf("%s: took %v", name, took)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) { // slow, but never silent for too long
		var pieces []string
		for _, e := range events {
			pieces = append(pieces, a.Wire.frame([]Event{e}))
		}
		_, err := a.ask(t, Options{Idle: time.Minute, HTTPClient: &http.Client{
			Transport: Transport(func(r *http.Request) (*http.Response, error) { return slow(r, append(pieces, "")...), nil }),
		}})
		if err != nil {
			t.Errorf("slow: %v", err)
		}
	})
}

// slow answers with the pieces, 50 s apart, and then is silent; an empty piece
// is the regular end.
func slow(req *http.Request, pieces ...string) *http.Response {
	r, w := io.Pipe()
	go func() {
		for _, p := range pieces {
			select {
			case <-time.After(50 * time.Second):
			case <-req.Context().Done():
			}
			if p == "" {
				w.Close()
				return
			}
			if _, err := io.WriteString(w, p); err != nil {
				return
			}
		}
		<-req.Context().Done()
		w.CloseWithError(req.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Body: r, Request: req}
}

// testCancelled: when the caller ends, its cause is the error, whatever came.
func testCancelled(t *testing.T, a Adapter) {
	cause := errors.New("ctrl-c")
	ctx, cancel := context.WithCancelCause(t.Context())
	body := io.MultiReader(
		strings.NewReader(a.Wire.frame(a.Wire.Answer(example())[:len(a.Wire.Answer(example()))-1])),
		iotest.ErrReader(context.Canceled))
	p := a.open(t, Options{HTTPClient: Canned(http.StatusOK, nil, iotest.OneByteReader(body))})
	reply, err := p.Stream(ctx, Hello(), func(provider.Event) { cancel(cause) })
	if err != cause {
		t.Errorf("%v, %v; want the cause", reply, err)
	}
}
