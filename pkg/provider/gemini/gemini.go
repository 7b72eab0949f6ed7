// Package gemini speaks the Gemini API (https://ai.google.dev/api), as
// streamGenerateContent. It reads the stream as server-sent events, as the JSON
// array that the service sends when it isn't asked for those, and as one whole
// JSON object, as proxies make of it. A reply is returned only if it is complete.
package gemini

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options describes a model and the way to it. Only Model must be given.
type Options struct {
	Name        string            // used in errors and as the first half of message.Message's Model; default "gemini"
	Model       string            // as the service calls it, for example gemini-3-flash-preview; with a slash it is a whole path below the base
	BaseURL     string            // default https://generativelanguage.googleapis.com/v1beta; /v1beta is added to a bare host
	APIKey      string            // sent as x-goog-api-key, never in the address; empty: none
	Header      map[string]string // further headers; they win
	IdleTimeout time.Duration     // longest silence in an answer, before its first byte too; default 2m
	HTTPClient  *http.Client      // default sse.DefaultHTTP(); its redirect policy is not used
}

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	if o.Name == "" {
		o.Name = "gemini"
	}
	header := map[string]string{}
	if key := strings.TrimSpace(o.APIKey); key != "" {
		header["X-Goog-Api-Key"] = key
	}
	for name, value := range o.Header {
		header[http.CanonicalHeaderKey(name)] = value
	}
	service := sse.Service{
		Name: o.Name, Model: o.Model, BaseURL: address(o.BaseURL, o.Model),
		Header: header, IdleTimeout: o.IdleTimeout, HTTPClient: o.HTTPClient,
	}
	c := &client{name: o.Name, model: o.Model}
	var err error
	c.http, c.address, c.header, err = service.Open()
	if err != nil {
		return nil, err
	}
	return c, nil
}

// address returns where to post to; a base that is no address it returns as it
// is, for the one who complains.
func address(base, model string) string {
	if base == "" {
		base = "https://generativelanguage.googleapis.com/v1beta"
	}
	u, err := url.Parse(strings.TrimSpace(base))
	if err != nil {
		return base
	}
	if strings.Trim(u.Path, "/") == "" {
		u = u.JoinPath("v1beta")
	}
	if !strings.Contains(model, "/") {
		model = "models/" + model
	}
	u = u.JoinPath(strings.ReplaceAll(url.PathEscape(model), "%2F", "/") + ":streamGenerateContent")
	query := u.Query()
	query.Set("alt", "sse")
	u.RawQuery = query.Encode()
	return u.String()
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
	reply, err := c.ask(ctx, req, emit)
	if refusesSignatures(err) {
		// It would refuse this conversation for ever; the request has emitted nothing.
		return c.ask(ctx, unsigned(req), emit)
	}
	return reply, err
}

// refusesSignatures reports whether the service does not know its own
// signatures any more.
func refusesSignatures(err error) bool {
	var failed *provider.Error
	if !errors.As(err, &failed) || failed.Status != http.StatusBadRequest {
		return false
	}
	words := strings.ReplaceAll(strings.ToLower(failed.Message), "_", " ")
	return strings.Contains(words, "thought signature") || strings.Contains(words, "thoughtsignature")
}

// unsigned is a request whose replies are nobody's own: without signatures,
// but for the one that tells the service not to look for them.
func unsigned(req provider.Request) provider.Request {
	req.Messages = slices.Clone(req.Messages)
	for i := range req.Messages {
		req.Messages[i].Model = ""
	}
	return req
}

func (c *client) ask(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
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
	return c.decode(ctx, answer, &builder{emit: emit, model: c.model, names: offered(req.Tools)})
}

// generation returns the number in names like gemini-2.5-flash, without what
// follows the dot; 0 if there is none: an alias or a model of somebody else,
// of which the newest is assumed.
func (c *client) generation() int {
	_, after, _ := strings.Cut(c.model, "gemini-")
	n := 0
	for _, r := range after {
		if r < '0' || r > '9' || n > 1000 {
			break
		}
		n = n*10 + int(r-'0')
	}
	return n
}

// before3 reports whether the model is older than Gemini 3, whose services
// check signatures and combine tools with structured output.
func (c *client) before3() bool { return c.generation() == 1 || c.generation() == 2 }
