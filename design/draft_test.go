package design_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
)

// drafts are the designs of testdata/drafts by their names.
func drafts(tb testing.TB) map[string][]byte {
	tb.Helper()
	names, err := filepath.Glob("testdata/drafts/*.yaml")
	if err != nil || len(names) == 0 {
		tb.Fatalf("no drafts: %v", err)
	}
	texts := map[string][]byte{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		texts[filepath.Base(name)] = text
	}
	return texts
}

// TestDraftsRoundTrip tests that every draft loads, and that its interchange form is complete.
func TestDraftsRoundTrip(t *testing.T) {
	for name, text := range drafts(t) {
		d, err := design.Parse(name, text)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		j, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		back, err := design.ParseJSON(name, j)
		if err != nil {
			t.Errorf("%s: the interchange form is refused: %v", name, err)
			continue
		}
		again, err := back.JSON()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(j), string(again)); diff != "" {
			t.Errorf("%s changes on its way through JSON:\n%s", name, diff)
		}
	}
}

// files are the texts of a directory's files.
func files(tb testing.TB, dir string) []string {
	tb.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		tb.Fatal(err)
	}
	var texts []string
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			tb.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}
