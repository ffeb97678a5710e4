package postgreskv_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestLongKeys tests that keys of any length are in the order of their bytes, in ranges with any bounds, even if an entry of a
// PostgreSQL index could not contain them; also in kept snapshots, and that deleting removes them.
func TestLongKeys(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	s := open(t)
	long := func(n int) string { return strings.Repeat("k", n) }
	var keys []string
	for _, n := range []int{1, 2, 2559, 2560, 2561, 2562, 5119, 5120, 5121, 7680, 7681, 20000} {
		for _, end := range []string{"", "\x00", "a", "z"} {
			keys = append(keys, long(n-1)+"j"+end, long(n)+end, long(n-1)+"l"+end)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	for _, k := range rng.Perm(len(keys)) {
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte(keys[k])}}, func(txn kv.Txn) error {
			if v, err := txn.Get([]byte(keys[k])); v != nil || err != nil {
				return fmt.Errorf("before it is set, a key has %q, %w", v, err)
			}
			txn.Set([]byte(keys[k]), fmt.Append(nil, k))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Keep(t.Context(), "all", kv.Selection{Spans: []kv.Span{{}}}); err != nil {
		t.Fatal(err)
	}
	kept, err := s.OpenKept(t.Context(), "all")
	if err != nil {
		t.Fatal(err)
	}
	expectRange(t, kept, keys, "", "\xFF")
	expectRange(t, kept, keys, keys[7], keys[len(keys)-7])
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
	for round := range 60 {
		snap, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := keys[rng.IntN(len(keys))], keys[rng.IntN(len(keys))]
		if round%3 == 0 {
			lo, hi = lo+"b", hi+"b"
		}
		expectRange(t, snap, keys, lo, hi)
		if err := snap.Close(); err != nil {
			t.Error(err)
		}
		if round%10 == 9 { // delete half, one by one or as a range
			if err := s.DeleteRange(t.Context(), []byte(lo), []byte(hi)); err != nil {
				t.Fatal(err)
			}
			keys = slices.DeleteFunc(keys, func(k string) bool { return k >= lo && k < hi })
			if len(keys) == 0 {
				break
			}
			doomed := keys[rng.IntN(len(keys))]
			err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte(doomed)}}, func(txn kv.Txn) error {
				txn.Delete([]byte(doomed))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if keys = slices.DeleteFunc(keys, func(k string) bool { return k == doomed }); len(keys) == 0 {
				break
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// expectRange reads a range in both directions.
func expectRange(t *testing.T, r kv.Reader, keys []string, lo, hi string) {
	t.Helper()
	var want []string
	for _, k := range keys {
		if k >= lo && k < hi {
			want = append(want, k)
		}
	}
	for _, reverse := range []bool{false, true} {
		var got []string
		it := r.Iter([]byte(lo), []byte(hi), kv.IterOptions{Reverse: reverse, Limit: 1 + len(want)/3})
		for it.Next() {
			got = append(got, string(it.Key()))
			v, err := r.Get(it.Key())
			if !bytes.Equal(v, it.Value()) || err != nil {
				t.Errorf("Get of a key of %d bytes: %q, %v; an iterator has %q", len(it.Key()), v, err, it.Value())
			}
		}
		if it.Err() != nil {
			t.Error(it.Err())
		}
		if err := it.Close(); err != nil {
			t.Error(err)
		}
		if reverse {
			slices.Reverse(got)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from a key of %d bytes to one of %d, reverse %v: %d keys instead of %d", len(lo), len(hi), reverse, len(got), len(want))
		}
	}
}
