package anthropic

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// Sizes in bytes of the largest answers that are read.
const (
	maxWhole  = 64 << 20  // not streamed
	maxStream = 256 << 20 // streamed, the data of all events
)

// decode reads a successful answer: mostly a stream, but some servers ignore
// that one was asked for, and some addresses lead to a login page.
func (c *client) decode(ctx context.Context, a *sse.Answer, emit func(provider.Event)) (provider.Reply, error) {
	b := &builder{emit: emit, model: c.model}
	switch first, err := a.FirstByte(); {
	case err == io.EOF:
		return provider.Reply{}, c.truncated(b)
	case err != nil:
		return provider.Reply{}, err
	case first == '{' || first == '[':
		return c.whole(a, b)
	case first == '<':
		return provider.Reply{}, c.http.LoginPage(a)
	}
	return c.stream(ctx, a, b)
}

// whole reads a message that comes as one JSON value.
func (c *client) whole(a *sse.Answer, b *builder) (provider.Reply, error) {
	body, err := c.http.ReadAll(a, maxWhole)
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
		return provider.Reply{}, c.unknown(err)
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return provider.Reply{}, c.unknown(err)
	}
	if err := b.message(&r); err != nil {
		return provider.Reply{}, c.unknown(err)
	}
	if b.empty() && b.ending.StopReason == "" {
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "%s answered with JSON that is no message", a.Host)
	}
	return c.reply(b)
}

// stream reads events until message_stop, the end, or an error.
func (c *client) stream(ctx context.Context, a *sse.Answer, b *builder) (provider.Reply, error) {
	events := sse.NewReader(a.Body)
	size := 0
	var bad error // an event that was no JSON: half a one if it was the last
	for {
		e, err := events.Next()
		if err != nil {
			return provider.Reply{}, c.ended(ctx, b, err)
		}
		if bad != nil {
			return provider.Reply{}, c.unknown(bad)
		}
		if size += len(e.Data); size > maxStream {
			return provider.Reply{}, c.http.Fail(provider.Server, 0, "the answer is longer than %d MiB", maxStream>>20)
		}
		done, err := c.event(b, e)
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			bad = err
		case err != nil:
			return provider.Reply{}, c.unknown(err)
		case done && b.empty() && b.ending.StopReason == "":
			return provider.Reply{}, c.http.Fail(provider.Server, 0, "the answer is empty and without a stop reason")
		case done:
			return c.reply(b)
		}
	}
}

// ended is the error for a stream that ended without message_stop, whatever it
// held.
func (c *client) ended(ctx context.Context, b *builder, err error) error {
	var failed *provider.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == io.EOF:
		return c.truncated(b)
	case !errors.As(err, &failed): // sse.ErrTooLong
		return c.http.Fail(provider.Server, 0, "%v", err)
	}
	failed.Message += ", after " + b.received()
	return failed
}

// event takes one event and reports whether it was the terminal one. Servers
// that forget the blank line between events send several values in one.
func (c *client) event(b *builder, e sse.Event) (done bool, err error) {
	data := bytes.TrimSpace(e.Data)
	if done, err = c.value(b, e.Type, data); err == nil || !bytes.ContainsRune(data, '\n') {
		return done, err
	}
	whole := err
	if !errors.As(whole, new(*json.SyntaxError)) {
		return false, whole
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if done, err = c.value(b, "", bytes.TrimSpace(line)); err != nil || done {
			return done, err
		}
	}
	return false, nil
}

// value takes one JSON value; name is that of its event, for values that don't
// say their type themselves.
func (c *client) value(b *builder, name string, data []byte) (done bool, err error) {
	if name == "error" {
		return false, c.http.InStream(data)
	}
	if len(data) == 0 || string(data) == "[DONE]" { // some gateways', after the end
		return false, nil
	}
	var e event
	if err := c.parse(data, &e); err != nil {
		return false, err
	}
	if e.Type == "" {
		e.Type = sse.Loose(name)
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
		return provider.Reply{}, c.http.Fail(provider.Server, 0, "the answer ended with stop_reason %q", string(b.ending.StopReason))
	}
	r := provider.Reply{Parts: b.parts(), Stop: stop, Usage: b.usage.message(), Model: b.model}
	if stop == message.StopEnd || stop == message.StopCalls {
		r.Stop = message.StopEnd
		if len(message.Message{Parts: r.Parts}.Calls()) > 0 {
			r.Stop = message.StopCalls // whatever the reason says
		}
	}
	return r, nil
}

// truncated is the error for a stream without a terminal event.
func (c *client) truncated(b *builder) error {
	return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}

// unknown passes provider errors and turns others, which encoding/json made,
// into one.
func (c *client) unknown(err error) error {
	var failed *provider.Error
	if errors.As(err, &failed) {
		return failed
	}
	return c.http.Fail(provider.Server, 0, "the answer is not of the expected form: %v", err)
}
