package openai

import (
	"encoding/json"
	"strconv"
	"strings"

	"kagent/pkg/message"
)

// chunk is one event of a stream, or a whole completion. Fields that don't
// matter are left out; those that vendors get wrong have lenient types.
type chunk struct {
	Model   loose           `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	XGroq   json.RawMessage `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        integer         `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason loose           `json:"finish_reason"`
	Usage        *usage          `json:"usage"`
	Error        json.RawMessage `json:"error"`
}

// delta is a piece of an assistant message, or all of it.
type delta struct {
	Content          json.RawMessage   `json:"content"` // string, part or list of parts
	Refusal          json.RawMessage   `json:"refusal"`
	ReasoningContent json.RawMessage   `json:"reasoning_content"`
	Reasoning        json.RawMessage   `json:"reasoning"`
	ReasoningText    json.RawMessage   `json:"reasoning_text"`
	Thinking         json.RawMessage   `json:"thinking"`
	ReasoningOpaque  loose             `json:"reasoning_opaque"`
	ReasoningDetails json.RawMessage   `json:"reasoning_details"`
	ExtraContent     json.RawMessage   `json:"extra_content"`
	ToolCalls        []callDelta       `json:"tool_calls"`
	FunctionCall     *functionFragment `json:"function_call"` // the protocol's former way
}

type callDelta struct {
	Index        integer          `json:"index"`
	ID           loose            `json:"id"`
	Function     functionFragment `json:"function"`
	ExtraContent json.RawMessage  `json:"extra_content"`
}

type functionFragment struct {
	Name      loose           `json:"name"`
	Arguments json.RawMessage `json:"arguments"` // string, null or, against the protocol, an object
}

// contentPart is an element of a content list, for example Mistral's.
type contentPart struct {
	Type     string          `json:"type"`
	Text     json.RawMessage `json:"text"`
	Thinking json.RawMessage `json:"thinking"` // string or list of text parts
}

// usage knows the names of all vendors seen so far.
type usage struct {
	Prompt        count `json:"prompt_tokens"`
	Completion    count `json:"completion_tokens"`
	Total         count `json:"total_tokens"`
	CacheHit      count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached        count `json:"cached_tokens"`           // Moonshot
	PromptDetails struct {
		Cached     count `json:"cached_tokens"`
		CacheWrite count `json:"cache_write_tokens"` // OpenRouter
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning count `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// message returns u in our terms: output includes reasoning, which xAI, for
// example, counts beside it.
func (u usage) message() message.Usage {
	m := message.Usage{
		Input: int64(u.Prompt), Output: int64(u.Completion), Total: int64(u.Total),
		CacheRead:  int64(max(u.PromptDetails.Cached, u.CacheHit, u.Cached)),
		CacheWrite: int64(u.PromptDetails.CacheWrite),
		Reasoning:  int64(u.CompletionDetails.Reasoning),
	}
	if m.Reasoning > m.Output || m.Reasoning > 0 && m.Total == m.Input+m.Output+m.Reasoning {
		m.Output += m.Reasoning
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return m
}

// loose is a string that may be given as a number; anything else is "".
type loose string

func (l *loose) UnmarshalJSON(raw []byte) error {
	var s string
	switch {
	case raw[0] == '"':
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
	case raw[0] == '-' || '0' <= raw[0] && raw[0] <= '9':
		s = string(raw)
	}
	*l = loose(message.Clean(s))
	return nil
}

// count is a number of tokens; what is no number, or negative, is 0.
type count int64

func (c *count) UnmarshalJSON(raw []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || f != f || f < 0 {
		f = 0
	}
	*c = count(min(f, 1e15))
	return nil
}

// integer tells an index that is absent or null from 0.
type integer struct {
	n     int64
	given bool
}

func (i *integer) UnmarshalJSON(raw []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	*i = integer{n, err == nil}
	return nil
}
