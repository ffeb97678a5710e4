package apitest

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/systems/internal/system"
)

// linesFile has the lines of a client's document, one a line, in the document's order.
const linesFile = "testdata/document.txt"

//nolint:gochecknoglobals // a flag
var clientDocument = flag.String("document", "", "the client's document: write its lines to "+linesFile+", to which the tests are compared")

// Line is a line of the document in which a client asks for a system.
type Line struct {
	// Says is what the document says, as linesFile has it.
	Says string
	// Instead is what is done in its place, and why; "" where the line is kept.
	Instead string
	// Holds fails unless the line is kept, or what is said to be done instead is done.
	Holds func(*testing.T)
}

// EachLine runs a test for each line of a client's document, over each transport, and fails for lines of the document without
// a test, and for tests of no line. The document's lines are the rows of its tables, without their heads, and each part that
// asks matches.
func EachLine(t *testing.T, s system.System, asks *regexp.Regexp, lines func(*testing.T, *Server) []Line) {
	t.Helper()
	documented := documentLines(t, asks)
	Each(t, s, func(t *testing.T, v *Server) {
		t.Helper()
		tested := lines(t, v)
		for _, fault := range compareLines(documented, tested) {
			t.Error(fault)
		}
		for _, line := range tested {
			t.Run(line.Says, func(t *testing.T) {
				defer func() {
					if t.Failed() && line.Instead != "" {
						t.Logf("the document says %q; instead: %s", line.Says, line.Instead)
					}
				}()
				line.Holds(t)
			})
		}
	})
}

// documentLines are those of linesFile, which is written first if the document is given.
func documentLines(t *testing.T, asks *regexp.Regexp) []string {
	t.Helper()
	if *clientDocument != "" {
		text, err := os.ReadFile(*clientDocument)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(linesFile, []byte(strings.Join(linesOf(string(text), asks), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(linesFile)
	if err != nil {
		t.Fatalf("%v; -document writes it", err)
	}
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// linesOf are the lines of a document, each once.
func linesOf(document string, asks *regexp.Regexp) []string {
	var lines []string
	add := func(text string) {
		if text != "" && !slices.Contains(lines, text) {
			lines = append(lines, text)
		}
	}
	inTable := false
	for raw := range strings.SplitSeq(document, "\n") {
		row, isRow := tableRow(raw)
		if isRow && inTable { // the first row is the head
			add(row)
		}
		inTable = isRow
		if !isRow {
			for _, found := range asks.FindAllString(raw, -1) {
				add(plain(found))
			}
		}
	}
	return lines
}

// tableRow is a row of a table as its cells: "a | b" of Markdown's "| a | b |", and of cells between tabs. The row of dashes
// below a head is an empty one.
func tableRow(raw string) (row string, ok bool) {
	text := strings.TrimSpace(raw)
	switch {
	case strings.HasPrefix(text, "|"):
		text = strings.Trim(text, "|")
	case strings.Contains(text, "\t"):
		text = strings.ReplaceAll(text, "\t", "|")
	default:
		return "", false
	}
	var cells []string
	for cell := range strings.SplitSeq(text, "|") {
		if cell = plain(cell); strings.Trim(cell, "-") != "" {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, " | "), true
}

var (
	markup = regexp.MustCompile("^#+ |^- |[`*✅❌]|:$")
	spaces = regexp.MustCompile(`\s+`)
)

// plain is a text without Markdown's marks, and without the frame of a drawn table.
func plain(text string) string {
	text = markup.ReplaceAllString(strings.Trim(strings.ReplaceAll(text, "│", "|"), "| "), "")
	return strings.TrimSpace(spaces.ReplaceAllString(text, " "))
}

// compareLines says which lines of a document have no test, and which tests are of no line or of one that has another.
func compareLines(documented []string, tested []Line) []string {
	var faults []string
	seen := map[string]bool{}
	for _, line := range tested {
		switch {
		case !slices.Contains(documented, line.Says):
			faults = append(faults, "a test of "+line.Says+", which is not in "+linesFile)
		case seen[line.Says]:
			faults = append(faults, "two tests of "+line.Says)
		}
		seen[line.Says] = true
	}
	for _, says := range documented {
		if !seen[says] {
			faults = append(faults, "no test of "+says)
		}
	}
	return faults
}
