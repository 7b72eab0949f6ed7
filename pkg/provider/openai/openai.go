// Package openai speaks OpenAI's Chat Completions protocol
// (https://platform.openai.com/docs/api-reference/chat), with OpenAI and with
// the many servers that speak something like it. It is lenient in what it
// reads and strict in one thing: a reply is returned only if it is complete.
package openai

import (
	"context"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options are those of all protocols. The name is openai and the address
// https://api.openai.com/v1 by default; the key is sent as a bearer token.
type Options = sse.Options

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	http, err := sse.Service{Options: o.Or("openai", "https://api.openai.com/v1"), Path: "/chat/completions"}.Open()
	if err != nil {
		return nil, err
	}
	return &client{http, makersOwn(http.Address)}, nil
}

type client struct {
	http *sse.Client
	own  bool // the service is OpenAI's, not one that speaks like it
}

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	return c.http.Exchange(ctx, req, c.encode,
		func(a *sse.Answer) (provider.Reply, error) { return c.decode(ctx, a, emit) })
}
