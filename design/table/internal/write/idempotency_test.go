package write

import (
	"testing"

	"github.com/monotable/monotable/design/table/internal/schema"
	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// TestFingerprint tests that requests have the same fingerprint only if everything that is compared
// is equal, with lines in the same order.
func TestFingerprint(t *testing.T) {
	of := func(in schema.Input, names ...string) string {
		return (&Call{Write: &schema.Write{Idempotent: &schema.Idempotent{Request: names}}, Input: in}).fingerprint()
	}
	line := func(id, n string) schema.Values { return schema.Values{"productId": AText(id), "quantity": ANumber(n)} }
	base := schema.Input{Values: schema.Values{"total": ANumber("12"), "tags": ATextSet("a", "b"), "other": AText("x")}, Lines: []schema.Values{line("p1", "1"), line("p2", "2")}}
	same := schema.Input{Values: schema.Values{"total": ANumber("1.2E1"), "tags": ATextSet("b", "a")}, Lines: []schema.Values{line("p1", "1.0"), line("p2", "2")}}
	names := []string{"total", "tags", "lines", "absent"}
	if of(base, names...) != of(same, names...) {
		t.Error("two forms of one request differ")
	}
	met := map[string]int{of(base, names...): -1}
	for i, in := range []schema.Input{
		{Values: base.Values, Lines: []schema.Values{line("p2", "2"), line("p1", "1")}},
		{Values: base.Values, Lines: []schema.Values{line("p1", "1")}},
		{Values: base.Values, Lines: []schema.Values{line("p1", "1"), Extend(line("p2", "2"), "note", "x")}},
		{Values: schema.Values{"total": AText("12"), "tags": ATextSet("a", "b")}, Lines: base.Lines},
		{Values: schema.Values{"total": ANumber("12"), "tags": ATextSet("a", "b"), "absent": AText("")}, Lines: base.Lines},
		{Values: schema.Values{"tags": ATextSet("a", "b")}, Lines: base.Lines},
	} {
		if before, ok := met[of(in, names...)]; ok {
			t.Errorf("request %d has the fingerprint of request %d", i, before)
		}
		met[of(in, names...)] = i
	}
}
