package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLists checks that the lines of lists in a description stay lines on its page.
func TestLists(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{dir, "1.2.3", "2026-01-31"}); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "man", "monotable-migrate.1"))
	if err != nil {
		t.Fatal(err)
	}
	if want := ".EX\n  plan    shows the steps"; !strings.Contains(string(page), want) {
		t.Errorf("%q is not in\n%s", want, page)
	}
}
