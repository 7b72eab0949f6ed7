// Package responses speaks OpenAI's Responses protocol
// (https://platform.openai.com/docs/api-reference/responses), with OpenAI and
// with the servers that speak something like it. Nothing is kept by the
// service: the whole conversation is sent each time, reasoning in its encrypted
// form. It is lenient in what it reads and strict in one thing: a reply is
// returned only if it is complete.
package responses

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options describes a model and the way to it. Only Model must be given.
type Options struct {
	Name        string            // used in errors and as the first half of message.Message's Model; default "openai-responses"
	Model       string            // as the service calls it
	BaseURL     string            // default https://api.openai.com/v1; a query is kept
	APIKey      string            // sent as a bearer token; empty: none
	Header      map[string]string // further headers; they win
	IdleTimeout time.Duration     // longest silence in an answer, before its first byte too; default 2m
	HTTPClient  *http.Client      // default sse.DefaultHTTP(); its redirect policy is not used
}

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	if o.Name == "" {
		o.Name = "openai-responses"
	}
	if o.BaseURL == "" {
		o.BaseURL = "https://api.openai.com/v1"
	}
	http, address, header, err := sse.Service{
		Name: o.Name, Model: o.Model, BaseURL: o.BaseURL, Path: "/responses", APIKey: o.APIKey,
		Header: o.Header, IdleTimeout: o.IdleTimeout, HTTPClient: o.HTTPClient,
	}.Open()
	if err != nil {
		return nil, err
	}
	return &client{name: o.Name, model: o.Model, address: address, header: header, http: http}, nil
}

type client struct {
	name, model string
	address     string
	header      http.Header
	http        *sse.Client
	unsealed    atomic.Bool // the model doesn't reason: it refuses to be asked for its encrypted thoughts
}

// id is what messages of this model carry as message.Message's Model.
func (c *client) id() string { return c.name + "/" + c.model }

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	left := leftOut{seal: c.unsealed.Load(), thoughts: c.silent(req.Messages)}
	for {
		reply, err := c.ask(ctx, req, left, emit)
		if err == nil && left.thoughts {
			markSilent(reply.Parts)
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
	body, err := c.encode(req, left)
	if err != nil {
		return provider.Reply{}, c.http.Fail(provider.InvalidRequest, 0, "the request can't be encoded: %v", err)
	}
	answer, err := c.http.Post(ctx, c.address, c.header, body)
	if err != nil {
		return provider.Reply{}, err
	}
	defer answer.Close()
	if answer.Status < 200 || answer.Status > 299 {
		return provider.Reply{}, c.http.Refused(ctx, answer)
	}
	return c.decode(ctx, answer, emit)
}
