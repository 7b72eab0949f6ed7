package openai

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

type wireRequest struct {
	Model    string        `json:"model"`
	Messages []wireMessage `json:"messages"`
	Tools    []wireTool    `json:"tools,omitempty"`
	settings
	Stream        bool `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// wireMessage always has the key content: some servers refuse a message
// without it. Null is what OpenAI itself writes beside calls.
type wireMessage struct {
	Role       string     `json:"role"`
	Content    *string    `json:"content"`
	ToolCalls  []wireCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	vendor
}

type wireCall struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Function     wireFunction    `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content,omitempty"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
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

// encode returns the body of a request.
func (c *client) encode(req provider.Request) ([]byte, error) {
	w := wireRequest{Model: c.http.Model, Stream: true}
	w.StreamOptions.IncludeUsage = true
	if notBlank(req.System) {
		w.Messages = append(w.Messages, wireMessage{Role: "system", Content: clean(req.System)})
	}
	for _, m := range req.Conversation() {
		w.Messages = append(w.Messages, c.message(m)...)
	}
	for _, t := range req.Tools {
		parameters, _ := provider.ToolSchema(t.Schema)
		w.Tools = append(w.Tools, wireTool{"function", wireSpec{t.Name, message.Clean(t.Description), parameters}})
	}
	w.settings = c.settings(req)
	return sse.Encode(w)
}

// message returns m as the service wants it: nothing if m is blank, one
// message for each tool result.
func (c *client) message(m message.Message) []wireMessage {
	switch m.Role {
	case message.User:
		var texts []string
		for _, p := range m.Parts {
			if p.Type == message.TypeText && notBlank(p.Text) {
				texts = append(texts, p.Text)
			}
		}
		if texts == nil {
			return nil
		}
		return []wireMessage{{Role: "user", Content: clean(strings.Join(texts, "\n\n"))}}
	case message.Assistant:
		return c.assistant(m)
	case message.Tool:
		var results []wireMessage
		for _, p := range m.Parts {
			if p.Type == message.TypeResult && p.Result != nil {
				results = append(results, wireMessage{Role: "tool", Content: clean(p.Result.Text), ToolCallID: p.Result.ID})
			}
		}
		return results
	}
	return nil
}

func (c *client) assistant(m message.Message) []wireMessage {
	w := wireMessage{Role: "assistant"}
	own := m.Model == c.http.ID() // vendor's data goes back to its maker alone
	for _, p := range m.Parts {
		if p.Type != message.TypeCall || p.Call == nil {
			continue
		}
		call := wireCall{ID: p.Call.ID, Type: "function", Function: wireFunction{
			Name: sse.LegalName(p.Call.Name), Arguments: sse.LegalArguments(p.Call.Arguments),
		}}
		if own {
			call.ExtraContent = opened(p.Opaque).ExtraContent
		}
		w.ToolCalls = append(w.ToolCalls, call)
	}
	if text := m.Text(); notBlank(text) {
		w.Content = clean(text)
	}
	if w.Content == nil && w.ToolCalls == nil {
		return nil
	}
	for _, p := range m.Parts {
		if own && p.Type == message.TypeReasoning {
			w.vendor = opened(p.Opaque).replay(p.Text, w.ToolCalls != nil)
		}
	}
	return []wireMessage{w}
}

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }

func clean(s string) *string {
	s = message.Clean(s)
	return &s
}
