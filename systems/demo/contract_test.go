package demo

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/monotable/monotable/systems/internal/contract"
)

var (
	rewrite  = flag.Bool("rewrite", false, "write the systems' openapi.json anew, where no client breaks")
	breaking = flag.Bool("breaking", false, "with -rewrite: even where clients break, which only an API that nobody uses yet may do")
)

// TestContract: each system's API matches its openapi.json, so every change is visible, and nothing is removed without a new
// major version.
func TestContract(t *testing.T) {
	t.Parallel()
	for _, s := range registered() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			text, err := document(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			present, err := contract.Format(text)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join("..", s.Name, "openapi.json")
			committed, err := os.ReadFile(name)
			if errors.Is(err, fs.ErrNotExist) && *rewrite {
				committed, err = present, os.WriteFile(name, present, documentMode)
			}
			if err != nil {
				t.Fatal(err)
			}
			broken := compare(t, committed, present)
			switch {
			case string(present) == string(committed):
			case *rewrite && (!broken || *breaking):
				if err := os.WriteFile(name, present, documentMode); err != nil {
					t.Fatal(err)
				}
			case broken:
				t.Errorf("clients of %s would break. If that is intended, increase the major number of its Version and serve the old API until it is no longer called", s.Name)
			default:
				t.Errorf("the API of %s has changed compatibly: rewrite %s with\n  go test ./systems/demo -run TestContract -rewrite", s.Name, name)
			}
		})
	}
}

// compare reports the changes and whether any of them breaks clients. A new major version may change anything.
func compare(t *testing.T, committed, present []byte) (broken bool) {
	t.Helper()
	changes, err := contract.Compare(committed, present)
	if err != nil {
		t.Fatal(err)
	}
	before, err := contract.Major(committed)
	if err != nil {
		t.Fatal(err)
	}
	after, err := contract.Major(present)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		broken = broken || c.Breaks && before == after
		if c.Breaks && before == after && !*breaking {
			t.Error(c)
		} else {
			t.Log(c)
		}
	}
	return broken
}
