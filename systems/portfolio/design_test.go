package portfolio_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is valid and portfoliodb is up to date.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "portfolio.design.yaml", "portfoliodb")
}
