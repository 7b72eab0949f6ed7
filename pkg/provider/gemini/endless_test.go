package gemini

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestAReplyWithoutAnEndIsGivenUp(t *testing.T) {
	providertest.Endless(t, adapter(), map[string]providertest.Flood{
		"text": {
			Piece: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"PIECE\"}]}}]}\n\n",
		},
		"calls": {
			Piece: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"x\",\"args\":{\"v\":\"PIECE\"}}}]}}]}\n\n",
		},
	})
}
