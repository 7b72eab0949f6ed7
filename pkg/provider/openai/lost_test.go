package openai

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/providertest"
)

func TestWhatAFailedAnswerTookIsTold(t *testing.T) {
	counted := message.Usage{Input: 9, Output: 2, Total: 11}
	providertest.Lost(t, adapter(), map[string]message.Usage{
		"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\n":                                                             {},
		"data: {\"choices\":[{\"delta\":{\"content\":\"half\"}}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n":     counted, // and cut
		`{"choices":[{"message":{"content":"x"},"finish_reason":"strange"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`:    counted,
		`{"choices":[{"message":{"content":"x"},"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`: counted,
		"data: {\"error\":{\"message\":\"no\"},\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":2}}\n\n":                       counted,
	})
}
