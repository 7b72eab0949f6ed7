package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

// open makes a provider for a model m on a host named test.
func open(t testing.TB, o Options) provider.Provider {
	t.Helper()
	if o.Model == "" {
		o.Model = "m"
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://test/v1"
	}
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// heard collects what a stream emits.
type heard struct{ text, reasoning strings.Builder }

func (h *heard) emit(e provider.Event) {
	h.text.WriteString(e.Text)
	h.reasoning.WriteString(e.Reasoning)
}

var hello = providertest.Hello()

// decodeAll feeds a body to a provider and checks that what was emitted is
// what the reply says.
func decodeAll(t testing.TB, status int, header http.Header, body io.Reader) (provider.Reply, error) {
	t.Helper()
	var h heard
	reply, err := open(t, Options{HTTPClient: providertest.Canned(status, header, body)}).Stream(context.Background(), hello, h.emit)
	if err != nil {
		if errors.As(err, new(*provider.Error)) && reply.Parts != nil {
			t.Errorf("a reply and an error: %v", reply)
		}
		return reply, err
	}
	if got := h.text.String(); got != textOf(reply) {
		t.Errorf("emitted text %q, reply has %q", got, textOf(reply))
	}
	if got := h.reasoning.String(); got != reasoningOf(reply) {
		t.Errorf("emitted reasoning %q, reply has %q", got, reasoningOf(reply))
	}
	return reply, nil
}

func textOf(r provider.Reply) string { return message.Message{Parts: r.Parts}.Text() }

func callsOf(r provider.Reply) []message.ToolCall { return message.Message{Parts: r.Parts}.Calls() }

func reasoningOf(r provider.Reply) string {
	var s string
	for _, p := range r.Parts {
		if p.Type == message.TypeReasoning {
			s += p.Text
		}
	}
	return s
}

// failed returns err as a provider's error, and fails the test if it is none.
func failed(t testing.TB, err error) *provider.Error {
	t.Helper()
	var e *provider.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *provider.Error", err)
	}
	return e
}
