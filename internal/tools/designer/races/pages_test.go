package races_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/races"
)

// TestPage tests that the command's page shows the command's output for the design on the page.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/races.md")
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.ParseMarkdown("docs/races.md", text)
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)```\n\\$ monotable races docs/races.md\n(.*?)```").FindSubmatch(text)
	if shown == nil {
		t.Fatal("the page shows no report")
	}
	if diff := cmp.Diff(string(shown[1]), reportOf(t, d)); diff != "" {
		t.Errorf("the page (-) and the report (+) differ:\n%s", diff)
	}
}

func reportOf(t *testing.T, d *design.Design) string {
	t.Helper()
	report, err := races.Run(t.Context(), d, races.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := report.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestRulePage tests that the first design on the rule's page has the defect and the second does not.
func TestRulePage(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/rules/ST513.md")
	if err != nil {
		t.Fatal(err)
	}
	fences := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1)
	if len(fences) != 2 {
		t.Fatalf("the page has %d designs", len(fences))
	}
	for i, fence := range fences {
		report := reportOf(t, parse(t, header+string(fence[1])))
		if i == 0 != strings.Contains(report, "error ST513") {
			t.Errorf("design %d:\n%s", i+1, report)
		}
	}
}
