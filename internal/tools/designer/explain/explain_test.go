package explain_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/explain"
)

// TestExplanations runs testdata: a design, and explanations of its patterns. Directives:
//
//	load FILE      take the design of a file
//	design         take this design
//	text NAME…     patterns as text; all patterns if no name is given
//	json NAME…     the same as JSON
func TestExplanations(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		t.Helper()
		var d *design.Design
		datadriven.RunTest(t, path, func(t *testing.T, data *datadriven.TestData) string {
			t.Helper()
			var err error
			switch data.Cmd {
			case "load":
				d, err = design.Load("../../../../" + data.CmdArgs[0].Key)
			case "design":
				d, err = design.Parse("design", []byte(data.Input))
			case "text", "json":
				return explained(t, d, data)
			default:
				t.Fatalf("unknown directive %s", data.Cmd)
			}
			if err != nil {
				t.Fatal(err)
			}
			return ""
		})
	})
}

func explained(t *testing.T, d *design.Design, data *datadriven.TestData) string {
	t.Helper()
	var out bytes.Buffer
	for _, p := range explain.All(d) {
		if len(data.CmdArgs) > 0 && !data.HasArg(p.Name) {
			continue
		}
		if data.Cmd == "json" {
			text, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			out.Write(append(text, '\n'))
			continue
		}
		if err := explain.WriteText(&out, p); err != nil {
			t.Fatal(err)
		}
	}
	return strings.TrimSpace(strings.ReplaceAll(out.String(), "\n\n", "\n")) + "\n"
}
