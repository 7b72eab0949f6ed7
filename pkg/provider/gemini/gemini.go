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

	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Options are those of all protocols. The name is gemini and the address
// https://generativelanguage.googleapis.com/v1beta by default; /v1beta is added to
// a bare host. A model with a slash is a whole path below it. The key is sent as
// x-goog-api-key, never in the address.
type Options = sse.Options

// New checks the options; nothing is sent yet.
func New(o Options) (provider.Provider, error) {
	o = o.Or("gemini", "https://generativelanguage.googleapis.com/v1beta")
	o.BaseURL = address(o.BaseURL, o.Model)
	http, err := sse.Service{Options: o, KeyHeader: "X-Goog-Api-Key"}.Open()
	if err != nil {
		return nil, err
	}
	return &client{http}, nil
}

// address returns where to post to; a base that is no address it returns as it
// is, for the one who complains.
func address(base, model string) string {
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

type client struct{ http *sse.Client }

func (c *client) Stream(ctx context.Context, req provider.Request, emit func(provider.Event)) (provider.Reply, error) {
	silent := sse.Silent(req.Messages, c.http.ID())
	if silent {
		req = unsigned(req)
	}
	reply, err := c.ask(ctx, req, emit)
	if refusesSignatures(err) && !silent {
		// It would refuse this conversation for ever; the request has emitted nothing.
		silent = true
		reply, err = c.ask(ctx, unsigned(req), emit)
	}
	if err == nil && silent {
		sse.MarkSilent(reply.Parts)
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
	return c.http.Exchange(ctx, req, c.encode,
		func(a *sse.Answer) (provider.Reply, error) {
			return c.decode(ctx, a, &builder{emit: emit, model: c.http.Model, names: offered(req.Tools)})
		})
}

// generation returns the number in names like gemini-2.5-flash, without what
// follows the dot; 0 if there is none: an alias or a model of somebody else,
// of which the newest is assumed.
func (c *client) generation() int {
	_, after, _ := strings.Cut(c.http.Model, "gemini-")
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
