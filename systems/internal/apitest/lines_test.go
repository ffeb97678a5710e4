package apitest

import (
	"regexp"
	"slices"
	"testing"
)

// TestLinesOf: the lines are the rows of Markdown and tab-separated tables, without headers, and other requirements, each once.
func TestLinesOf(t *testing.T) {
	t.Parallel()
	document := "# Notes\n\n| Key | Kept |\n|-----|------|\n| `NOTE#<id>` | - |\n| **Author** | `USER#1` |\n\n" +
		"#\tPattern\n1\tNotes of a user\n\nBetween tables.\n\n#\tPattern\n2\tA note\n1\tNotes of a user\n\n### 1. Keep  notes:\n- ✅ Forever\n│ NOTE#1   │ TEXT   │\n"
	want := []string{"NOTE#<id>", "Author | USER#1", "1 | Notes of a user", "2 | A note", "1. Keep notes", "Forever", "NOTE#1 | TEXT"}
	if got := linesOf(document, regexp.MustCompile(`^### \d.*|^- .*|│ \w+#.*`)); !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

// TestCompareLines: a line without a test, a test without a line, and a line with two tests are reported.
func TestCompareLines(t *testing.T) {
	t.Parallel()
	documented := []string{"kept", "left out"}
	tested := []Line{{Says: "kept"}, {Says: "kept"}, {Says: "made up"}}
	want := []string{"two tests of kept", "a test of made up, which is not in " + linesFile, "no test of left out"}
	if got := compareLines(documented, tested); !slices.Equal(got, want) {
		t.Errorf("faults %q, want %q", got, want)
	}
	if got := compareLines(documented, []Line{{Says: "kept"}, {Says: "left out"}}); got != nil {
		t.Errorf("faults %q although all lines agree", got)
	}
}
