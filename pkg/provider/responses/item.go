package responses

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

// The kinds of item that mean something to us.
const (
	kindMessage   = "message"
	kindReasoning = "reasoning"
	kindCall      = "function_call"
)

// item is an output item in the making.
type item struct {
	kind     string
	index    sse.Integer
	id       string
	callID   string
	name     string
	phase    string
	refusal  bool
	text     sse.Joiner      // of a message or a thought
	field    string          // of a thought: the event that told of it first; others repeat it
	emitted  int             // bytes of text that the caller has heard
	args     sse.Joiner      // as they streamed in
	said     json.RawMessage // arguments that were told whole
	raw      json.RawMessage // a thought as it was told whole
	done     bool            // told whole
	terminal bool            // told whole in the terminal event
	passed   bool            // what comes after it was heard: it can't say more, or it would be heard in the wrong place
}

// learn takes what an item says of itself. With whole it says all of it, and
// its text is what streamed in before and perhaps more.
func (it *item) learn(strict *sse.Strict, o outputItem, raw json.RawMessage, whole bool) {
	var name string
	if it.kind == kindCall {
		name = strict.Word("item.name", o.Name)
	}
	for _, f := range []struct {
		to   *string
		from string
	}{{&it.id, string(o.ID)}, {&it.callID, string(o.CallID)}, {&it.name, name}, {&it.phase, string(o.Phase)}} {
		if f.from != "" {
			*f.to = f.from
		}
	}
	if !whole {
		return
	}
	it.done = true
	switch it.kind {
	case kindMessage:
		content, err := partsOf(o.Content)
		strict.Err = cmp.Or(strict.Err, err)
		text, refusal := content.text(strict)
		it.refusal = it.refusal || refusal
		it.complete(text)
	case kindReasoning:
		it.think(strict, o, raw)
	case kindCall:
		if len(o.Arguments) > 0 && string(o.Arguments) != `""` || it.args.String() == "" {
			if it.said == nil && it.args.String() == "" {
				strict.Grow(len(o.Arguments))
			}
			it.said = bytes.Clone(o.Arguments)
		}
	}
}

// think takes a thought that is told whole. No answer is lost with one that
// can't be read.
func (it *item) think(strict *sse.Strict, o outputItem, raw json.RawMessage) {
	content, _ := partsOf(o.Content)
	text, _ := content.text(&sse.Strict{})
	if text == "" {
		text, _ = o.Summary.Is.text(&sse.Strict{})
	}
	it.complete(text)
	it.raw = nil
	if o.Encrypted != "" || len(content) > 0 { // else there is nothing in it for the service
		it.raw = compact(raw)
		strict.Grow(len(it.raw))
	}
}

// complete adds what of the whole text did not stream in. If it says something
// else, what was heard counts.
func (it *item) complete(whole string) {
	it.text.End()
	if it.passed {
		return
	}
	if rest, ok := strings.CutPrefix(whole, it.text.String()); ok && rest != "" {
		literal, _ := json.Marshal(rest) // a string: can't fail
		it.text.Add(literal)
	}
}

// pending returns the text that the caller has not heard yet.
func (it *item) pending() string {
	s := it.text.String()[it.emitted:]
	it.emitted += len(s)
	return s
}

// event is what the caller hears of s.
func (it *item) event(s string) provider.Event {
	if it.kind == kindReasoning {
		return provider.Event{Reasoning: s}
	}
	return provider.Event{Text: s}
}

// arguments returns them as the model wrote them. None at all, or null, is
// what models write for a tool without parameters: {}.
func (it *item) arguments() string {
	it.args.End()
	args := it.args.String()
	switch {
	case sse.IsString(it.said):
		var j sse.Joiner
		j.Add(it.said)
		j.End()
		args = j.String()
	case !sse.IsNull(it.said):
		args = message.Clean(string(it.said))
	}
	if s := strings.TrimSpace(args); s == "" || s == "null" {
		return "{}"
	}
	return args
}

// part returns the item as a part of the reply; ok is false if it says nothing.
func (it *item) part() (p message.Part, ok bool) {
	switch it.kind {
	case kindMessage:
		p = message.Text(it.text.String())
		p.Opaque = opaque{ID: it.id, Phase: it.phase, Refusal: it.refusal}.sealed()
		return p, p.Text != ""
	case kindReasoning:
		p = message.Part{Type: message.TypeReasoning, Text: it.text.String(), Opaque: it.raw}
		return p, p.Text != "" || p.Opaque != nil
	case kindCall:
		p = message.Call(message.ToolCall{ID: it.callID, Name: it.name, Arguments: it.arguments()})
		p.Opaque = opaque{ID: it.id}.sealed()
		return p, true
	}
	return p, false
}

// compact returns raw in one line, fit to be stored and sent.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return nil // can't happen: a decoder made it
	}
	return json.RawMessage(message.CleanEscapes(message.Clean(b.String())))
}
