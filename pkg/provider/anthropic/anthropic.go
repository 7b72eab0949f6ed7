// Package anthropic speaks Anthropic's Messages protocol
// (https://platform.claude.com/docs/en/api/messages), with Anthropic and with
// the gateways that have the same bodies. It is lenient in what it reads and
// strict in one thing: a reply is returned only if it is complete.
package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options describes a model and the way to it. Only Model must be given.
type Options struct {
	Name        string            // used in errors and as the first half of message.Message's Model; default "anthropic"
	Model       string            // as the service calls it
	BaseURL     string            // with or without /v1; default https://api.anthropic.com; a query is kept
	APIKey      string            // sent as x-api-key; empty: none
	Header      map[string]string // further headers; they win, but for anthropic-beta, which is added to
	IdleTimeout time.Duration     // longest silence in an answer, before its first byte too; default 2m
	HTTPClient  *http.Client      // default sse.DefaultHTTP(); its redirect policy is not used
}

const (
	apiVersion = "2023-06-01"
	// bindingBeta opens thinking.block_binding; see config.go.
	bindingBeta = "thinking-binding-controls-2026-08-01"
)

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	if o.Name == "" {
		o.Name = "anthropic"
	}
	if o.BaseURL == "" {
		o.BaseURL = "https://api.anthropic.com"
	}
	http, address, header, err := sse.Service{
		Name: o.Name, Model: o.Model, BaseURL: o.BaseURL, Path: path(o.BaseURL), APIKey: o.APIKey, KeyHeader: "X-Api-Key",
		Header: o.Header, IdleTimeout: o.IdleTimeout, HTTPClient: o.HTTPClient,
	}.Open()
	if err != nil {
		return nil, err
	}
	c := &client{o.Name, o.Model, traitsOf(o.Model), address, header, http}
	if header.Get("Anthropic-Version") == "" {
		header.Set("Anthropic-Version", apiVersion)
	}
	if c.traits.bound {
		betas := bindingBeta
		if asked := header.Get("Anthropic-Beta"); asked != "" {
			betas = asked + "," + betas
		}
		header.Set("Anthropic-Beta", betas)
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
	name, model string
	traits      traits
	address     string
	header      http.Header
	http        *sse.Client
}

// id is what messages of this model carry as message.Message's Model.
func (c *client) id() string { return c.name + "/" + c.model }

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	var left leftOut
	for {
		reply, err := c.ask(ctx, req, left, emit)
		if err == nil || !left.more(err) {
			return reply, err
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
