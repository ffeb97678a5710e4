package generate

import (
	"maps"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// TestUnknownDescriptors: what a runtime does not know is refused with its place, and not left out.
func TestUnknownDescriptors(t *testing.T) {
	d, err := design.Parse("shop.yaml", []byte(`design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  Order: { key: { pk: "O#{orderId|hash(4)}", sk: "{orderId}" }, fields: { orderId: id, total: money } }
reads:
  Large: { many: Order, by: [orderId], filter: "total > :least" }
writes:
  Drop: { do: [{ delete: Order }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, complete := range []runtime{typescript, python} {
		m := newModel(p, "shop")
		m.document(complete)
		if len(m.faults) > 0 {
			t.Fatal(m.faults)
		}
		less := complete
		less.fields, less.words = maps.Clone(complete.fields), maps.Clone(complete.words)
		less.fields["Read"] = strings.ReplaceAll(less.fields["Read"], " Filter ", " ")
		less.words["Func"] = "lower pad"
		less.words["Action"] = "create put update upsert"
		m = newModel(p, "shop")
		m.document(less)
		var all []string
		for _, err := range m.faults {
			all = append(all, err.Error())
		}
		got := strings.Join(all, "\n")
		for _, want := range []string{
			"7:3: Large needs Read.Filter, which generated " + less.language + " cannot do yet", "5:3: Order needs Func hash, which", "9:3: Drop needs Action 4, which",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("want %q in\n%s", want, got)
			}
		}
	}
}
