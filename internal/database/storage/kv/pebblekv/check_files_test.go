package pebblekv_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// TestFlippedBits: a changed bit in any of Pebble's files is an error, or changes nothing. It never makes data disappear.
func TestFlippedBits(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1200 {
		set(t, s, fmt.Sprintf("key %d", i%700), fmt.Sprint(i)+strings.Repeat("x", 600))
	}
	want := allContents(t, s)
	crashed := vfs.NewMem()
	if _, err := vfs.Clone(fs, crashed, "db", "db"); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, image := range []vfs.FS{fs, crashed} {
		for name, text := range allFiles(t, image, "db/pebble") {
			for range 6 {
				if text == "" {
					continue
				}
				data, at := []byte(text), rng.IntN(len(text))
				if strings.HasSuffix(name, ".log") {
					at = rng.IntN(min(len(text), 64<<10)) // most of it is not written yet
				}
				data[at] ^= 1 << rng.IntN(8)
				if got, err := contentsWith(t, image, name, data); err == nil && !maps.Equal(got, want) {
					t.Errorf("byte %d of %s: %d values, want %d", at, name, len(got), len(want))
				}
			}
		}
	}
}

// TestMissingLog: a directory without a log is damaged, because the latest writes were in one.
func TestMissingLog(t *testing.T) {
	fs := vfs.NewMem()
	s, err := pebblekv.Open("db", onMemory(fs))
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "key", "value")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name := range allFiles(t, fs, "db/pebble") {
		if strings.HasSuffix(name, ".log") {
			if err := fs.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := pebblekv.Open("db", onMemory(fs)); !isDamage(err) {
		t.Errorf("opened with %v", err)
	}
}

func isDamage(err error) bool {
	_, is := errors.AsType[*kv.DamageError](err)
	return is
}

// contentsWith returns the contents of a store, one of whose files has other data.
func contentsWith(t *testing.T, image vfs.FS, name string, data []byte) (map[string]string, error) {
	t.Helper()
	changed := vfs.NewMem()
	if _, err := vfs.Clone(image, changed, "db", "db"); err != nil {
		t.Fatal(err)
	}
	f, err := changed.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := pebblekv.Open("db", onMemory(changed))
	if err != nil {
		return nil, err
	}
	defer s.Close()
	it, err := s.Iter(t.Context(), nil, nil, kv.IterOptions{})
	if err != nil {
		return nil, err
	}
	defer it.Close()
	all := map[string]string{}
	for it.Next() {
		all[string(it.Key())] = string(it.Value())
	}
	return all, it.Err()
}
