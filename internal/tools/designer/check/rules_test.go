package check_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// TestRules runs testdata/rules: fragments of designs, completed like those of docs/rules, with the findings of one or
// all rules. They cover the edges of the rules: designs that only just violate or satisfy them.
//
//	rule ST507     the findings of a rule in a fragment
//	all            the findings of all rules
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, data *datadriven.TestData) string {
			t.Helper()
			switch data.Cmd {
			case "rule":
				return show(find(t, data.CmdArgs[0].Key, data.Input))
			case "all":
				d, err := design.Parse("all", []byte(complete(t, data.Input)))
				if err != nil {
					t.Fatal(err)
				}
				return show(check.Check(d))
			default:
				t.Fatalf("unknown directive %s", data.Cmd)
				return ""
			}
		})
	})
}
