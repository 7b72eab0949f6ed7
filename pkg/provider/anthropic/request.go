package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

type wireRequest struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	System       []block       `json:"system,omitempty"`
	Tools        []wireTool    `json:"tools,omitempty"`
	ToolChoice   *wireChoice   `json:"tool_choice,omitempty"`
	Messages     []wireMessage `json:"messages"`
	Thinking     *wireThinking `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	Temperature  *float64      `json:"temperature,omitempty"`
	Stream       bool          `json:"stream"`
}

type wireMessage struct {
	Role    string  `json:"role"`
	Content []block `json:"content"`
}

type wireTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	mark
}

type wireChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// encode returns the body of a request.
func (c *client) encode(req provider.Request, left leftOut) ([]byte, error) {
	w := wireRequest{Model: c.http.Model, MaxTokens: c.traits.maxOutput, Stream: true}
	if req.Options.MaxOutput > 0 {
		w.MaxTokens = req.Options.MaxOutput
	}
	if notBlank(req.System) {
		w.System = []block{textBlock(req.System)}
	}
	for _, t := range req.Tools {
		schema, lost := inputSchema(t.Schema)
		w.Tools = append(w.Tools, wireTool{
			Name: t.Name, InputSchema: schema,
			Description: message.Clean(strings.TrimSpace(t.Description + "\n\n" + lost)),
		})
	}
	w.Messages = c.messages(req.Conversation(), left)
	w.markPrefix(notBlank(req.Note))
	if c.traits.forced && slices.ContainsFunc(req.Tools, func(t message.ToolSpec) bool { return t.Name == req.Choice }) {
		w.ToolChoice = &wireChoice{"tool", req.Choice}
	}
	c.configure(&w, req, left)
	return sse.Encode(w)
}

// mark tells where a prefix ends that is worth keeping in the cache.
type mark struct {
	CacheControl *cacheControl `json:"cache_control,omitempty"`
}

type cacheControl struct {
	Type string `json:"type"`
}

func (m *mark) set() { m.CacheControl = &cacheControl{"ephemeral"} }

// markPrefix marks what stays the same in the next request: tools and system
// prompt (one mark at their end), and the messages so far. The end of the
// previous request is marked too: the service looks back 20 blocks only, and
// a reply with its results may hold more. That is three marks of the four
// that there may be. A note changes the last message from request to request:
// then the prefix ends with the reply before it.
func (w *wireRequest) markPrefix(noted bool) {
	if n := len(w.System); n > 0 {
		w.System[n-1].set()
	} else if n := len(w.Tools); n > 0 {
		w.Tools[n-1].set()
	}
	left, messages := 2, w.Messages
	if noted && len(messages) > 0 {
		messages = messages[:len(messages)-1]
	}
	for i := len(messages) - 1; i >= 0 && left > 0; i-- {
		if m := messages[i]; m.Role == "user" || noted && i == len(messages)-1 && m.Content[len(m.Content)-1].markable() {
			m.Content[len(m.Content)-1].set()
			left--
		}
	}
}

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }
