package gemini

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// linger is how long a stream may stay open after its finish reason: nothing
// but the token count can follow.
const linger = time.Second

// decode reads a successful answer, however it is framed.
func (c *client) decode(ctx context.Context, a *sse.Answer, b *builder) (reply provider.Reply, err error) {
	defer func() { provider.Lose(b.emit, b.usage, err) }()
	r := &reader{client: c, answer: a, b: b}
	defer r.stop()
	first, err := a.FirstByte()
	ended := true
	switch {
	case err != nil:
	case first == '<':
		return provider.Reply{}, c.http.LoginPage(a)
	case first == '{':
		ended, err = r.object()
	case first == '[':
		ended, err = r.array()
	default:
		ended, err = c.http.Values(a, r.event)
	}
	switch {
	case ctx.Err() != nil:
		return provider.Reply{}, context.Cause(ctx)
	case ended:
		return c.ended(b, err)
	case err != nil:
		return provider.Reply{}, c.http.Odd(err)
	}
	return c.reply(b)
}

// ended judges a stream whose end nothing announced. With a finish reason seen,
// the answer is complete, however the stream ends after it.
func (c *client) ended(b *builder, err error) (provider.Reply, error) {
	var failed *provider.Error
	switch {
	case b.finished() && !b.reopened:
		return c.reply(b)
	case errors.As(err, &failed):
		failed.Message += ", after " + b.received()
		return provider.Reply{}, failed
	}
	return provider.Reply{}, c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
}

// reader hands the values of an answer to a builder. Its methods return like
// sse.Client.Values.
type reader struct {
	client *client
	answer *sse.Answer
	b      *builder
	timer  *time.Timer // ends the answer a while after its finish reason
}

func (r *reader) stop() {
	if r.timer != nil {
		r.timer.Stop()
	}
}

// event takes a value out of a server-sent event.
func (r *reader) event(name string, data []byte) (done bool, err error) {
	switch {
	case name == "error":
		return false, r.client.http.InStream(data)
	case string(data) != "[DONE]": // some gateways add it
		return false, r.value(data)
	case r.b.finished():
		return true, nil
	case r.b.empty():
		return false, r.client.http.Fail(provider.Server, 0, "the answer is empty and without a finish reason")
	}
	_, err = r.client.ended(r.b, io.EOF)
	return false, err
}

// array reads the JSON array that a stream without server-sent events is.
func (r *reader) array() (ended bool, err error) {
	dec := json.NewDecoder(&bounded{r.answer.Body, sse.MaxStream})
	dec.Token() // its opening bracket, which was seen
	for dec.More() {
		if ended, err = r.next(dec); err != nil {
			return ended, err
		}
	}
	_, err = dec.Token() // its closing bracket
	return true, err
}

// object reads an answer that is one JSON object. Nothing can be missing from
// it, so it may do without a finish reason.
func (r *reader) object() (ended bool, err error) {
	dec := json.NewDecoder(&bounded{r.answer.Body, sse.MaxStream})
	if ended, err = r.next(dec); err != nil {
		return ended, err
	}
	switch _, err = dec.Token(); {
	case err == nil:
		return false, errors.New("something follows the JSON object")
	case err != io.EOF:
		return cut(err), err
	case r.b.finished():
	case r.b.empty():
		return false, r.client.http.Fail(provider.Server, 0, "%s answered with JSON that is no answer of a model", r.answer.Host)
	default:
		r.b.finish = "STOP"
	}
	return false, nil
}

func (r *reader) next(dec *json.Decoder) (ended bool, err error) {
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return cut(err), err
	}
	return false, r.value(raw)
}

// cut tells a stream that broke off from one that holds nonsense.
func cut(err error) bool {
	return !errors.As(err, new(*json.SyntaxError)) && err != sse.ErrStream
}

// value takes one JSON value of the stream.
func (r *reader) value(raw json.RawMessage) error {
	switch raw[0] {
	case '{':
	case '[': // errors may come in a list
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return err
		}
		for _, v := range list {
			if v[0] == '{' {
				if err := r.value(v); err != nil {
					return err
				}
			}
		}
		return nil
	default:
		return json.Unmarshal(raw, new(any)) // null, a number, a string: means nothing to us
	}
	var ch chunk
	if err := json.Unmarshal(raw, &ch); err != nil {
		return err
	}
	if sse.IsError(ch.Error) {
		r.b.count(ch.Usage)
		return r.client.http.InStream(raw)
	}
	if r.b.add(ch, raw); r.b.Err != nil {
		return r.b.Err
	}
	if r.timer == nil && r.b.finished() {
		r.timer = time.AfterFunc(linger, r.answer.Close)
	}
	return nil
}

// reply concludes.
func (c *client) reply(b *builder) (provider.Reply, error) {
	if b.blocked != "" {
		return provider.Reply{Stop: message.StopFilter, Usage: b.usage, Model: b.model}, nil
	}
	b.endText("")
	b.endCall(false)
	stop, ok := stopOf(b.finish)
	if !ok {
		return provider.Reply{}, c.http.Ended("finishReason", b.finish, b.because)
	}
	switch {
	case stop == message.StopEnd && b.calls() > 0:
		stop = message.StopCalls
	case stop == message.StopCalls && b.calls() == 0:
		return provider.Reply{}, c.http.NoCall("finishReason", b.finish)
	}
	return provider.Reply{Parts: b.parts, Stop: stop, Usage: b.usage, Model: b.model}, nil
}

// bounded reads at most n bytes.
type bounded struct {
	r io.Reader
	n int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.n <= 0 {
		return 0, sse.ErrStream
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.n)])
	b.n -= int64(n)
	return n, err
}
