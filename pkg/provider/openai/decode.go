package openai

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

// whole reads a completion that comes as one JSON value.
func (c *client) whole(a *sse.Answer, b *builder) (provider.Reply, error) {
	b.whole = true
	body, err := c.http.ReadAll(a, sse.MaxEvent)
	if err != nil {
		return provider.Reply{}, err
	}
	if err := c.chunk(b, body); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset >= int64(len(body)) {
			return provider.Reply{}, c.truncated(b)
		}
		return provider.Reply{}, c.http.Odd(err)
	}
	if b.empty() && b.finish == "" {
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "%s answered with JSON that is no completion", a.Host)
	}
	return c.reply(b)
}

// stream reads events until [DONE], the end, or an error. With a finish reason
// seen, the answer is complete, however the stream ends after it.
func (c *client) stream(ctx context.Context, a *sse.Answer, b *builder) (provider.Reply, error) {
	ended, err := c.http.Values(a, func(event string, data []byte) (bool, error) {
		if event == "error" {
			return false, c.http.InStream(data)
		}
		return c.value(b, data)
	})
	var failed *provider.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return provider.Reply{}, context.Cause(ctx)
	case ended && b.finish != "" && !b.reopened:
		return c.reply(b)
	case err == io.EOF:
		return provider.Reply{}, c.truncated(b)
	case ended && errors.As(err, &failed):
		failed.Message += ", after " + b.received()
		return provider.Reply{}, failed
	case err != nil:
		return provider.Reply{}, err
	case b.finish == "" && b.empty():
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "the answer is empty and without a finish reason")
	}
	return c.reply(b)
}

func (c *client) value(b *builder, data []byte) (done bool, err error) {
	if string(data) == "[DONE]" {
		return true, nil
	}
	return false, c.chunk(b, data)
}

// chunk adds one JSON value. The error is a *provider.Error if the value holds
// one, else it says what is wrong with the value.
func (c *client) chunk(b *builder, data []byte) error {
	if data[0] != '{' {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			return err
		}
		if list, ok := v.([]any); ok && len(list) > 0 {
			return c.http.InStream(data) // Gemini wraps its errors so
		}
		return nil // null, a number, a string: means nothing to us
	}
	var ch chunk
	if err := json.Unmarshal(data, &ch); err != nil {
		return err
	}
	if sse.IsError(ch.Error) {
		b.count(ch.Usage)
		return c.http.InStream(data)
	}
	for _, choice := range ch.Choices {
		if sse.IsError(choice.Error) {
			b.count(ch.Usage)
			return c.http.InStream(choice.Error)
		}
	}
	b.add(ch)
	return b.Err
}

// reply concludes.
func (c *client) reply(b *builder) (provider.Reply, error) {
	stop, ok := stopOf(b.finish)
	if !ok {
		return provider.Reply{}, c.http.Ended("finish_reason", b.finish, "")
	}
	r := provider.Reply{Parts: b.parts(), Stop: stop, Usage: b.usage, Model: b.model}
	calls := len(r.Parts) > 0 && r.Parts[len(r.Parts)-1].Type == message.TypeCall
	switch {
	case stop == message.StopLength || stop == message.StopFilter:
	case calls:
		r.Stop = message.StopCalls // whatever the finish reason says
	case b.refusal.String() != "":
		r.Stop = message.StopRefusal
	case stop == message.StopCalls:
		return provider.Reply{}, c.http.NoCall("finish_reason", b.finish)
	}
	return r, nil
}
