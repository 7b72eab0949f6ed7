package ollama

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestAReplyWithoutAnEndIsGivenUp(t *testing.T) {
	providertest.Endless(t, adapter(), map[string]providertest.Flood{
		"text": {
			Piece: "{\"message\": {\"content\": \"PIECE\"}}\n",
		},
		"calls": {
			Piece: "{\"message\": {\"tool_calls\": [{\"function\": {\"name\": \"x\", \"arguments\": {\"v\": \"PIECE\"}}}]}}\n",
		},
	})
}
