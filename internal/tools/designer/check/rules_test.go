package check_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// TestRules runs testdata/rules: fragments of designs, completed as those of docs/rules are, and what one rule, or all
// of them, find there. They hold the edges of the rules: what is just found, and what is just not.
//
//	rule ST507     the findings of a rule in a fragment
//	all            whatever is found
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
