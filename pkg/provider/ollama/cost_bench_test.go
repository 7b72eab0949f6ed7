//go:build bench

package ollama

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestDecodeCost(t *testing.T) { providertest.DecodeCost(t, adapter()) }
