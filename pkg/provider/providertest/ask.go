package providertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// Transport is an http.RoundTripper made of a function.
type Transport func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f Transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// Answered is the response to a request.
func Answered(r *http.Request, status int, body string) *http.Response {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Request: r}
}

// Canned answers every request with the same bytes.
func Canned(status int, header http.Header, body io.Reader) *http.Client {
	if header == nil {
		header = http.Header{}
	}
	return &http.Client{Transport: Transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), Request: r}, nil
	})}
}

// dripping returns a client over real connections, of which it reads at most n
// bytes at a time; 0 is no limit.
func dripping(t testing.TB, n int) *http.Client {
	var dialer net.Dialer
	tr := &http.Transport{
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			c, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &drip{c, bufio.NewReader(c), n}, nil
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

type drip struct {
	net.Conn
	buffer *bufio.Reader
	n      int
}

func (d *drip) Read(p []byte) (int, error) {
	if d.n > 0 && len(p) > d.n {
		p = p[:d.n]
	}
	return d.buffer.Read(p)
}

// answer feeds bytes with status 200 to the adapter.
func (a Adapter) answer(t testing.TB, body io.Reader) (provider.Reply, error) {
	t.Helper()
	return a.ask(t, Options{HTTPClient: Canned(http.StatusOK, nil, body)})
}

// ask sends hello and checks what holds for every reply: what was emitted is
// what the reply says, and an error comes without one.
func (a Adapter) ask(t testing.TB, o Options) (provider.Reply, error) {
	t.Helper()
	return stream(t, a.open(t, o), Hello())
}

func stream(t testing.TB, p provider.Provider, req provider.Request) (provider.Reply, error) {
	t.Helper()
	var text, reasoning strings.Builder
	reply, err := p.Stream(t.Context(), req, func(e provider.Event) {
		text.WriteString(e.Text)
		reasoning.WriteString(e.Reasoning)
	})
	if err != nil {
		if reply.Parts != nil {
			t.Errorf("a reply and an error: %v, %v", reply, err)
		}
		return reply, err
	}
	if got := text.String(); got != textOf(reply) {
		t.Errorf("emitted text %.200q, reply has %.200q", got, textOf(reply))
	}
	if got := reasoning.String(); got != reasoningOf(reply) {
		t.Errorf("emitted reasoning %.200q, reply has %.200q", got, reasoningOf(reply))
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

// failed returns err as a provider's error that is fit to be shown, and fails
// the test if it is none.
func failed(t testing.TB, err error) *provider.Error {
	t.Helper()
	e, problem := judged(err)
	switch {
	case e == nil:
		t.Fatal(problem)
	case problem != "":
		t.Error(problem)
	}
	return e
}

func judged(err error) (e *provider.Error, problem string) {
	if !errors.As(err, &e) {
		return nil, fmt.Sprintf("got %v, want a *provider.Error", err)
	}
	s := e.Error()
	if strings.Contains(s, "SECRET") || strings.ContainsAny(s, "\n\r\x00\x1b") || len(s) > 2500 || e.Message == "" || e.Model != "m" {
		problem = fmt.Sprintf("the error is not fit to be shown: %#v", e)
	}
	return e, problem
}
