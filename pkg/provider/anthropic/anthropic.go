// Package anthropic speaks Anthropic's Messages protocol
// (https://platform.claude.com/docs/en/api/messages), with Anthropic and with
// the gateways that have the same bodies. It is lenient in what it reads and
// strict in one thing: a reply is returned only if it is complete.
package anthropic

import (
	"context"
	"errors"
	"fmt"
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
	if o.HTTPClient == nil {
		o.HTTPClient = sse.DefaultHTTP()
	}
	if o.Model == "" {
		return nil, errors.New(o.Name + ": no model given")
	}
	address, password, err := endpoint(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Name, err)
	}
	c := &client{name: o.Name, model: o.Model, traits: traitsOf(o.Model), address: address}
	key := strings.TrimSpace(o.APIKey)
	c.header = c.headers(key, o.Header)
	for name, values := range c.header {
		if strings.ContainsFunc(values[0], func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, fmt.Errorf("%s: the value of header %s holds a control character", o.Name, name)
		}
	}
	secrets := []string{key, password}
	for _, value := range o.Header {
		secrets = append(secrets, strings.TrimPrefix(value, "Bearer "))
	}
	c.http = &sse.Client{HTTP: o.HTTPClient, Idle: o.IdleTimeout, Provider: o.Name, Model: o.Model, Secrets: secrets}
	return c, nil
}

func (c *client) headers(key string, further map[string]string) http.Header {
	h := http.Header{
		"Content-Type":      {"application/json"},
		"Accept":            {"text/event-stream"},
		"User-Agent":        {"kagent"},
		"Anthropic-Version": {apiVersion},
	}
	if key != "" {
		h.Set("X-Api-Key", key)
	}
	for name, value := range further {
		h.Set(name, value)
	}
	if c.traits.bound {
		betas := bindingBeta
		if asked := h.Get("Anthropic-Beta"); asked != "" {
			betas = asked + "," + betas
		}
		h.Set("Anthropic-Beta", betas)
	}
	return h
}

// endpoint returns the address to post to and the password in it, if any.
// Its errors don't show the address, which may hold credentials.
func endpoint(base string) (address, password string, err error) {
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", "", errors.New("the base URL is not an http:// or https:// address")
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.HasSuffix(path, "/messages"):
	case strings.HasSuffix(path, "/v1"):
		u = u.JoinPath("messages")
	default:
		u = u.JoinPath("v1", "messages")
	}
	u.Fragment = ""
	password, _ = u.User.Password()
	return u.String(), password, nil
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
	body, err := c.encode(req)
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
