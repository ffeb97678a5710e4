//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTransactionsRejectDuplicateItems: transactions of all connections use the same items, and no transaction contains an item
// twice, because it would be rejected.
func TestTransactionsRejectDuplicateItems(t *testing.T) {
	all := clusterWorkloads()
	w := all[slices.IndexFunc(all, func(w workload) bool { return w.name == "hottransact" })]
	body, keys := w.body(itemsMin), regexp.MustCompile(`item#\d+`)
	f := &filler{random: rand.New(rand.NewPCG(1, 2)), connections: 32}
	seen := map[string]bool{}
	for range 1000 {
		f.fill(body.body, body.slots)
		found := keys.FindAllString(string(body.body), -1)
		for _, key := range found {
			seen[key] = true
		}
		slices.Sort(found)
		if len(slices.Compact(found)) != commonClasses {
			t.Fatalf("%s: want %d items", body.body, commonClasses)
		}
	}
	if len(seen) < itemsMin/2 {
		t.Errorf("1000 transactions have %d items, want most of %d", len(seen), itemsMin)
	}
}

// TestWriteFigures: new figures replace those between the marks, and the rest of the page stays unchanged.
func TestWriteFigures(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	if err := os.WriteFile(page, []byte("before\n"+figuresBegin("make it")+"old\n"+figuresEnd+"after\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFigures(page, "make it", "new\n"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if want := "before\n" + figuresBegin("make it") + "\nnew\n\n" + figuresEnd + "after\n"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := os.WriteFile(page, []byte("no marks"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := writeFigures(page, "make it", "new\n"); err == nil || !strings.Contains(err.Error(), "has no lines") {
		t.Errorf("a page without marks: %v", err)
	}
}
