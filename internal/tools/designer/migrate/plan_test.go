package migrate_test

import (
	"testing"
)

// TestPlans tests that each of the migrations can be carried out.
func TestPlans(t *testing.T) {
	for name := range migrations() {
		t.Run(name, func(t *testing.T) {
			p := planned(t, name)
			for i, s := range p.Steps {
				t.Logf("%d %s %s: %v, %.0f items, %.0f read, %.0f write", i+1, s.Kind, s.Title, s.Details, s.Items, s.ReadUnits, s.WriteUnits)
			}
		})
	}
}
