package anthropic

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
)

// block is an element of a message's content. Which fields are set follows
// from its type; one with raw is sent as it came.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Citations json.RawMessage `json:"citations,omitempty"`
	Thinking  *string         `json:"thinking,omitempty"`
	Signature *string         `json:"signature,omitempty"`
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Caller    json.RawMessage `json:"caller,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
	Content   string          `json:"content,omitempty"`
	IsError   bool            `json:"is_error,omitempty"`
	mark
	raw json.RawMessage
}

func (b block) MarshalJSON() ([]byte, error) {
	if b.raw != nil {
		return b.raw, nil
	}
	type plain block // without this method
	return marshalPlain(plain(b))
}

// marshalPlain is json.Marshal without the escaping of <, > and &, which would
// change nothing but the length.
func marshalPlain(v any) ([]byte, error) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return []byte(b.String()), err
}

func textBlock(s string) block { return block{Type: "text", Text: message.Clean(s)} }

// resultBlock says what came of a call. A blank text is left out: the service
// refuses blank texts, and no content stands for none. An error has to have
// some.
func resultBlock(r *message.ToolResult) block {
	b := block{Type: "tool_result", ToolUseID: r.ID, Content: message.Clean(r.Text), IsError: r.IsError}
	if !notBlank(b.Content) {
		b.Content = ""
		if b.IsError {
			b.Content = "error"
		}
	}
	return b
}

func callBlock(c *message.ToolCall) block {
	return block{Type: "tool_use", ID: legal(c.ID), Name: legal(c.Name), Input: legalInput(c.Arguments)}
}

// legal makes an id or a name fit ^[a-zA-Z0-9_-]{1,64}$. Sessions see to that;
// this is for those who call the provider without one.
func legal(s string) string {
	if s == "" {
		return "unknown"
	}
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 64)]
}

// legalInput returns args if they are a JSON object, else an empty one: the
// result that follows has told the model what was wrong with them.
func legalInput(args string) json.RawMessage {
	args = strings.TrimSpace(message.Clean(args))
	if !strings.HasPrefix(args, "{") || !json.Valid([]byte(args)) {
		return json.RawMessage("{}")
	}
	return json.RawMessage(args)
}
