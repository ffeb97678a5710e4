package catfecito_test

import (
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
)

// TestBuilt calls every operation of the binary that is deployed, with good and bad input, and as a stranger.
func TestBuilt(t *testing.T) {
	t.Parallel()
	apitest.EachBuilt(t, catfecito.System(catfecito.Options{}), "./lambda", func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v)
		v.Strangers(t)
	}, catfecito.PaymentSecret+"="+paymentSecret)
}
