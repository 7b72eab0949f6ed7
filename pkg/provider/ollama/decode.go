package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// line is one value of a stream, or a whole answer: the last one, with done,
// has the counts.
type line struct {
	Model   sse.Loose `json:"model"`
	Message struct {
		Content   json.RawMessage `json:"content"`
		Thinking  json.RawMessage `json:"thinking"`
		ToolCalls []struct {
			ID       sse.Loose `json:"id"`
			Function struct {
				Name      sse.Word        `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done       bool            `json:"done"`
	DoneReason sse.Word        `json:"done_reason"`
	Prompt     sse.Count       `json:"prompt_eval_count"`
	Eval       sse.Count       `json:"eval_count"`
	Error      json.RawMessage `json:"error"`
}

// decode reads a successful answer up to the value that says done.
func (c *client) decode(ctx context.Context, a *sse.Answer, b *builder) (reply provider.Reply, err error) {
	defer func() { provider.Lose(b.emit, b.usage, err) }()
	first, err := a.FirstByte()
	if err == nil && first == '<' {
		return provider.Reply{}, c.http.LoginPage(a)
	}
	body := &io.LimitedReader{R: a.Body, N: sse.MaxStream}
	dec := json.NewDecoder(body)
	for err == nil {
		var raw json.RawMessage
		if err = dec.Decode(&raw); err != nil || raw[0] != '{' {
			continue // another value means nothing to us
		}
		var l line
		if err = json.Unmarshal(raw, &l); err != nil {
			break
		}
		if sse.IsError(l.Error) {
			return provider.Reply{}, c.http.InStream(raw)
		}
		if b.add(l); b.Err != nil {
			return provider.Reply{}, c.http.Odd(b.Err)
		}
		if l.Done {
			return c.reply(b, string(l.DoneReason))
		}
	}
	if body.N == 0 {
		err = sse.ErrStream
	}
	return provider.Reply{}, c.failed(ctx, b, err)
}

// failed is the error for a stream that ended without done, or holds nonsense.
func (c *client) failed(ctx context.Context, b *builder, err error) error {
	var broken *provider.Error
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		return c.http.Fail(provider.Network, 0, "the stream ended before its end, after %s", b.received())
	case errors.As(err, &broken):
		broken.Message += ", after " + b.received()
		return broken
	}
	return c.http.Odd(err)
}

// reply concludes.
func (c *client) reply(b *builder, reason string) (provider.Reply, error) {
	r := provider.Reply{Parts: b.parts(), Usage: b.usage, Model: b.model}
	switch strings.ToLower(reason) {
	case "tool_calls", "tool_use":
		if len(b.calls) == 0 {
			return provider.Reply{}, c.http.NoCall("done_reason", reason)
		}
		r.Stop = message.StopCalls
	case "", "stop", "end_turn": // old servers give none
		r.Stop = message.StopEnd
		if len(b.calls) > 0 {
			r.Stop = message.StopCalls
		}
	case "length":
		if len(r.Parts) == 0 && !b.spent() { // F129: the prompt fills the window, so that not a word fits in
			return provider.Reply{}, c.http.Fail(provider.ContextLength, 0, "the prompt leaves no room for an answer in the model's context")
		}
		r.Stop = message.StopLength
	default: // load and unload, among others: no answer at all
		return provider.Reply{}, c.http.Ended("done_reason", reason, "")
	}
	return r, nil
}

// builder makes a reply out of lines.
type builder struct {
	sse.Strict
	emit            func(provider.Event)
	text, reasoning sse.Joiner
	calls           []message.Part
	usage           message.Usage
	model           string
	lines           int
	limit           int // of the answer, in tokens; 0: none was asked for
}

// spent reports whether as much was said as the answer may be long, perhaps
// without a word of it.
func (b *builder) spent() bool {
	return b.limit > 0 && (b.usage == message.Usage{} || b.usage.Output >= int64(b.limit))
}

func (b *builder) add(l line) {
	b.lines++
	if l.Model != "" {
		b.model = string(l.Model)
	}
	if sse.IsString(l.Message.Thinking) {
		b.muse(b.reasoning.Add(l.Message.Thinking))
	}
	if b.Text("message.content", l.Message.Content) {
		b.say(b.text.Add(l.Message.Content))
	}
	for _, c := range l.Message.ToolCalls {
		b.Grow(len(c.Function.Arguments))
		b.calls = append(b.calls, message.Call(message.ToolCall{
			ID: string(c.ID), Name: string(c.Function.Name), Arguments: sse.Arguments(c.Function.Arguments),
		}))
	}
	if l.Done {
		b.usage = l.usage()
	}
}

// usage is what was counted. Of a prompt that it still knew the server counts
// nothing: it says so by saying nothing.
func (l line) usage() message.Usage {
	if l.Prompt < 0 || l.Eval < 0 {
		return message.Usage{}
	}
	return message.Usage{Input: l.Prompt.N(), Output: l.Eval.N(), Total: l.Prompt.N() + l.Eval.N()}
}

func (b *builder) say(s string) {
	b.Grow(len(s))
	if s != "" {
		b.emit(provider.Event{Text: s})
	}
}

func (b *builder) muse(s string) {
	b.Grow(len(s))
	if s != "" {
		b.emit(provider.Event{Reasoning: s})
	}
}

// parts returns what the reply consists of: reasoning, text, calls.
func (b *builder) parts() []message.Part {
	b.muse(b.reasoning.End())
	b.say(b.text.End())
	var parts []message.Part
	if s := b.reasoning.String(); s != "" {
		parts = append(parts, message.Part{Type: message.TypeReasoning, Text: s})
	}
	if s := b.text.String(); s != "" {
		parts = append(parts, message.Text(s))
	}
	return append(parts, b.calls...)
}

// received says how much came, for errors.
func (b *builder) received() string {
	return fmt.Sprintf("%d lines with %d bytes of text and %d tool calls", b.lines, len(b.text.String()), len(b.calls))
}
