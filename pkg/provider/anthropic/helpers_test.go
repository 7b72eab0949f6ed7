package anthropic

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/providertest"
)

type transport = providertest.Transport

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

// answered is the reply to a stream of these data.
func answered(t testing.TB, data ...string) (provider.Reply, error) {
	t.Helper()
	body := "data: " + strings.Join(data, "\n\ndata: ") + "\n\n"
	return open(t, Options{HTTPClient: providertest.Canned(http.StatusOK, nil, strings.NewReader(body))}).Stream(context.Background(), hello(), func(provider.Event) {})
}

// sent returns what a provider sends for req.
func sent(t testing.TB, o Options, req provider.Request) (*http.Request, string) {
	t.Helper()
	return providertest.Sent(t, func(c *http.Client) (provider.Provider, error) {
		o.Model, o.BaseURL, o.HTTPClient = cmp.Or(o.Model, "m"), cmp.Or(o.BaseURL, "http://test"), c
		return New(o)
	}, ok, req)
}

const ok = `{"type":"message","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn"}`

func hello() provider.Request { return providertest.Hello() }

func say(role message.Role, parts ...message.Part) message.Message {
	m := message.Message{Role: role, Parts: parts}
	if role == message.Assistant {
		m.Model = "anthropic/m"
	}
	return m
}
