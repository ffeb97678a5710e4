package catfecito_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is valid and catfecitodb is up to date.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "catfecito.design.yaml", "catfecitodb")
}

// TestGuards: if any one guard of a write is removed, the race checker finds an interleaving that breaks an invariant.
func TestGuards(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ without, left, race, invariant string }{
		{"when: stock >= :line.quantity AND isActive", "when: isActive", "LastItem", "NoOversell"},
		{"idempotent: { with: Checkout, request: [agreed, delivery], replay: OrderWithItems }", "", "CheckedOutTwice", "Recorded"},
	} {
		designcheck.Breaks(t, "catfecito.design.yaml", c.without, c.left, c.race, c.invariant)
	}
}
