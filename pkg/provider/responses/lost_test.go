package responses

import (
	"testing"

	"kagent/pkg/message"
	"kagent/pkg/provider/providertest"
)

func TestWhatAFailedAnswerTookIsTold(t *testing.T) {
	counted := message.Usage{Input: 9, Output: 2, Total: 11}
	providertest.Lost(t, adapter(), map[string]message.Usage{
		`{"status":"failed","output":[]}`: {},
		`{"status":"failed","error":{"message":"no"},"output":[],"usage":{"input_tokens":9,"output_tokens":2}}`:                                                          counted,
		"data: {\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"strange\"},\"usage\":{\"input_tokens\":9,\"output_tokens\":2}}}\n\n": counted,
	})
}
