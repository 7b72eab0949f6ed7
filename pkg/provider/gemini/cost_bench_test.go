//go:build bench

package gemini

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestDecodeCost(t *testing.T) { providertest.DecodeCost(t, adapter()) }
