package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestBuilt calls every operation of the binary that is deployed, with good and bad input, and as a stranger.
func TestBuilt(t *testing.T) {
	t.Parallel()
	apitest.EachBuilt(t, transporteapp.System(transporteapp.Options{}), "./lambda", func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
		v.Strangers(t)
	})
}
