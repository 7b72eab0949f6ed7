package gemini

import (
	"encoding/json"
	"fmt"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// builder makes a reply out of chunks. Parts stay in the order of the wire,
// because signatures count where they stand. Pieces of a text are joined, but
// none with a signature with one that has another, or none.
type builder struct {
	sse.Strict
	emit  func(provider.Event)
	names map[string]string // of offered tools, by the name that the service knows

	parts           []message.Part
	text            *sse.Joiner      // the text that goes on, if one does
	kind            message.PartType // of it
	open            *open            // the call that goes on
	usage           message.Usage
	model           string
	finish, because string
	blocked         string // why there is no answer to the prompt
	reopened        bool   // something came after the finish reason
	chunks, bytes   int
}

// add takes the next chunk; errors in it were looked for before.
func (b *builder) add(c chunk, raw json.RawMessage) {
	b.chunks++
	if c.Model != "" {
		b.model = string(c.Model)
	}
	b.count(c.Usage)
	if why := c.Feedback.Is.BlockReason; why != "" && len(c.Candidates) == 0 {
		b.blocked = string(why)
	}
	for n, cand := range c.Candidates {
		if cand.Index.Given && cand.Index.N != 0 {
			continue
		}
		for i, p := range cand.Content.Parts {
			b.part(p, func() json.RawMessage { return rawPart(raw, n, i) })
		}
		if cand.FinishReason != "" {
			b.finish, b.because, b.reopened = string(cand.FinishReason), string(cand.FinishMessage), false
		}
		return // with several candidates only the first counts
	}
}

// count keeps the last usage that says anything. One that can't be read says
// that nobody knows, whatever an earlier one has counted so far.
func (b *builder) count(u sse.Lax[*usage]) {
	switch {
	case u.Bad:
		b.usage = message.Usage{}
	case u.Is != nil && sse.Says(u.Is.Prompt, u.Is.Candidates, u.Is.Total):
		b.usage = u.Is.message()
	}
}

// part takes a part; raw returns it as it came.
func (b *builder) part(p part, raw func() json.RawMessage) {
	sig := string(p.Signature)
	b.reopened = b.reopened || b.finish != "" && (p.Call != nil || len(p.Text) > len(`""`))
	switch {
	case p.Call != nil:
		b.endText("")
		b.call(*p.Call, sig)
	case b.Text("text", p.Text):
		b.endCall(false)
		b.say(p, sig)
	default:
		b.endText("")
		b.other(p, raw())
	}
}

// other keeps what is neither text nor a call.
func (b *builder) other(p part, raw json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return
	}
	delete(fields, "thought")
	if p.Signature == "" {
		delete(fields, "thoughtSignature")
	}
	if len(fields) > 0 {
		b.alone(raw)
	}
}

// rawPart returns a part of a chunk as it came.
func rawPart(chunk json.RawMessage, candidate, part int) json.RawMessage {
	var c struct {
		Candidates []struct {
			Content struct{ Parts []json.RawMessage }
		}
	}
	if json.Unmarshal(chunk, &c) != nil || candidate >= len(c.Candidates) || part >= len(c.Candidates[candidate].Content.Parts) {
		return nil // can't happen: it was read before
	}
	return c.Candidates[candidate].Content.Parts[part]
}

// say takes a piece of text or of a thought.
func (b *builder) say(p part, sig string) {
	kind := message.TypeText
	switch thought := string(p.Thought); {
	case thought == "true":
		kind = message.TypeReasoning
	case thought != "false" && !sse.IsNull(p.Thought):
		b.Refuse("thought", p.Thought, "true or false")
	}
	if b.text != nil && (b.kind != kind || sig != "") {
		b.endText("")
	}
	if string(p.Text) == `""` && sig == "" {
		return
	}
	if b.text == nil {
		b.text, b.kind = new(sse.Joiner), kind
	}
	b.hear(b.text.Add(p.Text))
	if sig != "" {
		b.endText(sig)
	}
}

// hear emits text of the part that goes on.
func (b *builder) hear(s string) {
	b.bytes += len(s)
	b.Grow(len(s))
	switch {
	case s == "":
	case b.kind == message.TypeReasoning:
		b.emit(provider.Event{Reasoning: s})
	default:
		b.emit(provider.Event{Text: s})
	}
}

// endText makes a part of the text that went on. Histories lose blank texts:
// one with a signature is kept whole beside itself.
func (b *builder) endText(sig string) {
	if b.text == nil {
		return
	}
	b.hear(b.text.End())
	text := b.text.String()
	b.text = nil
	p := message.Part{Type: b.kind, Text: text, Opaque: opaque{Signature: sig}.sealed()}
	keep := sig != "" && (text == "" || b.kind == message.TypeText && !notBlank(text))
	if keep {
		p.Opaque = nil
	}
	if text != "" {
		b.append(p)
	}
	if keep {
		raw, _ := sse.Encode(wirePart{Text: &text, Thought: b.kind == message.TypeReasoning, Signature: sig}) // strings: can't fail
		b.alone(raw)
	}
}

// alone adds what has neither text nor a call but has to go back.
func (b *builder) alone(raw json.RawMessage) {
	b.Grow(len(raw))
	b.append(message.Part{Type: message.TypeReasoning, Opaque: opaque{Part: raw}.sealed()})
}

func (b *builder) append(p message.Part) { b.parts = append(b.parts, p) }

// calls counts the calls so far.
func (b *builder) calls() int {
	n := 0
	for _, p := range b.parts {
		if p.Type == message.TypeCall {
			n++
		}
	}
	if b.open != nil {
		n++
	}
	return n
}

// finished reports whether the answer, or the refusal to give one, is complete.
func (b *builder) finished() bool { return b.finish != "" || b.blocked != "" }

// empty reports whether nothing of an answer has come yet.
func (b *builder) empty() bool { return len(b.parts) == 0 && b.text == nil && b.open == nil }

// received says how much came, for errors.
func (b *builder) received() string {
	return fmt.Sprintf("%d events with %d bytes of text and %d tool calls", b.chunks, b.bytes, b.calls())
}
