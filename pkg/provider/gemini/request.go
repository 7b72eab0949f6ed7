package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"kagent/pkg/message"
	"kagent/pkg/provider"
	"kagent/pkg/provider/sse"
)

type wireRequest struct {
	System     *content    `json:"systemInstruction,omitempty"`
	Contents   []content   `json:"contents"`
	Tools      []wireTools `json:"tools,omitempty"`
	ToolConfig *toolConfig `json:"toolConfig,omitempty"`
	Generation *generation `json:"generationConfig,omitempty"`
}

type content struct {
	Role  string            `json:"role,omitempty"`
	Parts []json.RawMessage `json:"parts"`
}

type wireTools struct {
	Declarations []declaration `json:"functionDeclarations"`
}

type declaration struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type toolConfig struct {
	Calling calling `json:"functionCallingConfig"`
}

type calling struct {
	Mode    string   `json:"mode"`
	Allowed []string `json:"allowedFunctionNames"`
}

type generation struct {
	MaxOutput   int             `json:"maxOutputTokens,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	MimeType    string          `json:"responseMimeType,omitempty"`
	Schema      json.RawMessage `json:"responseJsonSchema,omitempty"`
	Thinking    *thinking       `json:"thinkingConfig,omitempty"`
}

type thinking struct {
	Include bool   `json:"includeThoughts"`
	Budget  int    `json:"thinkingBudget,omitempty"`
	Level   string `json:"thinkingLevel,omitempty"`
}

// encode returns the body of a request: valid UTF-8 without NUL and without
// half surrogate pairs, also inside call arguments.
func (c *client) encode(req provider.Request) ([]byte, error) {
	contents, err := c.contents(req.Conversation())
	if err != nil {
		return nil, err
	}
	w := wireRequest{Contents: contents, Generation: c.generationConfig(req)}
	if notBlank(req.System) {
		text, err := sse.Encode(wirePart{Text: clean(req.System)})
		if err != nil {
			return nil, err
		}
		w.System = &content{Parts: []json.RawMessage{text}}
	}
	var list []declaration
	for _, t := range req.Tools {
		parameters, _ := reshape(t.Schema)
		list = append(list, declaration{Name: legalName(t.Name), Description: message.Clean(t.Description), Parameters: parameters})
	}
	if list != nil {
		w.Tools = []wireTools{{list}}
	}
	if slices.ContainsFunc(req.Tools, func(t message.ToolSpec) bool { return t.Name == req.Choice }) {
		w.ToolConfig = &toolConfig{calling{Mode: "ANY", Allowed: []string{legalName(req.Choice)}}}
	}
	return sse.Encode(w)
}

// generationConfig returns the options, nil if all is left to the service. An
// answer's schema and a forced tool exclude each other, before Gemini 3 also
// the schema and any tools: the tools win.
func (c *client) generationConfig(req provider.Request) *generation {
	g := generation{MaxOutput: req.Options.MaxOutput, Temperature: req.Options.Temperature, Thinking: c.thinking(req.Options.Effort)}
	if len(req.Output) > 0 && (len(req.Tools) == 0 || req.Choice == "" && !c.before3()) {
		g.MimeType, g.Schema = "application/json", req.Output
	}
	if g.MaxOutput == 0 && g.Temperature == nil && g.Thinking == nil && g.Schema == nil {
		return nil
	}
	return &g
}

// thinking turns an effort into what the model's generation knows: levels, or
// a budget of tokens (those are the service's own for its OpenAI endpoint).
func (c *client) thinking(effort string) *thinking {
	if effort == "" {
		return nil
	}
	if c.before3() {
		return &thinking{Include: true, Budget: map[string]int{"low": 1024, "medium": 8192, "high": 24576}[effort]}
	}
	if effort == "medium" && strings.Contains(c.http.Model, "gemini-3-pro") {
		effort = "high" // it has no level between
	}
	return &thinking{Include: true, Level: effort}
}

// offered returns the tools' names by those that the service knows, where they
// differ.
func offered(tools []message.ToolSpec) map[string]string {
	names := map[string]string{}
	for _, t := range tools {
		if legal := legalName(t.Name); legal != t.Name {
			names[legal] = t.Name
		}
	}
	return names
}

// legalName makes a name one that the service takes back: it may not begin with
// a digit or -. (The service takes . and : too, others don't.)
func legalName(name string) string {
	if name != "" && (name[0] == '-' || '0' <= name[0] && name[0] <= '9') {
		name = "_" + name
	}
	return sse.LegalName(name)
}
