package anthropic

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/providertest"
)

func TestWhatAFailedAnswerTookIsTold(t *testing.T) {
	counted := message.Usage{Input: 9, Output: 2, Total: 11}
	providertest.Lost(t, adapter(), map[string]message.Usage{
		"data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n":                                                                                  {},
		"data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}}\n\n":                                              counted, // and cut
		`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"model_context_window_exceeded","usage":{"input_tokens":9,"output_tokens":2}}`: counted,
		`{"type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"tool_use","usage":{"input_tokens":9,"output_tokens":2}}`:                      counted,
	})
}
