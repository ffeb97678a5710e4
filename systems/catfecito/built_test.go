package catfecito_test

import (
	"testing"

	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/mail/mailtest"
)

// TestBuilt calls every operation of the deployed binary, with valid and invalid input, and without a token.
func TestBuilt(t *testing.T) {
	t.Parallel()
	post := mailtest.Start(t)
	apitest.EachBuilt(t, catfecito.System(catfecito.Options{}), "./lambda", func(t *testing.T, v *apitest.Server) {
		t.Helper()
		routes(t, v, post)
		v.RejectsUnauthenticated(t)
	}, catfecito.PaymentSecret+"="+paymentSecret, catfecito.MailURL+"="+post.URL, catfecito.MailFrom+"="+letterhead)
}
