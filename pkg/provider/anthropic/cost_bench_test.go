//go:build bench

package anthropic

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestDecodeCost(t *testing.T) { providertest.DecodeCost(t, adapter()) }
