package docs_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/docs"
)

var rewrite = flag.Bool("rewrite", false, "write the documents of testdata again")

// designs are the designs of five systems, as documented and corrected, by their names.
func designs(t *testing.T) map[string]*design.Design {
	t.Helper()
	out := map[string]*design.Design{}
	for _, pattern := range []string{"testdata/*.yaml", "../check/testdata/designs/*.yaml", "../../../../design/testdata/drafts/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			d, err := design.Parse(filepath.Base(name), text)
			if err != nil {
				t.Fatal(err)
			}
			out[strings.TrimSuffix(filepath.Base(name), ".design.yaml")] = d
		}
	}
	if len(out) < 11 {
		t.Fatalf("there are %d designs, want ten of five systems and the one of testdata", len(out))
	}
	return out
}

// TestDocuments compares the documents of two systems, and of a design that uses most features, with the
// expected ones.
func TestDocuments(t *testing.T) {
	all := designs(t)
	for _, name := range []string{"appcore", "catfecito", "everything"} {
		file := filepath.Join("testdata", name+".md")
		got := docs.Document(all[name])
		if *rewrite {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got; -rewrite writes it again):\n%s", file, diff)
		}
	}
}

// TestEveryObjectHasAHeading tests that each entity and pattern has its heading, and that the same design
// gives the same document.
func TestEveryObjectHasAHeading(t *testing.T) {
	for name, d := range designs(t) {
		out := docs.Document(d)
		if !bytes.Equal(out, docs.Document(d)) {
			t.Errorf("%s: two documents of one design differ", name)
		}
		var want []string
		for _, e := range d.Entities {
			want = append(want, "### Entity "+e.Name)
		}
		for _, r := range d.Reads {
			want = append(want, "### Read "+r.Name)
		}
		for _, c := range d.Collections {
			want = append(want, "### Collection "+c.Name)
		}
		for _, w := range d.Writes {
			want = append(want, "### Write "+w.Name)
		}
		lines := strings.Split(strings.ReplaceAll(string(out), `\_`, "_"), "\n")
		for _, heading := range want {
			n := 0
			for _, l := range lines {
				if l == heading {
					n++
				}
			}
			if n != 1 {
				t.Errorf("%s: %q occurs %d times", name, heading, n)
			}
		}
	}
}

// TestTables tests that every row of a table has as many cells as its header.
func TestTables(t *testing.T) {
	for name, d := range designs(t) {
		columns := 0
		for n, line := range strings.Split(string(docs.Document(d)), "\n") {
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") - 1
			if columns == 0 {
				columns = cells
			}
			if cells != columns || !strings.HasSuffix(line, "|") {
				t.Errorf("%s:%d: %d cells, want %d: %s", name, n+1, cells, columns, line)
			}
		}
	}
}

// lineForms match the lines of diagrams, after their kind.
var lineForms = map[string]*regexp.Regexp{
	"erDiagram":       regexp.MustCompile(`^    ("[^"]+" \{|\}|    [a-zA-Z][\w\[\]]* [a-zA-Z]\w*( (PK|FK|UK)(, (FK|UK))*)?( "[^"]*")?|"[^"]+" (\|\|)(--|\.\.)(o\{|o\||\|\|) "[^"]+" : "[^"]*")$`),
	"flowchart LR":    regexp.MustCompile(`^ +(subgraph [tp]\d+\["[^"]+"\]|n\d+\["[^"]+"\]|end)$`),
	"stateDiagram-v2": regexp.MustCompile(`^    (state "[^"]+" as s\d+|(\[\*\]|s\d+) --> (\[\*\]|s\d+) : \w+(, \w+)*)$`),
}

// TestDiagrams tests that diagrams are closed, their blocks balanced, and each line has a form that Mermaid
// knows.
func TestDiagrams(t *testing.T) {
	for name, d := range designs(t) {
		var kind string
		inside, depth, diagrams := false, 0, 0
		for n, line := range strings.Split(string(docs.Document(d)), "\n") {
			switch {
			case line == "```mermaid":
				inside, kind, depth = true, "", 0
				diagrams++
			case line == "```":
				if inside && depth != 0 {
					t.Errorf("%s:%d: %d blocks are open at the end of the diagram", name, n+1, depth)
				}
				inside = false
			case inside && kind == "":
				if kind = line; lineForms[kind] == nil {
					t.Errorf("%s:%d: no diagram begins with %q", name, n+1, line)
					inside = false
				}
			case inside:
				if !lineForms[kind].MatchString(line) {
					t.Errorf("%s:%d: no line of a %s: %s", name, n+1, kind, line)
				}
				word := strings.TrimSpace(line)
				switch {
				case strings.HasPrefix(word, "subgraph "), strings.HasSuffix(word, " {"):
					depth++
				case word == "end", word == "}":
					depth--
				}
			}
		}
		if inside || diagrams < 2 {
			t.Errorf("%s: %d diagrams, the last open: %v; want the entities' and the partitions', closed", name, diagrams, inside)
		}
	}
}

// TestNamesOfKeyMarkers tests fields and types with the names of Mermaid's key markers, which are keywords in any case: the
// attributes of imported tables are often called pk and sk.
func TestNamesOfKeyMarkers(t *testing.T) {
	d, err := design.Parse("log", []byte(`design: 1
name: Log
tables: { Log: { key: { pk: pk, sk: sk } } }
types: { Uk: { enum: [north, south] } }
entities:
  Event: { fields: { pk: id, sk: text, region: Uk, fk: "int?" } }
`))
	if err != nil {
		t.Fatal(err)
	}
	text := string(docs.Document(d))
	for _, line := range []string{"        id _pk PK\n", "        text sk PK\n", "        _Uk region\n", "        int _fk \"optional\"\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("there is no line %q in\n%s", line, text)
		}
	}
}
