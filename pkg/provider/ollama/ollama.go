// Package ollama speaks Ollama's own protocol, /api/chat
// (https://docs.ollama.com/api/chat): one JSON value a line. It says more than
// Ollama's OpenAI endpoint: calls come whole, thinking has a field of its own.
package ollama

import (
	"context"
	"strings"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options are those of all protocols. The name is ollama and the address
// http://localhost:11434 by default, with or without /api; the key is sent as a
// bearer token, which ollama.com wants. IdleTimeout counts while a model is loaded.
type Options = sse.Options

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	o = o.Or("ollama", "http://localhost:11434")
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"), "/api")
	http, err := sse.Service{Options: o, Path: "/api/chat", Accept: "application/x-ndjson"}.Open()
	if err != nil {
		return nil, err
	}
	return &client{http}, nil
}

type client struct{ http *sse.Client }

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	return c.http.Exchange(ctx, req, c.encode,
		func(a *sse.Answer) (provider.Reply, error) {
			return c.decode(ctx, a, &builder{emit: emit, model: c.http.Model, limit: req.Options.MaxOutput})
		})
}
