package races_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/races"
)

// header precedes the scripts' fragments.
const header = `design: 1
name: Test
tables: { main: { key: { pk: PK, sk: SK }, type_attr: type, ttl_attr: expiresAt, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } } }
`

// TestScripts runs testdata/script. The directive races explores the races of a design, which is appended to the
// header above, and prints the report; names=(A,B) selects races, depth and states bound them.
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/script", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			t.Helper()
			if d.Cmd != "races" {
				t.Fatalf("unknown directive %s", d.Cmd)
			}
			var o races.Options
			if names, given := d.Arg("names"); given {
				o.Races = names.Vals
			}
			d.MaybeScanArgs(t, "depth", &o.Depth)
			d.MaybeScanArgs(t, "states", &o.States)
			parsed, err := design.Parse("", []byte(header+d.Input+"\n"))
			if err != nil {
				return err.Error()
			}
			report, err := races.Run(t.Context(), parsed, o)
			if faults, is := errors.AsType[design.Errors](err); is {
				return faults.Error()
			}
			if err != nil {
				return "error: " + err.Error()
			}
			var out strings.Builder
			if err := report.WriteText(&out); err != nil {
				t.Fatal(err)
			}
			return out.String()
		})
	})
}
