package openai

import (
	"bytes"
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// vendor holds the fields of an assistant message that some services want
// back: DeepSeek and Moonshot reasoning_content, Groq and vLLM reasoning,
// OpenRouter reasoning_details, GitHub reasoning_text and reasoning_opaque,
// Gemini extra_content (thought signatures).
type vendor struct {
	ReasoningContent string            `json:"reasoning_content,omitempty"`
	Reasoning        string            `json:"reasoning,omitempty"`
	ReasoningText    string            `json:"reasoning_text,omitempty"`
	ReasoningOpaque  string            `json:"reasoning_opaque,omitempty"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details,omitempty"`
	ExtraContent     json.RawMessage   `json:"extra_content,omitempty"`
}

// opaque is what a Part's Opaque holds: on a reasoning part the vendor's
// fields of the message and the name of the field that held the part's text,
// on a call its extra_content.
type opaque struct {
	Field string `json:"field,omitempty"`
	vendor
}

// sealed returns o as JSON, nil if there is nothing in it.
func (o opaque) sealed() json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(o); err != nil {
		return nil // raw fields came from a decoder: they are valid
	}
	raw := message.CleanEscapes(message.Clean(string(bytes.TrimSpace(b.Bytes()))))
	if raw == "{}" {
		return nil
	}
	return json.RawMessage(raw)
}

// opened is the reverse; what can't be read counts as nothing.
func opened(raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || json.Unmarshal(raw, &o) != nil {
		return opaque{}
	}
	if message.IsMasked(raw) { // the text is all that may go back
		return opaque{Field: o.Field}
	}
	return o
}

// replay returns the fields to send. Reasoning text goes back only beside
// calls: DeepSeek demands it there and its older models refused it elsewhere.
// Where there are details, they hold the text.
func (o opaque) replay(text string, calls bool) vendor {
	v := o.vendor
	if !calls || len(v.ReasoningDetails) > 0 {
		return v
	}
	switch o.Field {
	case "reasoning_content":
		v.ReasoningContent = text
	case "reasoning":
		v.Reasoning = text
	case "reasoning_text":
		v.ReasoningText = text
	}
	return v
}

// details collects OpenRouter's reasoning_details: pieces of text and of
// summaries are joined with the piece before if type and index agree, the rest
// is kept as it came
// (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
type details []*detail

type detail struct {
	raw    json.RawMessage
	fields map[string]json.RawMessage
	joined bool // fields say more than raw
}

// add takes the next piece; what is no object is dropped.
func (ds *details) add(raw json.RawMessage) {
	d := &detail{raw: raw}
	if json.Unmarshal(raw, &d.fields) != nil || d.fields == nil {
		return
	}
	if n := len(*ds); n == 0 || !(*ds)[n-1].join(d) {
		*ds = append(*ds, d)
	}
}

// join continues d by next, unless that is something of its own.
func (d *detail) join(next *detail) bool {
	kind := string(next.fields["type"])
	if kind != `"reasoning.text"` && kind != `"reasoning.summary"` ||
		string(d.fields["type"]) != kind || !bytes.Equal(d.fields["index"], next.fields["index"]) {
		return false
	}
	for key, value := range next.fields {
		old := d.fields[key]
		switch {
		case sse.IsNull(value):
		case (key == "text" || key == "summary") && sse.IsString(old) && sse.IsString(value):
			// Literals are joined, not strings: a surrogate pair may be cut in two.
			d.fields[key] = append(old[:len(old)-1], value[1:]...)
		default:
			d.fields[key] = value
		}
	}
	d.joined = true
	return true
}

// list returns what was collected, as it goes back to the vendor.
func (ds details) list() []json.RawMessage {
	var list []json.RawMessage
	for _, d := range ds {
		if d.joined {
			d.raw, _ = json.Marshal(d.fields) // raw JSON again: can't fail
			d.joined = false
		}
		list = append(list, d.raw)
	}
	return list
}
