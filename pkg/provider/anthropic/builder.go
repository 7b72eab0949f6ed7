package anthropic

import (
	"cmp"
	"encoding/json"
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// builder makes a reply out of events.
type builder struct {
	sse.Strict
	emit func(provider.Event)

	list     []*piece
	byIndex  map[int64]*piece
	text     *piece // the last text, which alone may still grow
	thinking *piece // the last thinking, likewise
	usage    usage
	ending   ending
	model    string
	events   int
}

// event takes the next event and reports whether it was the terminal one.
// Unknown ones mean nothing.
func (b *builder) event(e event) (done bool, err error) {
	b.events++
	switch e.Type {
	case "message_start":
		err = b.start(e.Message)
	case "content_block_start":
		err = b.begin(e.Index, e.ContentBlock)
	case "content_block_delta":
		var d delta
		if err = read("delta", e.Delta, &d); err == nil {
			b.delta(e.Index, &d)
		}
	case "content_block_stop":
		if p := b.find(e.Index); p != nil {
			b.finish(p)
		}
	case "message_delta":
		var d struct{ ending }
		if u := e.Usage.Is; u != nil && u.Output == nil { // what the start told is not the sum
			u.Output = new(sse.Unreadable)
		}
		b.usage.add(e.Usage)
		if err = read("delta", e.Delta, &d); err == nil {
			b.end(d.ending)
		}
	case "message_stop":
		done = true
	}
	return done, cmp.Or(err, b.Err)
}

// read reads a part of an event; null is none of it.
func read(field string, raw json.RawMessage, to any) error {
	if sse.IsNull(raw) {
		return nil
	}
	return sse.At(field, json.Unmarshal(raw, to))
}

func (b *builder) start(raw json.RawMessage) error {
	var r reply
	if err := read("message", raw, &r); err != nil {
		return err
	}
	return b.message(&r)
}

// message takes the beginning of a message, or all of it.
func (b *builder) message(r *reply) error {
	if r.Model != "" {
		b.model = string(r.Model)
	}
	b.usage.add(r.Usage)
	for i, raw := range r.Content {
		if err := b.begin(sse.Integer{N: int64(i), Given: true}, raw); err != nil {
			return err
		}
	}
	b.end(r.ending)
	return nil
}

func (b *builder) end(e ending) {
	if e.StopReason != "" {
		b.ending.StopReason = e.StopReason
	}
	if e.StopDetails.Is != nil {
		b.ending.StopDetails = e.StopDetails
	}
}

// begin takes a block as it begins. An index that is in use already is given
// to the new block.
func (b *builder) begin(index sse.Integer, raw json.RawMessage) error {
	if sse.IsNull(raw) {
		return nil
	}
	var c content
	if err := read("content_block", raw, &c); err != nil {
		return err
	}
	p := b.add(index, string(c.Type))
	p.id = string(c.ID)
	p.signature = string(c.Signature)
	p.citations = c.Citations.Is
	p.input, p.caller, p.raw = c.Input, c.Caller, raw
	switch p.kind {
	case "text":
		b.grow(p, c.Text)
	case "thinking":
		b.grow(p, c.Thinking)
	case "tool_use":
		b.Grow(len(c.Input))
		p.name = b.Word("content_block.name", c.Name)
	default: // it goes back as it came
		b.Grow(len(raw))
	}
	return b.Err
}

// add begins a piece. Texts that were begun before are finished by that, so
// that what is emitted comes in the order of the reply.
func (b *builder) add(index sse.Integer, kind string) *piece {
	p := &piece{kind: kind}
	switch kind {
	case "text":
		if b.text != nil {
			b.finish(b.text)
		}
		b.text = p
	case "thinking":
		if b.thinking != nil {
			b.finish(b.thinking)
		}
		b.thinking = p
	}
	b.list = append(b.list, p)
	if index.Given {
		if b.byIndex == nil {
			b.byIndex = map[int64]*piece{}
		}
		b.byIndex[index.N] = p
	}
	return p
}

// find returns the piece with that index, or the last one if none is given.
func (b *builder) find(index sse.Integer) *piece {
	if index.Given {
		return b.byIndex[index.N]
	}
	if n := len(b.list); n > 0 {
		return b.list[n-1]
	}
	return nil
}

// of returns the piece that a delta of that kind continues; one that never
// began begins now.
func (b *builder) of(index sse.Integer, kind string) *piece {
	p := b.find(index)
	if p == nil || kind == "text" && p != b.text || kind == "thinking" && p != b.thinking {
		return b.add(index, kind)
	}
	return p
}

func (b *builder) delta(index sse.Integer, d *delta) {
	switch d.Type {
	case "text_delta":
		b.grow(b.of(index, "text"), d.Text)
	case "thinking_delta":
		b.grow(b.of(index, "thinking"), d.Thinking)
	case "signature_delta":
		if p := b.find(index); p != nil {
			b.Grow(len(d.Signature))
			p.sign(string(d.Signature))
		}
	case "input_json_delta":
		b.of(index, "tool_use").argue(&b.Strict, d.PartialJSON)
	case "citations_delta":
		if p := b.find(index); p != nil && !sse.IsNull(d.Citation) {
			b.Grow(len(d.Citation))
			p.citations = append(p.citations, d.Citation)
		}
	case "compaction_delta":
		if p := b.find(index); p != nil && sse.IsString(d.Content) {
			b.Grow(len(d.Content))
			p.text.Add(d.Content)
		}
	}
}

// grow adds a string literal to a text or thought.
func (b *builder) grow(p *piece, literal json.RawMessage) {
	if b.Text(p.kind, literal) {
		b.tell(p, p.text.Add(literal))
	}
}

// finish ends a text: half a character that waited for its other half has
// become U+FFFD.
func (b *builder) finish(p *piece) { b.tell(p, p.text.End()) }

func (b *builder) tell(p *piece, s string) {
	b.Grow(len(s))
	switch {
	case s == "":
	case p.kind == "text":
		b.emit(provider.Event{Text: s})
	case p.kind == "thinking":
		b.emit(provider.Event{Reasoning: s})
	}
}

// empty reports whether nothing of an answer has come yet.
func (b *builder) empty() bool { return len(b.list) == 0 }

// received says how much came, for errors.
func (b *builder) received() string {
	text, calls := 0, 0
	for _, p := range b.list {
		switch p.kind {
		case "text":
			text += len(p.text.String())
		case "tool_use":
			calls++
		}
	}
	return fmt.Sprintf("%d events with %d bytes of text and %d tool calls", b.events, text, calls)
}

// parts returns what the reply consists of, in the vendor's order. The
// explanation of a refusal stands for the text that isn't there.
func (b *builder) parts() []message.Part {
	var parts []message.Part
	text := false
	for _, p := range b.list {
		b.finish(p)
		if part, ok := p.part(); ok {
			parts = append(parts, part)
			text = text || part.Type == message.TypeText
		}
	}
	if d := b.ending.StopDetails.Is; !text && d != nil && d.Explanation != "" && b.ending.StopReason == "refusal" {
		b.emit(provider.Event{Text: string(d.Explanation)})
		parts = append(parts, message.Text(string(d.Explanation)))
	}
	return parts
}
