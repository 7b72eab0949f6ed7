package openai

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// chunk is one event of a stream, or a whole completion. Fields that don't
// matter are left out; those that vendors get wrong have lenient types.
type chunk struct {
	Model   sse.Loose       `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   sse.Lax[*usage] `json:"usage"`
	XGroq   json.RawMessage `json:"x_groq"`
	Error   json.RawMessage `json:"error"`
}

type choice struct {
	Index        sse.Integer     `json:"index"`
	Delta        *delta          `json:"delta"`
	Message      *delta          `json:"message"`
	FinishReason sse.Word        `json:"finish_reason"`
	Usage        sse.Lax[*usage] `json:"usage"`
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
	ReasoningOpaque  sse.Loose         `json:"reasoning_opaque"`
	ReasoningDetails json.RawMessage   `json:"reasoning_details"`
	ExtraContent     json.RawMessage   `json:"extra_content"`
	ToolCalls        []callDelta       `json:"tool_calls"`
	FunctionCall     *functionFragment `json:"function_call"` // the protocol's former way
}

type callDelta struct {
	Index        sse.Integer      `json:"index"`
	ID           sse.Loose        `json:"id"`
	Function     functionFragment `json:"function"`
	ExtraContent json.RawMessage  `json:"extra_content"`
	former       bool             // it came as function_call
}

type functionFragment struct {
	Name      sse.Word        `json:"name"`
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
	Prompt        sse.Count `json:"prompt_tokens"`
	Completion    sse.Count `json:"completion_tokens"`
	Total         sse.Count `json:"total_tokens"`
	CacheHit      sse.Count `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached        sse.Count `json:"cached_tokens"`           // Moonshot
	PromptDetails sse.Lax[struct {
		Cached     sse.Count `json:"cached_tokens"`
		CacheWrite sse.Count `json:"cache_write_tokens"` // OpenRouter
	}] `json:"prompt_tokens_details"`
	CompletionDetails sse.Lax[struct {
		Reasoning sse.Count `json:"reasoning_tokens"`
	}] `json:"completion_tokens_details"`
}

// message returns u in our terms: output includes reasoning, which xAI, for
// example, counts beside it.
func (u usage) message() message.Usage {
	m := message.Usage{
		Input: u.Prompt.N(), Output: u.Completion.N(), Total: u.Total.N(),
		CacheRead:  max(u.PromptDetails.Is.Cached, u.CacheHit, u.Cached).N(),
		CacheWrite: u.PromptDetails.Is.CacheWrite.N(),
		Reasoning:  u.CompletionDetails.Is.Reasoning.N(),
	}
	if m.Reasoning > m.Output || m.Reasoning > 0 && m.Total == m.Input+m.Output+m.Reasoning {
		m.Output += m.Reasoning
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return sse.Told(m, u.Prompt, u.Completion)
}
