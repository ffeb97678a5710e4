package kvtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// RunMisuse tests that a store rejects violations of the contract. It does not work with a store in kv.Checked, which panics.
func RunMisuse(t *testing.T, open func(t *testing.T) kv.Store) {
	t.Helper()
	s := open(t)
	defer closeStore(t, s)
	for _, name := range []string{"", "A", "a/b", "..", "a.b", "a_b", "ä", strings.Repeat("n", 201)} {
		if err := s.Keep(t.Context(), name, kv.Selection{}); err == nil {
			t.Errorf("a snapshot is kept as %q", name)
		}
		if _, err := s.OpenKept(t.Context(), name); !errors.Is(err, kv.ErrNotKept) {
			t.Errorf("OpenKept(%q): %v", name, err)
		}
		if err := s.DropKept(t.Context(), name); err != nil {
			t.Errorf("DropKept(%q): %v", name, err)
		}
	}
	for name, ks := range map[string][]string{
		"out of order": {"a", "c", "b"},
		"twice":        {"a", "b", "b"},
		"empty":        {""},
		"reserved":     {"a", "\xE0", "\xE1"},
	} {
		for _, ignored := range []bool{false, true} {
			err := s.Load(t.Context(), func(put func(key, value []byte) error) error {
				for _, k := range ks {
					if err := put([]byte(k), []byte("v")); err != nil && !ignored {
						return err
					}
				}
				return nil
			})
			if err == nil {
				t.Errorf("keys that are %s are loaded, put's error ignored: %v", name, ignored)
			}
		}
	}
	if got := scanStore(t, s); got != "" {
		t.Errorf("after refused loads the store holds %s", got)
	}
}
