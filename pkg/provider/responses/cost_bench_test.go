//go:build bench

package responses

import (
	"testing"

	"kagent/pkg/provider/providertest"
)

func TestDecodeCost(t *testing.T) { providertest.DecodeCost(t, adapter()) }
