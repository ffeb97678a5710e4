package catfecito_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is sound, and catfecitodb is what is generated of it.
func TestDesign(t *testing.T) { designcheck.Run(t, "catfecito.design.yaml", "catfecitodb") }
