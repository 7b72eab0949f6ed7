package anthropic

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// transport is an http.RoundTripper made of a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// open makes a provider, for a model m unless o says another.
func open(t testing.TB, o Options) provider.Provider {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://test"
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// canned answers every request with the same bytes.
func canned(body string) *http.Client {
	return &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	})}
}

// answered is the reply to a stream of these data.
func answered(t testing.TB, data ...string) (provider.Reply, error) {
	t.Helper()
	body := "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
	return open(t, Options{HTTPClient: canned(body)}).Stream(context.Background(), hello(), func(provider.Event) {})
}

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (*http.Request, string) {
	t.Helper()
	var got *http.Request
	var body []byte
	o.HTTPClient = &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		got = r
		body, _ = io.ReadAll(r.Body)
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(ok)), Request: r}, nil
	})}
	if _, err := open(t, o).Stream(t.Context(), req, func(provider.Event) {}); err != nil {
		t.Fatal(err)
	}
	return got, string(body)
}

const ok = `{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`

func hello() provider.Request {
	return provider.Request{Messages: []message.Message{say(message.User, message.Text("hi"))}}
}

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "anthropic/m"
	}
	return m
}
