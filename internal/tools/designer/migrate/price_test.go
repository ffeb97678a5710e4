package migrate_test

import (
	"math"
	"testing"

	"github.com/monotable/monotable/internal/tools/designer/migrate"
)

// TestPrice tests that a migration consumes what its plan predicts, index entries and reads included.
func TestPrice(t *testing.T) {
	for name := range migrations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, name)
			m := s.migration(through)
			for _, deployed := range []migrate.Milestone{migrate.NothingDeployed, migrate.DualWrites, migrate.NewReads} {
				if deployed == migrate.DualWrites && s.plan.DualWrites == nil || deployed == migrate.NewReads && s.plan.NewReads == nil {
					continue
				}
				if _, err := m.Run(t.Context(), deployed); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := m.Finish(t.Context()); err != nil {
				t.Fatal(err)
			}
			var read, write, built float64
			for _, step := range s.plan.Steps {
				read += step.ReadUnits
				if step.Kind == migrate.Prepare { // DynamoDB builds indexes on its own and does not report the consumption
					built += step.WriteUnits
				} else {
					write += step.WriteUnits
				}
			}
			state, _, err := m.Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("said %4.0f read, %4.0f write, %4.0f for indexes; used %4.0f read, %4.0f write", read, write, built, state.ReadUnits, state.WriteUnits)
			if math.Abs(state.WriteUnits-write) > 0.02*write {
				t.Errorf("it has written %.0f units, and the plan says %.0f", state.WriteUnits, write)
			}
			if math.Abs(state.ReadUnits-read) > 0.25*read+15 {
				t.Errorf("it has read %.0f units, and the plan says %.0f", state.ReadUnits, read)
			}
		})
	}
}
