package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// messages returns a conversation in the service's form: user and assistant
// take turns, the user begins, and all results of a reply stand in one
// message, before what the user says beside them.
func (c *client) messages(list []message.Message, left leftOut) []wireMessage {
	var out []wireMessage
	for _, m := range list {
		switch m.Role {
		case message.User:
			out = join(out, "user", userBlocks(m)...)
		case message.Tool:
			out = join(out, "user", resultBlocks(m)...)
		case message.Assistant:
			blocks := c.said(m, left)
			if len(out) == 0 && len(blocks) > 0 {
				out = join(out, "user", textBlock("(The beginning of the conversation is left out.)"))
			}
			out = join(out, "assistant", blocks...)
		}
	}
	for _, m := range out {
		if m.Role == "user" {
			slices.SortStableFunc(m.Content, func(a, b block) int { return rank(a) - rank(b) })
		}
	}
	return out
}

func rank(b block) int {
	if b.Type == "tool_result" {
		return 0
	}
	return 1
}

// join adds blocks to the last message if that is of the same role.
func join(list []wireMessage, role string, blocks ...block) []wireMessage {
	if len(blocks) == 0 {
		return list
	}
	if n := len(list); n > 0 && list[n-1].Role == role {
		list[n-1].Content = append(list[n-1].Content, blocks...)
		return list
	}
	return append(list, wireMessage{role, blocks})
}

func userBlocks(m message.Message) []block {
	var blocks []block
	for _, p := range m.Parts {
		if p.Type == message.TypeText && notBlank(p.Text) {
			blocks = append(blocks, textBlock(p.Text))
		}
	}
	return blocks
}

func resultBlocks(m message.Message) []block {
	var blocks []block
	for _, p := range m.Parts {
		if p.Type == message.TypeResult && p.Result != nil {
			blocks = append(blocks, resultBlock(p.Result))
		}
	}
	return blocks
}

// said returns what the assistant said, in its order; nothing if only another
// model's thoughts were in it, or half a thought.
func (c *client) said(m message.Message, left leftOut) []block {
	own := m.Model == c.http.ID() // vendor's data goes back to its maker alone
	var blocks []block
	for _, p := range m.Parts {
		var o opaque
		if own {
			o = opened(p.Opaque)
		}
		switch {
		case p.Type == message.TypeText && notBlank(p.Text):
			b := textBlock(p.Text)
			b.Citations = o.Citations
			blocks = append(blocks, b)
		case p.Type == message.TypeCall && p.Call != nil:
			b := callBlock(p.Call)
			b.Caller = o.Caller
			blocks = append(blocks, b)
		case p.Type == message.TypeReasoning && own:
			if b, ok := c.thought(p, o); ok && !(left.thoughts && b.thinks()) {
				blocks = append(blocks, b)
			}
		}
	}
	blocks = settled(blocks)
	if !slices.ContainsFunc(blocks, func(b block) bool { return b.Type == "text" || b.Type == "tool_use" }) {
		return nil
	}
	return blocks
}

// thought returns the vendor's block that a reasoning part stands for. One of
// Claude's without a signature was cut off; the service would refuse it.
func (c *client) thought(p message.Part, o opaque) (block, bool) {
	switch {
	case o.Type == "thinking":
		text := message.Clean(p.Text)
		return block{Type: "thinking", Thinking: &text, Signature: &o.Signature}, o.Signature != "" || !c.traits.claude
	case goesBack(o.Type):
		return block{Type: o.Type, ID: o.ID, ToolUseID: o.ToolUseID, raw: p.Opaque}, true
	}
	return block{}, false
}

// goesBack reports whether a block of that type, which means nothing to us, is
// one that the service wants to see again.
func goesBack(kind string) bool {
	switch kind {
	case "redacted_thinking", "server_tool_use", "mcp_tool_use", "container_upload", "compaction":
		return true
	}
	return strings.HasSuffix(kind, "_tool_result")
}

// settled leaves out tools of the service that have no result, unless the
// message has calls of ours: only then their results come in a later answer.
func settled(blocks []block) []block {
	done := map[string]bool{}
	for _, b := range blocks {
		if b.Type == "tool_use" {
			return blocks
		}
		done[b.ToolUseID] = true
	}
	return slices.DeleteFunc(blocks, func(b block) bool {
		return (b.Type == "server_tool_use" || b.Type == "mcp_tool_use") && !done[b.ID]
	})
}

// opaque is what a Part's Opaque holds: for thinking its signature (the text
// is the part's), for a text its citations, for a call who made it if not the
// model itself, and for every other block the block as it came.
type opaque struct {
	Type      string          `json:"type,omitempty"`
	Signature string          `json:"signature,omitempty"`
	Citations json.RawMessage `json:"citations,omitempty"`
	Caller    json.RawMessage `json:"caller,omitempty"`
	ID        string          `json:"id,omitempty"`
	ToolUseID string          `json:"tool_use_id,omitempty"`
}

// sealed returns o as JSON.
func (o opaque) sealed() json.RawMessage {
	raw, err := sse.Encode(o)
	if err != nil {
		return nil // raw fields came from a decoder: they are valid
	}
	return clean(raw)
}

// clean makes the vendor's JSON fit to be stored and sent.
func clean(raw []byte) json.RawMessage {
	return json.RawMessage(message.CleanEscapes(message.Clean(strings.TrimSpace(string(raw)))))
}

// opened is the reverse; what can't be read, or is not sound any more, counts as
// nothing.
func opened(raw json.RawMessage) opaque {
	var o opaque
	if len(raw) == 0 || message.IsMasked(raw) || json.Unmarshal(raw, &o) != nil {
		return opaque{}
	}
	return o
}
