package ollama

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/providertest"
)

func TestWhatAFailedAnswerTookIsTold(t *testing.T) {
	counted := message.Usage{Input: 9, Output: 2, Total: 11}
	providertest.Lost(t, adapter(), map[string]message.Usage{
		`{"message":{"content":"half"}}`: {},
		`{"message":{"content":"x"},"done":true,"done_reason":"load","prompt_eval_count":9,"eval_count":2}`:       counted,
		`{"message":{"content":"x"},"done":true,"done_reason":"tool_calls","prompt_eval_count":9,"eval_count":2}`: counted,
	})
}
