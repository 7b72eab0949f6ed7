package anthropic

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
	b := &builder{emit: emit, model: c.http.Model}
	defer func() { provider.Lose(emit, b.usage.message(), err) }()
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

// whole reads a message that comes as one JSON value.
func (c *client) whole(a *sse.Answer, b *builder) (provider.Reply, error) {
	body, err := c.http.ReadAll(a, sse.MaxEvent)
	if err != nil {
		return provider.Reply{}, err
	}
	var e event
	var r reply
	if err := c.parse(body, &e); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) {
			return provider.Reply{}, c.truncated(b)
		}
		return provider.Reply{}, c.http.Odd(err)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return provider.Reply{}, c.http.Odd(err)
	}
	if err := b.message(&r); err != nil {
		return provider.Reply{}, c.http.Odd(err)
	}
	if b.empty() && b.ending.StopReason == "" {
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "%s answered with JSON that is no message", a.Host)
	}
	return c.reply(b)
}

// stream reads events until message_stop, the end, or an error. Without
// message_stop there is no answer, whatever came.
func (c *client) stream(ctx context.Context, a *sse.Answer, b *builder) (provider.Reply, error) {
	ended, err := c.http.Values(a, func(event string, data []byte) (bool, error) { return c.value(b, event, data) })
	var failed *provider.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return provider.Reply{}, context.Cause(ctx)
	case err == io.EOF:
		return provider.Reply{}, c.truncated(b)
	case ended && errors.As(err, &failed):
		failed.Message += ", after " + b.received()
		return provider.Reply{}, failed
	case err != nil:
		return provider.Reply{}, err
	case b.empty() && b.ending.StopReason == "":
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "the answer is empty and without a stop reason")
	}
	return c.reply(b)
}

// value takes one JSON value; name is that of its event, for values that don't
// say their type themselves.
func (c *client) value(b *builder, name string, data []byte) (done bool, err error) {
	if name == "error" {
		return false, c.http.InStream(data)
	}
	if string(data) == "[DONE]" { // some gateways', after the end
		return false, nil
	}
	var e event
	if err := c.parse(data, &e); err != nil {
		return false, err
	}
	if e.Type == "" {
		e.Type = sse.Word(name)
	}
	return b.event(e)
}

// parse reads one JSON value. The error is a *provider.Error if the value
// holds one, else encoding/json's. What is no object means nothing.
func (c *client) parse(data []byte, e *event) error {
	if data[0] != '{' {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		if list, ok := v.([]any); ok && len(list) > 0 {
			return c.http.InStream(data) // Google wraps its errors so
		}
		return nil
	}
	if err := json.Unmarshal(data, e); err != nil {
		return err
	}
	if e.Type == "error" || sse.IsError(e.Error) {
		return c.http.InStream(data)
	}
	return nil
}

// reply concludes.
func (c *client) reply(b *builder) (provider.Reply, error) {
	stop, ok := stopOf(string(b.ending.StopReason))
	if !ok {
		return provider.Reply{}, c.http.Ended("stop_reason", string(b.ending.StopReason), "")
	}
	r := provider.Reply{Parts: b.parts(), Stop: stop, Usage: b.usage.message(), Model: b.model}
	switch calls := len(message.Message{Parts: r.Parts}.Calls()); {
	case stop == message.StopEnd && calls > 0:
		r.Stop = message.StopCalls // whatever the reason says
	case stop == message.StopCalls && calls == 0:
		return provider.Reply{}, c.http.NoCall("stop_reason", string(b.ending.StopReason))
	}
	return r, nil
}

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *builder) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}
