// Package responses speaks OpenAI's Responses protocol
// (https://platform.openai.com/docs/api-reference/responses), with OpenAI and
// with the servers that speak something like it. Nothing is kept by the
// service: the whole conversation is sent each time, reasoning in its encrypted
// form. It is lenient in what it reads and strict in one thing: a reply is
// returned only if it is complete.
package responses

import (
	"context"
	"sync/atomic"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options are those of all protocols. The name is openai-responses and the
// address https://api.openai.com/v1 by default; the key is sent as a bearer token.
type Options = sse.Options

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	http, err := sse.Service{Options: o.Or("openai-responses", "https://api.openai.com/v1"), Path: "/responses"}.Open()
	if err != nil {
		return nil, err
	}
	return &client{http: http}, nil
}

type client struct {
	http     *sse.Client
	unsealed atomic.Bool // the model doesn't reason: it refuses to be asked for its encrypted thoughts
}

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	left := leftOut{seal: c.unsealed.Load(), thoughts: sse.Silent(req.Messages, c.http.ID())}
	for {
		reply, err := c.ask(ctx, req, left, emit)
		if err == nil && left.thoughts {
			sse.MarkSilent(reply.Parts)
		}
		if err == nil || !left.more(err) {
			return reply, err
		}
		if left.seal {
			c.unsealed.Store(true)
		}
	}
}

func (c *client) ask(ctx context.Context, req provider.Request, left leftOut, emit func(provider.Event)) (provider.Reply, error) {
	return c.http.Exchange(ctx, req,
		func(req provider.Request) ([]byte, error) { return c.encode(req, left) },
		func(a *sse.Answer) (provider.Reply, error) { return c.decode(ctx, a, emit) })
}
