package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
)

// designs returns the files of the test designs: five systems as documented, and corrected.
func designs(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"testdata/designs/*.yaml", "../../../../design/testdata/drafts/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			files[strings.TrimSuffix(filepath.Base(name), ".design.yaml")] = name
		}
	}
	if len(files) != 10 {
		t.Fatalf("found %d designs, want five systems, documented and corrected", len(files))
	}
	return files
}

func load(t *testing.T, file string) *design.Design {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.Parse(filepath.Base(file), text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFindings compares the findings in each design with testdata/findings/DESIGN.
func TestFindings(t *testing.T) {
	files := designs(t)
	datadriven.Walk(t, "testdata/findings", func(t *testing.T, path string) {
		t.Helper()
		datadriven.RunTest(t, path, func(t *testing.T, data *datadriven.TestData) string {
			t.Helper()
			if data.Cmd != "check" {
				t.Fatalf("unknown directive %s", data.Cmd)
			}
			return show(check.Check(load(t, files[filepath.Base(path)])))
		})
	})
}

func show(all check.Findings) string {
	var out strings.Builder
	for _, f := range all {
		fmt.Fprintf(&out, "%d %s %s %s: %s\n", f.Pos.Line, f.Severity, f.Rule, f.Subject, f.Message)
		if f.Witness != "" {
			fmt.Fprintf(&out, "  counterexample: %s\n", f.Witness)
		}
		if f.Fix != "" {
			fmt.Fprintf(&out, "  fix: %s\n", f.Fix)
		}
		if f.Accepted != "" {
			fmt.Fprintf(&out, "  accepted: %s\n", f.Accepted)
		}
	}
	return out.String()
}

// TestCorrectedDesignsHaveNoErrors checks the corrected designs.
func TestCorrectedDesignsHaveNoErrors(t *testing.T) {
	for name, file := range designs(t) {
		if strings.HasSuffix(name, ".documented") {
			continue
		}
		for _, f := range check.Check(load(t, file)) {
			if f.Severity == check.Error {
				t.Errorf("%s: %s", name, show(check.Findings{f}))
			}
		}
	}
}

// sorted returns the sorted keys of a map.
func sorted[T any](m map[string]T) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
