// Package ollama speaks Ollama's own protocol, /api/chat
// (https://docs.ollama.com/api/chat): one JSON value a line. It says more than
// Ollama's OpenAI endpoint: calls come whole, thinking has a field of its own.
package ollama

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options describes a model and the way to it. Only Model must be given.
type Options struct {
	Name        string            // used in errors and as the first half of message.Message's Model; default "ollama"
	Model       string            // as the server calls it, for example qwen3:8b
	BaseURL     string            // default http://localhost:11434; with or without /api
	APIKey      string            // sent as a bearer token, which ollama.com wants; empty: none
	Header      map[string]string // further headers; they win
	IdleTimeout time.Duration     // longest silence in an answer, before its first byte too (while the model is loaded); default 2m
	HTTPClient  *http.Client      // default sse.DefaultHTTP(); its redirect policy is not used
}

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	if o.Name == "" {
		o.Name = "ollama"
	}
	if o.BaseURL == "" {
		o.BaseURL = "http://localhost:11434"
	}
	header := map[string]string{"Accept": "application/x-ndjson"}
	for name, value := range o.Header {
		header[http.CanonicalHeaderKey(name)] = value
	}
	service := sse.Service{
		Name: o.Name, Model: o.Model, BaseURL: strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"), "/api"), Path: "/api/chat",
		APIKey: o.APIKey, Header: header, IdleTimeout: o.IdleTimeout, HTTPClient: o.HTTPClient,
	}
	c := &client{name: o.Name, model: o.Model}
	var err error
	c.http, c.address, c.header, err = service.Open()
	if err != nil {
		return nil, err
	}
	return c, nil
}

type client struct {
	name, model string
	address     string
	header      http.Header
	http        *sse.Client
}

// id is what messages of this model carry as message.Message's Model.
func (c *client) id() string { return c.name + "/" + c.model }

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	body, err := c.encode(req)
	if err != nil {
		return provider.Reply{}, c.http.Fail(provider.InvalidRequest, 0, "the request can't be encoded: %v", err)
	}
	answer, err := c.http.Post(ctx, c.address, c.header, body)
	if err != nil {
		return provider.Reply{}, hinted(err)
	}
	defer answer.Close()
	if answer.Status < 200 || answer.Status > 299 {
		return provider.Reply{}, hinted(c.http.Refused(ctx, answer))
	}
	return c.decode(ctx, answer, &builder{emit: emit, model: c.model})
}

// hinted says what to do about errors that everybody meets first.
func hinted(err error) error {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case strings.Contains(e.Message, "does not support tools"):
		e.Message += "; choose a model that does, or offer it none"
	case e.Kind == provider.Network && strings.Contains(e.Message, "connection refused"):
		e.Message += "; is Ollama running there?"
	case e.Kind == provider.NotFound && strings.Contains(e.Message, "not found"):
		e.Message += "; ollama pull fetches a model"
	}
	return e
}
