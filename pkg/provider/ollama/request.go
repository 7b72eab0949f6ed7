package ollama

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

type wireRequest struct {
	Model    string          `json:"model"`
	Messages []wireMessage   `json:"messages"`
	Tools    []wireTool      `json:"tools,omitempty"`
	Stream   bool            `json:"stream"`
	Think    string          `json:"think,omitempty"` // low, medium, high; models without levels read any as true
	Format   json.RawMessage `json:"format,omitempty"`
	Options  *options        `json:"options,omitempty"`
}

type options struct {
	NumPredict  int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
}

type wireMessage struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitempty"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolName   string     `json:"tool_name,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type wireCall struct {
	ID       string       `json:"id,omitempty"`
	Function wireFunction `json:"function"`
}

// wireFunction has its arguments as an object: the server refuses a string.
type wireFunction struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type wireTool struct {
	Type     string   `json:"type"`
	Function wireSpec `json:"function"`
}

type wireSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// encode returns the body of a request. The server has no way to force a tool:
// req.Choice is ignored. A format binds every word of a reply, calls too: it
// is sent only where no tools are offered.
func (c *client) encode(req provider.Request) ([]byte, error) {
	w := wireRequest{Model: c.http.Model, Stream: true, Think: req.Options.Effort}
	if notBlank(req.System) {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: message.Clean(req.System)})
	}
	for _, m := range req.Conversation() {
		w.Messages = c.append(w.Messages, m)
	}
	for _, t := range req.Tools {
		parameters, _ := provider.ToolSchema(t.Schema)
		w.Tools = append(w.Tools, wireTool{"function", wireSpec{t.Name, message.Clean(t.Description), parameters}})
	}
	if len(req.Tools) == 0 {
		w.Format = req.Output
	}
	if o := (options{req.Options.MaxOutput, req.Options.Temperature}); o != (options{}) {
		w.Options = &o
	}
	return sse.Encode(w)
}

// Dropped names what tools' schemas lose on the way to the server, one line
// each as "tool: path.keyword".
func Dropped(tools []message.ToolSpec) []string { return provider.DroppedFromTools(tools) }

// append adds m to list: nothing if m is blank, one message for each tool
// result. What a user says in a row is one message: chat templates want the
// roles to alternate.
func (c *client) append(list []wireMessage, m message.Message) []wireMessage {
	switch m.Role {
	case message.User:
		for _, p := range m.Parts {
			if p.Type != message.TypeText || !notBlank(p.Text) {
				continue
			}
			if n := len(list); n > 0 && list[n-1].Role == "user" {
				list[n-1].Content += "\n\n" + message.Clean(p.Text)
			} else {
				list = append(list, wireMessage{Role: "user", Content: message.Clean(p.Text)})
			}
		}
	case message.Assistant:
		if said := c.said(m); notBlank(said.Content) || said.ToolCalls != nil {
			list = append(list, said)
		}
	case message.Tool:
		for _, p := range m.Parts {
			if r := p.Result; p.Type == message.TypeResult && r != nil {
				list = append(list, wireMessage{Role: "tool", Content: message.Clean(r.Text), ToolName: sse.LegalName(r.Name), ToolCallID: r.ID})
			}
		}
	}
	return list
}

// said returns what a model said; its thoughts go back to itself alone.
func (c *client) said(m message.Message) wireMessage {
	w := wireMessage{Role: "assistant"}
	if text := m.Text(); notBlank(text) {
		w.Content = message.Clean(text)
	}
	for _, p := range m.Parts {
		switch {
		case p.Type == message.TypeReasoning && m.Model == c.http.ID():
			w.Thinking += message.Clean(p.Text)
		case p.Type == message.TypeCall && p.Call != nil:
			w.ToolCalls = append(w.ToolCalls, wireCall{ID: p.Call.ID, Function: wireFunction{
				Name: sse.LegalName(p.Call.Name), Arguments: json.RawMessage(sse.LegalArguments(p.Call.Arguments)),
			}})
		}
	}
	return w
}

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }
