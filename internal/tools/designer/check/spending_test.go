package check_test

import (
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// TestUnknownPrices: a budget in a Region without a price list is not checked by other Regions' prices, and is not dropped silently.
func TestUnknownPrices(t *testing.T) {
	d, err := design.Parse("design", []byte(`
design: 1
name: Far
tables: { Things: { key: { pk: PK } } }
entities:
  Thing:
    key: { pk: "T#{id}" }
    fields: { id: id }
workload: { region: mars-north-1, budget: 10 }
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range check.Check(d) {
		if f.Rule == "ST802" && strings.Contains(f.Message, "not checked") && strings.Contains(f.Message, `"mars-north-1"`) {
			return
		}
	}
	t.Errorf("no finding says that the budget is not checked")
}
