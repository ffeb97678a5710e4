package portfolio_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is sound, and portfoliodb is what is generated of it.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "portfolio.design.yaml", "portfoliodb")
}
