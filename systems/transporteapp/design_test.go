package transporteapp_test

import (
	"testing"

	"github.com/monotable/monotable/systems/internal/designcheck"
)

// TestDesign: the design is valid and transporteappdb is up to date.
func TestDesign(t *testing.T) {
	t.Parallel()
	designcheck.Run(t, "transporteapp.design.yaml", "transporteappdb")
}

// TestConditionsAreNeeded: if any one of the conditions is removed, the race checker finds a violated invariant.
func TestConditionsAreNeeded(t *testing.T) {
	t.Parallel()
	const file = "transporteapp.design.yaml"
	for _, c := range []struct{ before, after, race, invariant string }{
		{"credits.balance >= 1 AND ", "", "LastCredit", "NoDebt"},
		{"attribute_not_exists(cartas) OR cartas < :limite", "attribute_not_exists(cartas) OR cartas >= 0", "LastCarta", "MonthLimited"},
		{"attribute_not_exists(n) OR n = :seen", "attribute_not_exists(n) OR n >= 0", "LastCarta", "GapFree"},
		{"numConductores < subscription.limits.conductores AND ", "", "LastDriver", "DriversLimited"},
		{`add: { abiertos: "-1", revision: 1 }`, `add: { abiertos: "-1" }`, "OneDriverOfTwoTrips", "AgendasKept"},
		{"when: revision = :line.visto", "when: revision >= 0", "OneDriverOfTwoTrips", "AgendasKept"},
		{"when: estado = 'programado' AND revision = :visto\n", "when: estado = 'programado'\n", "TwoDriversOfOneTrip", "AgendasKept"},
		{"when: estado = 'programado' AND revision = :visto AND attribute_exists(resources)", "when: estado = 'programado' AND attribute_exists(resources)", "ChangedAsItLeaves", "OnOneTrip"},
		{"when: status = 'en_timbrado' AND revision = :visto", "when: revision = :visto", "StampOrCancel", "Reserved"},
	} {
		designcheck.Breaks(t, file, c.before, c.after, c.race, c.invariant)
	}
}
