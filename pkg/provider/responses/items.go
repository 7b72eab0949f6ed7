package responses

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// wireMessage is a message of any role. Content is a string, or the list that
// the protocol wants where more is to be said about a text.
type wireMessage struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	ID      string `json:"id,omitempty"`
	Status  string `json:"status,omitempty"`
	Content any    `json:"content"`
	Phase   string `json:"phase,omitempty"`
}

type wireOutputText struct {
	Type        string `json:"type"`
	Text        string `json:"text"`
	Annotations []any  `json:"annotations"`
}

type wireRefusal struct {
	Type    string `json:"type"`
	Refusal string `json:"refusal"`
}

type wireCall struct {
	Type      string `json:"type"`
	ID        string `json:"id,omitempty"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type wireOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// items returns m as the service wants it; nothing if it is blank.
func (c *client) items(m message.Message) (items []any) {
	switch m.Role {
	case message.User:
		var texts []string
		for _, p := range m.Parts {
			if p.Type == message.TypeText && notBlank(p.Text) {
				texts = append(texts, p.Text)
			}
		}
		if texts != nil {
			items = append(items, wireMessage{Type: "message", Role: "user", Content: message.Clean(strings.Join(texts, "\n\n"))})
		}
	case message.Assistant:
		return c.assistant(m)
	case message.Tool:
		for _, p := range m.Parts {
			if p.Type == message.TypeResult && p.Result != nil {
				items = append(items, wireOutput{"function_call_output", p.Result.ID, message.Clean(p.Result.Text)})
			}
		}
	}
	return items
}

// assistant returns what a model said, in order. Thoughts go back to their
// maker alone, and only before what they led to: at the end of a message the
// service refuses them.
func (c *client) assistant(m message.Message) (items []any) {
	own := m.Model == c.http.ID()
	said := 0
	for _, p := range m.Parts {
		var o opaque
		if own {
			o = opened(p.Opaque)
		}
		switch p.Type {
		case message.TypeReasoning:
			if own && isThought(p.Opaque) {
				items = append(items, p.Opaque)
			}
			continue
		case message.TypeText:
			if !notBlank(p.Text) {
				continue
			}
			items = append(items, o.message(message.Clean(p.Text)))
		case message.TypeCall:
			if p.Call == nil {
				continue
			}
			items = append(items, wireCall{
				"function_call", o.id(), p.Call.ID,
				sse.LegalName(p.Call.Name), sse.LegalArguments(p.Call.Arguments),
			})
		default:
			continue
		}
		said = len(items)
	}
	return items[:said]
}

// opaque is what a Part's Opaque holds: on reasoning the whole item, as it
// came; on a text or a call what else the service said about it.
type opaque struct {
	ID      string `json:"id,omitempty"`
	Phase   string `json:"phase,omitempty"` // what a text is: commentary, final_answer
	Refusal bool   `json:"refusal,omitempty"`
}

// sealed returns o as JSON, nil if there is nothing in it.
func (o opaque) sealed() json.RawMessage {
	if o == (opaque{}) {
		return nil
	}
	raw, _ := sse.Encode(o) // strings: can't fail
	return raw
}

// opened is the reverse; what can't be read counts as nothing.
func opened(raw json.RawMessage) (o opaque) {
	if len(raw) > 0 && json.Unmarshal(raw, &o) != nil {
		return opaque{}
	}
	if message.IsMasked(raw) {
		return opaque{}
	}
	return o
}

// isThought reports whether raw is a whole item of reasoning: a log may hold
// anything, and one bad item would block the session for ever.
func isThought(raw json.RawMessage) bool {
	var o struct{ Type string }
	return len(raw) > 0 && !message.IsMasked(raw) && json.Unmarshal(raw, &o) == nil && o.Type == kindReasoning
}

// id returns the item's id if the service takes it back: some servers make
// ids that are longer than they accept.
func (o opaque) id() string {
	if len(o.ID) > 64 {
		return ""
	}
	return o.ID
}

// message returns a text as the item that it was.
func (o opaque) message(text string) wireMessage {
	w := wireMessage{Type: "message", Role: "assistant", Content: text, Phase: o.Phase}
	if o == (opaque{}) {
		return w
	}
	w.Content = []any{wireOutputText{"output_text", text, []any{}}}
	if o.Refusal {
		w.Content = []any{wireRefusal{"refusal", text}}
	}
	if w.ID = o.id(); w.ID != "" {
		w.Status = "completed"
	}
	return w
}
