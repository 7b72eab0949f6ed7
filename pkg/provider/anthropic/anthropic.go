// Package anthropic speaks Anthropic's Messages protocol
// (https://platform.claude.com/docs/en/api/messages), with Anthropic and with
// the gateways that have the same bodies. It is lenient in what it reads and
// strict in one thing: a reply is returned only if it is complete.
package anthropic

import (
	"context"
	"net/url"
	"strings"
	"sync/atomic"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options are those of all protocols. The name is anthropic and the address
// https://api.anthropic.com by default, with or without /v1; the key is sent as
// x-api-key. A header anthropic-beta is added to.
type Options = sse.Options

const (
	apiVersion = "2023-06-01"
	// bindingBeta opens thinking.block_binding; see config.go.
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	o = o.Or("anthropic", "https://api.anthropic.com")
	http, err := sse.Service{Options: o, Path: path(o.BaseURL), KeyHeader: "X-Api-Key"}.Open()
	if err != nil {
		return nil, err
	}
	c := &client{http: http, traits: traitsOf(o.Model)}
	if http.Header.Get("Anthropic-Version") == "" {
		http.Header.Set("Anthropic-Version", apiVersion)
	}
	if c.traits.bound {
		betas := bindingBeta
		if asked := http.Header.Get("Anthropic-Beta"); asked != "" {
			betas = asked + "," + betas
		}
		http.Header.Set("Anthropic-Beta", betas)
	}
	return c, nil
}

// path returns what a base URL lacks.
func path(base string) string {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return ""
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/v1"), strings.HasSuffix(path, "/messages"):
		return "/messages"
	}
	return "/v1/messages"
}

type client struct {
	http    *sse.Client
	traits  traits
	unbound atomic.Bool // a gateway does not know block_binding
}

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	left := leftOut{thoughts: sse.Silent(req.Messages, c.http.ID()), binding: c.unbound.Load()}
	for {
		reply, err := c.ask(ctx, req, left, emit)
		if err == nil && left.thoughts {
			sse.MarkSilent(reply.Parts)
		}
		if err == nil || !left.more(err) {
			return reply, err
		}
		if left.binding {
			c.unbound.Store(true)
		}
	}
}

func (c *client) ask(ctx context.Context, req provider.Request, left leftOut, emit func(provider.Event)) (provider.Reply, error) {
	return c.http.Exchange(ctx, req,
		func(req provider.Request) ([]byte, error) { return c.encode(req, left) },
		func(a *sse.Answer) (provider.Reply, error) { return c.decode(ctx, a, emit) })
}
