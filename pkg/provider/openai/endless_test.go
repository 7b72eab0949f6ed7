package openai

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestAReplyWithoutAnEndIsGivenUp(t *testing.T) {
	providertest.Endless(t, adapter(), map[string]providertest.Flood{
		"text": {
			Piece: "data: {\"choices\":[{\"delta\":{\"content\":\"PIECE\"}}]}\n\n",
		},
		"thoughts": {
			Piece: "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"PIECE\"}}]}\n\n",
		},
		"a call": {
			Head:  "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]}}]}\n\n",
			Piece: "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"PIECE\"}}]}}]}\n\n",
		},
	})
}
