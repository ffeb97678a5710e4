package demo

import (
	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/catfecito"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/mail"
	"github.com/monotable/monotable/systems/internal/system"
	"github.com/monotable/monotable/systems/portfolio"
	"github.com/monotable/monotable/systems/transporteapp"
	"github.com/monotable/monotable/systems/trinity"
)

// registered returns the systems in display order, one per line.
func registered() []system.System {
	return []system.System{
		appcore.System(appcore.Options{}),
		catfecito.System(catfecito.Options{Payments: payments.NewTestOnce(), Mail: new(mail.Outbox)}),
		trinity.System(trinity.Options{}),
		portfolio.System(),
		transporteapp.System(transporteapp.Options{}),
	}
}

// designs are the systems' designs by name.
var designs = map[string][]byte{
	appcore.Name: appcore.Design, catfecito.Name: catfecito.Design, trinity.Name: trinity.Design,
	portfolio.Name: portfolio.Design, transporteapp.Name: transporteapp.Design,
}
