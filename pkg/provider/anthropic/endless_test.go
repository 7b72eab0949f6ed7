package anthropic

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestAReplyWithoutAnEndIsGivenUp(t *testing.T) {
	providertest.Endless(t, adapter(), map[string]providertest.Flood{
		"text": {
			Head:  "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
			Piece: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"PIECE\"}}\n\n",
		},
		"a call": {
			Head:  "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"x\",\"input\":{}}}\n\n",
			Piece: "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"PIECE\"}}\n\n",
		},
		"signatures": {
			Head:  "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"\"}}\n\n",
			Piece: "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"redacted_thinking\",\"data\":\"PIECE\"}}\n\n",
		},
	})
}
