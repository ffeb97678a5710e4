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

// linesFile contains the lines of a client's document, one per line, in order.
const linesFile = "testdata/document.txt"

//nolint:gochecknoglobals // a flag
var clientDocument = flag.String("document", "", "the client's document: write its lines to "+linesFile+", to which the tests are compared")

// Line is a line of a client's document that contains a requirement.
type Line struct {
	// Says is the text of the line, as in linesFile.
	Says string
	// Instead is what was done differently and why, or "" if the requirement is met as written.
	Instead string
	// Holds fails the test unless the requirement, or what was done instead, holds.
	Holds func(*testing.T)
}

// EachLine runs a test for each line of a client's document over each transport. It fails for lines without a test, and for tests
// without a line. The document's lines are the rows of its tables, without headers, and every section that asks matches.
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

// documentLines reads linesFile, after writing it if the document is available.
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

// linesOf returns a document's distinct lines.
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
		if isRow && inTable { // the first row is the header
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

// tableRow returns the cells of a table row: "a | b" for Markdown's "| a | b |" and for tab-separated cells. For the row of
// dashes below a header it returns an empty row.
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

// plain removes Markdown's markup and the frame of a drawn table.
func plain(text string) string {
	text = markup.ReplaceAllString(strings.Trim(strings.ReplaceAll(text, "│", "|"), "| "), "")
	return strings.TrimSpace(spaces.ReplaceAllString(text, " "))
}

// compareLines reports lines without a test, and tests without a line or for a line that already has one.
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
