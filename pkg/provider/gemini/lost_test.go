package gemini

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/providertest"
)

func TestWhatAFailedAnswerTookIsTold(t *testing.T) {
	counted := message.Usage{Input: 9, Output: 2, Total: 11}
	providertest.Lost(t, adapter(), map[string]message.Usage{
		`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`:                                                                                        {},
		`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":2}}`:                        counted,
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"half\"}]}}],\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2}}\n\n": counted, // and cut
		"data: {\"error\":{\"code\":503,\"message\":\"no\"},\"usageMetadata\":{\"promptTokenCount\":9,\"candidatesTokenCount\":2}}\n\n":                      counted,
	})
}
