package responses

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// decode reads a successful answer: mostly a stream, but some servers ignore
// that one was asked for, and some addresses lead to a login page.
func (c *client) decode(ctx context.Context, a *sse.Answer, emit func(provider.Event)) (reply provider.Reply, err error) {
	b := &output{emit: emit}
	defer func() { provider.Lose(emit, b.usage, err) }()
	switch whole, err := c.http.Whole(a); {
	case err == io.EOF:
		return provider.Reply{}, c.truncated(b)
	case err != nil:
		return provider.Reply{}, err
	case whole:
		return c.whole(a, b)
	}
	return c.stream(ctx, a, b)
}

// whole reads a response that comes as one JSON value.
func (c *client) whole(a *sse.Answer, b *output) (provider.Reply, error) {
	body, err := c.http.ReadAll(a, sse.MaxEvent)
	if err != nil {
		return provider.Reply{}, err
	}
	var r response
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body, &r); {
	case errors.As(err, &syntax) && syntax.Offset >= int64(len(body)):
		return provider.Reply{}, c.truncated(b)
	case err != nil && body[0] == '[' && json.Valid(body):
		return provider.Reply{}, c.http.InStream(body) // Google wraps its errors so
	case err != nil:
		return provider.Reply{}, c.http.Odd(err)
	case sse.IsError(r.Error) && r.Status == "":
		return provider.Reply{}, c.http.InStream(body)
	case r.Status == "" && r.Output == nil:
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "%s answered with JSON that is no response", a.Host)
	}
	return c.reply(b, r)
}

// stream reads events until the terminal one, the end, or an error.
func (c *client) stream(ctx context.Context, a *sse.Answer, b *output) (provider.Reply, error) {
	var last *response
	ended, err := c.http.Values(a, func(name string, data []byte) (done bool, err error) {
		last, err = c.event(b, name, data)
		return last != nil, err
	})
	var failed *provider.Error
	switch {
	case err == nil:
		return c.reply(b, *last)
	case ctx.Err() != nil:
		return provider.Reply{}, context.Cause(ctx)
	case err == io.EOF:
		return provider.Reply{}, c.truncated(b)
	case ended && errors.As(err, &failed):
		failed.Message += ", after " + b.received()
		return provider.Reply{}, failed
	}
	return provider.Reply{}, err
}

// event takes one event, of which name is the type if it doesn't say one
// itself. It returns the response if it was the terminal one.
func (c *client) event(b *output, name string, data []byte) (*response, error) {
	if name == "error" {
		return nil, c.http.InStream(data)
	}
	if data[0] != '{' {
		return nil, notObject(data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	b.events++
	if e.Type == "" {
		e.Type = sse.Word(name)
	}
	switch e.Type {
	case "error":
		return nil, c.http.InStream(data)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		return terminal(e)
	case "response.output_item.added":
		return nil, b.added(e)
	case "response.output_item.done":
		return nil, b.done(e)
	case "response.output_text.delta":
		b.text(e, false)
	case "response.refusal.delta":
		b.text(e, true)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		b.thought(e)
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		b.argument(e)
	default:
		if sse.IsError(e.Error) {
			return nil, c.http.InStream(data)
		}
	}
	return nil, b.Err
}

// notObject judges a value that is no event: [DONE], null, a number mean
// nothing to us. The error is encoding/json's.
func notObject(data []byte) error {
	if string(data) == "[DONE]" { // some servers', after the end or without one
		return nil
	}
	var v any
	return json.Unmarshal(data, &v)
}

// terminal returns the response of the last event. Its status is the event's
// name if it doesn't say one.
func terminal(e event) (*response, error) {
	r := &response{}
	if len(e.Response) > 0 {
		if err := json.Unmarshal(e.Response, r); err != nil {
			return nil, sse.At("response", err)
		}
	}
	if r.Status == "" && e.Type != "response.done" {
		r.Status = e.Type[len("response."):]
	}
	return r, nil
}

// reply concludes.
func (c *client) reply(b *output, r response) (provider.Reply, error) {
	b.usage = r.Usage.Is.message()
	stop, err := c.stop(r)
	if err != nil {
		return provider.Reply{}, err
	}
	if err := b.final(r.Output); err != nil {
		return provider.Reply{}, c.http.Odd(err)
	}
	parts, refusal := b.parts()
	reply := provider.Reply{Parts: parts, Stop: stop, Usage: b.usage, Model: c.http.Model}
	if r.Model != "" {
		reply.Model = string(r.Model)
	}
	switch {
	case stop != message.StopEnd:
	case len(message.Message{Parts: parts}.Calls()) > 0:
		reply.Stop = message.StopCalls
	case refusal:
		reply.Stop = message.StopRefusal
	}
	return reply, nil
}
