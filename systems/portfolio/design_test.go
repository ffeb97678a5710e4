package portfolio_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign checks the design, and that portfoliodb is up to date.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "portfolio.design.yaml", "portfoliodb")
}
