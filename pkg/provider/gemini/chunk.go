package gemini

import (
	"encoding/json"

	"kagent/pkg/message"
	"kagent/pkg/provider/sse"
)

// chunk is one event of a stream, or a whole answer. Fields that don't matter
// are left out; those that proxies get wrong have lenient types.
type chunk struct {
	Candidates []candidate       `json:"candidates"`
	Feedback   sse.Lax[feedback] `json:"promptFeedback"`
	Usage      sse.Lax[*usage]   `json:"usageMetadata"`
	Model      sse.Loose         `json:"modelVersion"`
	Error      json.RawMessage   `json:"error"`
}

type candidate struct {
	Index   sse.Integer `json:"index"`
	Content struct {
		Parts []part `json:"parts"`
	} `json:"content"`
	FinishReason  sse.Word  `json:"finishReason"`
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
	Name         sse.Word        `json:"name"`
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
		Input: u.Prompt.N() + u.ToolUse.N(), Output: u.Candidates.N() + u.Thoughts.N(), Total: u.Total.N(),
		CacheRead: u.Cached.N(), Reasoning: u.Thoughts.N(),
	}
	if m.Total == 0 {
		m.Total = m.Input + m.Output
	}
	return sse.Told(m, u.Prompt, u.ToolUse, u.Candidates, u.Thoughts)
}
