package anthropic

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
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
	return sse.Encode(plain(b))
}

func (b block) thinks() bool { return b.Type == "thinking" || b.Type == "redacted_thinking" }

// markable reports whether a cache mark may stand on the block.
func (b block) markable() bool { return b.raw == nil && (b.Type == "text" || b.Type == "tool_use") }

func textBlock(s string) block { return block{Type: "text", Text: message.Clean(s)} }

// resultBlock says what came of a call. A blank text is left out: the service
// refuses blank texts, and no content stands for none. An error has to have
// some.
func resultBlock(r *message.ToolResult) block {
	b := block{Type: "tool_result", ToolUseID: sse.LegalName(r.ID), Content: message.Clean(r.Text), IsError: r.IsError}
	if !notBlank(b.Content) {
		b.Content = ""
		if b.IsError {
			b.Content = "error"
		}
	}
	return b
}

// callBlock makes ids and names legal that way because one rule is for both.
// Sessions see to that anyway; this is for those who have none.
func callBlock(c *message.ToolCall) block {
	return block{
		Type: "tool_use", ID: sse.LegalName(c.ID), Name: sse.LegalName(c.Name),
		Input: json.RawMessage(sse.LegalArguments(c.Arguments)),
	}
}
