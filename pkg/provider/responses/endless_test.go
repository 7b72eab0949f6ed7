package responses

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestAReplyWithoutAnEndIsGivenUp(t *testing.T) {
	providertest.Endless(t, adapter(), map[string]providertest.Flood{
		"text": {
			Piece: "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"item_id\":\"i\",\"delta\":\"PIECE\"}\n\n",
		},
		"a call": {
			Head:  "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"function_call\",\"id\":\"f\",\"call_id\":\"c\",\"name\":\"x\",\"arguments\":\"\"}}\n\n",
			Piece: "data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"item_id\":\"f\",\"delta\":\"PIECE\"}\n\n",
		},
	})
}
