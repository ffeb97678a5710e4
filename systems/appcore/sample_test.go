package appcore_test

import (
	"testing"

	"github.com/monotable/monotable/systems/appcore"
	"github.com/monotable/monotable/systems/internal/apitest"
	"github.com/monotable/monotable/systems/internal/seed"
)

// TestSample: a sample is consistent, reproducible, and equal to what settlement would create.
func TestSample(t *testing.T) {
	t.Parallel()
	const items, users = 2_000, 50
	v := apitest.Open(t, appcore.System(appcore.Options{}))
	sample := v.Host.Service(appcore.Name).Sample
	for range 2 { // the second run changes nothing
		stored, err := seed.Run(t.Context(), sample, seed.Options{Items: items, Seed: 7})
		if err != nil || stored != items {
			t.Fatalf("stored %d of %d: %v", stored, items, err)
		}
	}
	s := scan(t, v)
	s.sound(t)
	if len(s.users) != users || len(s.truth) != 20*users || len(s.notifications) != 19*users {
		t.Errorf("%d users, %d transactions, %d notifications; want %d, %d, %d", len(s.users), len(s.truth), len(s.notifications), users, 20*users, 19*users)
	}
	if own := list(t, v, ana).Items; len(own) != 20 || own[0].Status != "PENDING" {
		t.Errorf("%s has %d transactions, the last %+v; want 20, the last pending", ana, len(own), own[0])
	}
	v.Deliver(t)
	settled := scan(t, v)
	settled.sound(t)
	for id, before := range s.truth {
		after := settled.truth[id]
		if before.Status != "PENDING" && after.Status != before.Status || after.Status == "PENDING" {
			t.Errorf("%+v became %+v", before, after)
		}
		if approved := after.Amount <= appcore.DefaultSettleMax; approved != (after.Status == "COMPLETED") {
			t.Errorf("%+v does not follow the rule", after)
		}
	}
}
