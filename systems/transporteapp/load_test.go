package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestLoad sends every request of the load plan.
func TestLoad(t *testing.T) {
	t.Parallel()
	apitest.Open(t, transporteapp.System(transporteapp.Options{})).Load(t)
}
