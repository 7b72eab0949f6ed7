package openai

import (
	"encoding/json"
	"net/url"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
)

// settings are the fields of a request that shape the reply.
type settings struct {
	ToolChoice          *wireChoice `json:"tool_choice,omitempty"`
	ResponseFormat      *wireFormat `json:"response_format,omitempty"`
	MaxCompletionTokens int         `json:"max_completion_tokens,omitempty"`
	MaxTokens           int         `json:"max_tokens,omitempty"` // its former name
	Temperature         *float64    `json:"temperature,omitempty"`
	ReasoningEffort     string      `json:"reasoning_effort,omitempty"`
}

type wireChoice struct {
	Type     string   `json:"type"`
	Function wireName `json:"function"`
}

type wireName struct {
	Name string `json:"name"`
}

type wireFormat struct {
	Type       string     `json:"type"`
	JSONSchema wireSchema `json:"json_schema"`
}

type wireSchema struct {
	Name   string          `json:"name"`
	Schema json.RawMessage `json:"schema"`
	Strict bool            `json:"strict"`
}

func (c *client) settings(req provider.Request) settings {
	s := settings{Temperature: req.Options.Temperature, ReasoningEffort: req.Options.Effort}
	for _, t := range req.Tools {
		if t.Name == req.Choice {
			s.ToolChoice = &wireChoice{"function", wireName{t.Name}}
		}
	}
	if schema, strict, ok := provider.OutputSchema(req.Output); ok {
		s.ResponseFormat = &wireFormat{"json_schema", wireSchema{"answer", schema, strict}}
	}
	// OpenAI's reasoning models refuse the former name, others know no other.
	if c.own {
		s.MaxCompletionTokens = max(req.Options.MaxOutput, 0)
	} else {
		s.MaxTokens = max(req.Options.MaxOutput, 0)
	}
	return s
}

// makersOwn reports whether an address is one of OpenAI or of Azure, where the
// same models run.
func makersOwn(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := "." + strings.ToLower(u.Hostname())
	return strings.HasSuffix(host, ".openai.com") || strings.HasSuffix(host, ".azure.com")
}

// Dropped names what tools' schemas lose on the way to the service, one line
// each as "tool: path.keyword".
func Dropped(tools []message.ToolSpec) []string { return provider.DroppedFromTools(tools) }
