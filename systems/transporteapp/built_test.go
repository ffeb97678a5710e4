package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/transporteapp"
)

// TestBuilt calls every operation of the deployed binary, with valid and invalid input, and without a token.
func TestBuilt(t *testing.T) {
	t.Parallel()
	apitest.EachBuilt(t, transporteapp.System(transporteapp.Options{}), "./lambda", func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
		v.RejectsUnauthenticated(t)
	})
}
