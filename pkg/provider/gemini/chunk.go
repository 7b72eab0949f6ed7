package gemini

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// chunk is one event of a stream, or a whole answer. Fields that don't matter
// are left out; those that proxies get wrong have lenient types.
type chunk struct {
	Candidates []candidate     `json:"candidates"`
	Feedback   feedback        `json:"promptFeedback"`
	Usage      *usage          `json:"usageMetadata"`
	Model      sse.Loose       `json:"modelVersion"`
	Error      json.RawMessage `json:"error"`
}

type candidate struct {
	Index   sse.Integer `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason  sse.Loose `json:"finishReason"`
	FinishMessage sse.Loose `json:"finishMessage"`
}

// feedback tells that the prompt was refused: there are no candidates then.
type feedback struct {
	BlockReason sse.Loose `json:"blockReason"`
}

// part has one of text and call, or something else, or a signature alone.
type part struct {
	Text      json.RawMessage `json:"text"`
	Thought   json.RawMessage `json:"thought"`
	Signature sse.Loose       `json:"thoughtSignature"`
	Call      *functionCall   `json:"functionCall"`
}

type functionCall struct {
	ID           sse.Loose       `json:"id"`
	Name         sse.Loose       `json:"name"`
	Args         json.RawMessage `json:"args"`
	PartialArgs  []partialArg    `json:"partialArgs"`
	WillContinue bool            `json:"willContinue"`
}

type usage struct {
	Prompt     sse.Count `json:"promptTokenCount"`
	Candidates sse.Count `json:"candidatesTokenCount"`
	Thoughts   sse.Count `json:"thoughtsTokenCount"`
	Cached     sse.Count `json:"cachedContentTokenCount"` // part of the prompt
	ToolUse    sse.Count `json:"toolUsePromptTokenCount"` // beside the prompt
	Total      sse.Count `json:"totalTokenCount"`
}

func (u usage) message() message.Usage {
	m := message.Usage{
		Input: int64(u.Prompt + u.ToolUse), Output: int64(u.Candidates + u.Thoughts), Total: int64(u.Total),
		CacheRead: int64(u.Cached), Reasoning: int64(u.Thoughts),
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return m
}
