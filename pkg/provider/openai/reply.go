package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// builder makes a reply out of chunks.
type builder struct {
	sse.Strict
	emit  func(provider.Event)
	whole bool // the answer is one JSON value, not a stream

	text, refusal, reasoning sse.Joiner
	opaque                   opaque // of the reasoning
	details                  details
	calls                    calls
	usage                    message.Usage
	finish, model            string
	reopened                 bool // something came after the finish reason
	chunks                   int
}

// add takes the next chunk; errors in it were looked for before.
func (b *builder) add(c chunk) {
	b.chunks++
	if c.Model != "" {
		b.model = string(c.Model)
	}
	var groq struct {
		Usage sse.Lax[*usage] `json:"usage"`
	}
	if len(c.XGroq) > 0 && json.Unmarshal(c.XGroq, &groq) == nil {
		b.count(groq.Usage)
	}
	for _, ch := range c.Choices {
		if ch.Index.Given && ch.Index.N != 0 {
			continue
		}
		b.count(ch.Usage)
		// Perplexity sends both, each in the other's place, too.
		if ch.Message != nil && b.empty() && (b.whole || ch.Delta == nil) {
			b.delta(ch.Message)
		} else if ch.Delta != nil {
			b.delta(ch.Delta)
		}
		if ch.FinishReason != "" {
			b.finish, b.reopened = string(ch.FinishReason), false
		}
	}
	b.count(c.Usage)
}

// count keeps the last usage that says anything. One that can't be read says
// that nobody knows, whatever an earlier one has counted so far.
func (b *builder) count(u sse.Lax[*usage]) {
	switch {
	case u.Bad:
		b.usage = message.Usage{}
	case u.Is != nil && sse.Says(u.Is.Prompt, u.Is.Completion, u.Is.Total):
		b.usage = u.Is.message()
	}
}

func (b *builder) delta(d *delta) {
	if b.finish != "" && (len(d.ToolCalls) > 0 || !sse.IsNull(d.Content) && string(d.Content) != `""`) {
		b.reopened = true
	}
	b.think(d)
	b.content(d.Content)
	if b.Text("refusal", d.Refusal) {
		b.say(b.refusal.Add(d.Refusal))
	}
	for _, c := range d.ToolCalls {
		b.calls.add(&b.Strict, c, b.chunks)
	}
	if d.FunctionCall != nil && len(d.ToolCalls) == 0 {
		b.calls.add(&b.Strict, callDelta{Index: sse.Integer{N: -1, Given: true}, Function: *d.FunctionCall, former: true}, b.chunks)
	}
}

// content takes a string, a part or a list of parts. Parts of unknown types
// mean nothing.
func (b *builder) content(raw json.RawMessage) {
	if sse.IsNull(raw) {
		return
	}
	var list []json.RawMessage
	switch raw[0] {
	case '"':
		b.say(b.text.Add(raw))
	case '[':
		if json.Unmarshal(raw, &list) == nil {
			for _, p := range list {
				b.content(p)
			}
		}
	case '{':
		b.part(raw)
	default:
		b.Refuse("content", raw, "text")
	}
}

// part takes a part of the content. Where JSON was asked for some send it as an
// object, in place of its text (Cloudflare).
func (b *builder) part(raw json.RawMessage) {
	var part contentPart
	switch err := json.Unmarshal(raw, &part); {
	case err == nil && (part.Type != "" || part.Text != nil || part.Thinking != nil):
		if sse.IsString(part.Text) || (part.Type == "" || part.Type == "text") && b.Text("content.text", part.Text) {
			b.say(b.text.Add(part.Text))
		}
		b.thought(part.Thinking)
	case b.whole:
		b.say(b.text.Add(quoted(raw)))
	default:
		b.Refuse("content", raw, "text")
	}
}

// quoted returns JSON as the literal of its text.
func quoted(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return json.RawMessage(`""`) // can't happen: a decoder made it
	}
	literal, _ := sse.Encode(b.String()) // a string: can't fail
	return literal
}

// thought takes the thinking of a content part: a string or a list of parts.
func (b *builder) thought(raw json.RawMessage) {
	var list []contentPart
	switch {
	case sse.IsString(raw):
		b.muse(b.reasoning.Add(raw))
	case len(raw) > 0 && raw[0] == '[' && json.Unmarshal(raw, &list) == nil:
		for _, p := range list {
			if sse.IsString(p.Text) {
				b.muse(b.reasoning.Add(p.Text))
			}
		}
	}
}

// think takes the reasoning fields; if several say the same, the first counts.
func (b *builder) think(d *delta) {
	var details []json.RawMessage
	if len(d.ReasoningDetails) > 0 && json.Unmarshal(d.ReasoningDetails, &details) == nil {
		for _, raw := range details {
			b.details.add(raw)
		}
	}
	if d.ReasoningOpaque != "" {
		b.opaque.ReasoningOpaque = string(d.ReasoningOpaque)
	}
	if !sse.IsNull(d.ExtraContent) {
		b.opaque.ExtraContent = bytes.Clone(d.ExtraContent)
	}
	for _, f := range []struct {
		name string
		raw  json.RawMessage
	}{
		{"reasoning_content", d.ReasoningContent},
		{"reasoning", d.Reasoning},
		{"reasoning_text", d.ReasoningText},
		{"thinking", d.Thinking},
	} {
		if sse.IsString(f.raw) && string(f.raw) != `""` {
			b.opaque.Field = f.name
			b.muse(b.reasoning.Add(f.raw))
			return
		}
	}
	for _, raw := range details {
		var piece struct{ Text, Summary json.RawMessage }
		if json.Unmarshal(raw, &piece) != nil {
			continue
		}
		for _, text := range []json.RawMessage{piece.Text, piece.Summary} {
			if sse.IsString(text) {
				b.muse(b.reasoning.Add(text))
			}
		}
	}
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

// empty reports whether nothing of an answer has come yet.
func (b *builder) empty() bool {
	return b.text.String() == "" && b.refusal.String() == "" && b.reasoning.String() == "" && len(b.calls.list) == 0
}

// received says how much came, for errors.
func (b *builder) received() string {
	n := len(b.text.String()) + len(b.refusal.String())
	return fmt.Sprintf("%d events with %d bytes of text and %d tool calls", b.chunks, n, len(b.calls.list))
}

// parts returns what the reply consists of: reasoning, text, calls.
func (b *builder) parts() []message.Part {
	b.muse(b.reasoning.End())
	b.say(b.text.End())
	b.say(b.refusal.End())
	b.opaque.ReasoningDetails = b.details.list()
	var parts []message.Part
	thought := message.Part{Type: message.TypeReasoning, Text: b.reasoning.String(), Opaque: b.opaque.sealed()}
	if thought.Text != "" || thought.Opaque != nil {
		parts = append(parts, thought)
	}
	if text := b.text.String() + b.refusal.String(); text != "" {
		parts = append(parts, message.Text(text))
	}
	return append(parts, b.calls.parts()...)
}

// stopOf maps a finish reason, in any vendor's words; ok is false for those
// that are no regular end.
func stopOf(finish string) (stop message.StopReason, ok bool) {
	switch strings.ToLower(finish) {
	case "", "stop", "eos", "eos_token", "end_turn", "stop_sequence", "complete", "completed":
		return message.StopEnd, true
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return message.StopCalls, true
	case "length", "max_tokens", "max_output_tokens":
		return message.StopLength, true
	case "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "sensitive":
		return message.StopFilter, true
	case "refusal":
		return message.StopRefusal, true
	}
	return "", false
}
