package responses

import (
	"encoding/json"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

type wireRequest struct {
	Model           string         `json:"model"`
	Instructions    string         `json:"instructions,omitempty"`
	Input           []any          `json:"input"`
	Tools           []wireTool     `json:"tools,omitempty"`
	ToolChoice      *wireChoice    `json:"tool_choice,omitempty"`
	Text            *wireText      `json:"text,omitempty"`
	MaxOutputTokens int            `json:"max_output_tokens,omitempty"`
	Temperature     *float64       `json:"temperature,omitempty"`
	Reasoning       *wireReasoning `json:"reasoning,omitempty"`
	Include         []string       `json:"include,omitempty"`
	Store           bool           `json:"store"`
	Stream          bool           `json:"stream"`
}

type wireTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"` // true is the service's default, and refuses most schemas
}

type wireChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type wireText struct {
	Format wireFormat `json:"format"`
}

type wireFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

type wireReasoning struct {
	Effort string `json:"effort"`
}

// leastOutput is the smallest number of tokens that the service takes as a limit.
const leastOutput = 16

// encode returns the body of a request. It asks for the model's thoughts in
// encrypted form, to be sent back in the next one.
func (c *client) encode(req provider.Request, left leftOut) ([]byte, error) {
	w := wireRequest{Model: c.http.Model, Input: []any{}, Stream: true, Temperature: req.Options.Temperature}
	if notBlank(req.System) {
		w.Instructions = message.Clean(req.System)
	}
	for _, m := range req.Conversation() {
		if left.thoughts {
			m.Model = "" // without its thoughts it can be nobody's own: ids of items refer to them
		}
		w.Input = append(w.Input, c.items(m)...)
	}
	for _, t := range req.Tools {
		parameters, _ := provider.ToolSchema(t.Schema)
		w.Tools = append(w.Tools, wireTool{Type: "function", Name: t.Name, Description: message.Clean(t.Description), Parameters: parameters})
		if t.Name == req.Choice {
			w.ToolChoice = &wireChoice{"function", t.Name}
		}
	}
	if schema, strict, ok := provider.OutputSchema(req.Output); ok {
		w.Text = &wireText{wireFormat{"json_schema", "answer", schema, strict}}
	}
	if n := req.Options.MaxOutput; n > 0 {
		w.MaxOutputTokens = max(n, leastOutput)
	}
	if req.Options.Effort != "" {
		w.Reasoning = &wireReasoning{req.Options.Effort}
	}
	if !left.seal && !left.thoughts {
		w.Include = []string{"reasoning.encrypted_content"}
	}
	return sse.Encode(w)
}

// Dropped names what tools' schemas lose on the way to the service, one line
// each as "tool: path.keyword".
func Dropped(tools []message.ToolSpec) []string { return provider.DroppedFromTools(tools) }

func notBlank(s string) bool { return strings.TrimSpace(s) != "" }
