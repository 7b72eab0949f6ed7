package anthropic

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// piece is a block in the making.
type piece struct {
	kind      string
	id, name  string
	text      sse.Joiner // text, thinking, a compaction's summary
	signature string
	citations []json.RawMessage
	args      sse.Joiner
	input     json.RawMessage // arguments that came as a value
	valued    bool            // in a piece of their own
	caller    json.RawMessage
	raw       json.RawMessage // the block as it began
}

// sign takes a piece of a signature. Some servers send the whole of it twice.
func (p *piece) sign(s string) {
	if s != p.signature {
		p.signature += s
	}
}

// argue takes a piece of the arguments. What is text here and a value there
// would be half of what the model wrote.
func (p *piece) argue(strict *sse.Strict, raw json.RawMessage) {
	strict.Grow(len(raw))
	switch {
	case sse.IsString(raw):
		p.args.Add(raw)
	case !sse.IsNull(raw):
		p.input, p.valued = raw, true
	}
	if p.valued && strings.TrimSpace(p.args.String()) != "" {
		strict.Refuse("partial_json", p.input, "text")
	}
}

// part returns what the piece is in a reply. Blocks of other kinds than ours
// are reasoning without words: kept for the vendor, meaningless to others.
func (p *piece) part() (message.Part, bool) {
	switch p.kind {
	case "text":
		part := message.Text(p.text.String())
		if len(p.citations) > 0 {
			part.Opaque = opaque{Citations: p.cited()}.sealed()
		}
		return part, part.Text != ""
	case "thinking":
		part := message.Part{Type: message.TypeReasoning, Text: p.text.String()}
		part.Opaque = opaque{Type: "thinking", Signature: p.signature}.sealed()
		return part, part.Text != "" || p.signature != ""
	case "tool_use":
		part := message.Call(message.ToolCall{ID: p.id, Name: p.name, Arguments: p.arguments()})
		if !p.direct() {
			part.Opaque = opaque{Caller: p.caller}.sealed()
		}
		return part, true
	}
	raw := p.block()
	return message.Part{Type: message.TypeReasoning, Opaque: raw}, raw != nil
}

// arguments returns them as the model wrote them. None at all, or null, is
// what models write for a tool without parameters: {}.
func (p *piece) arguments() string {
	p.args.End()
	args := p.args.String()
	if strings.TrimSpace(args) == "" {
		args = message.Clean(string(p.input))
	}
	if s := strings.TrimSpace(args); s == "" || s == "null" {
		return "{}"
	}
	return args
}

// direct reports whether the model itself made the call, as is usual, and not
// a program of its in the service's sandbox.
func (p *piece) direct() bool {
	var c struct{ Type sse.Loose }
	return sse.IsNull(p.caller) || json.Unmarshal(p.caller, &c) != nil || c.Type == "direct"
}

func (p *piece) cited() json.RawMessage {
	list, err := json.Marshal(p.citations)
	if err != nil {
		return nil
	}
	return list
}

// block returns a block of the vendor's as it came, with what its deltas
// brought. nil if it is none.
func (p *piece) block() json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(p.raw, &fields) != nil {
		return nil
	}
	p.args.End()
	args, text := p.args.String(), p.text.String()
	if args == "" && text == "" {
		return clean(p.raw)
	}
	if args != "" && json.Valid([]byte(args)) {
		fields["input"] = json.RawMessage(args)
	}
	if text != "" {
		fields["content"], _ = sse.Encode(text)
	}
	raw, err := sse.Encode(fields)
	if err != nil {
		return nil
	}
	return clean(raw)
}
