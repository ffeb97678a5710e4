//nolint:thelper // the functions of the cases are steps of the test: a failure is to name their line
package pebblekv

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestRecentRanges: a range is cached at its second read, and found until a commit of its prefix.
func TestRecentRanges(t *testing.T) {
	first := func(n int) kv.IterOptions { return kv.IterOptions{Limit: n} }
	for _, test := range []struct {
		what   string
		lo, hi string
		before kv.IterOptions           // of the reads before
		stop   int                      // how many entries these read at most, if not 0
		change func(*testing.T, *Store) // between the reads before and the last
		o      kv.IterOptions           // of the last read
		cached bool
	}{
		{what: "read again", cached: true},
		{what: "in reverse", before: kv.IterOptions{Reverse: true}, o: kv.IterOptions{Reverse: true}, cached: true},
		{what: "in the other direction", o: kv.IterOptions{Reverse: true}},
		{what: "an empty range", lo: "partition1/z", hi: "partition1/zz", cached: true},
		{what: "a whole range with a limit", o: first(2), cached: true},
		{what: "with the same limit", before: first(2), stop: 2, o: first(2), cached: true},
		{what: "with a lower limit", before: first(2), stop: 2, o: first(1), cached: true},
		{what: "with a higher limit", before: first(2), stop: 2, o: first(3)},
		{what: "without the limit", before: first(2), stop: 2},
		{what: "with a limit above the whole", before: first(9), o: first(9), cached: true},
		{what: "ended early", stop: 2},
		{what: "ended below its limit", before: first(3), stop: 2, o: first(3)},
		{what: "after a change in it", change: func(t *testing.T, s *Store) { setKey(t, s, "partition1/1", "new") }},
		{what: "after a change of its prefix", change: func(t *testing.T, s *Store) { setKey(t, s, "partition9/0", "new") }},
		{what: "after a change elsewhere", change: func(t *testing.T, s *Store) { setKey(t, s, "elsewhere", "new") }, cached: true},
		{what: "after a deleted range", change: func(t *testing.T, s *Store) {
			if err := s.DeleteRange(t.Context(), []byte("x"), []byte("y")); err != nil {
				t.Fatal(err)
			}
		}},
		{what: "of several prefixes", lo: "partitiom", hi: "partitiop"},
		{what: "too large", change: func(t *testing.T, s *Store) {
			setKey(t, s, "partition1/1", strings.Repeat("x", recentRangeBytes))
			for range 2 {
				readRange(t, s, "partition1/0", "partition1/9", kv.IterOptions{}, 0)
			}
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := openMemory(t)
			for i := range 5 {
				setKey(t, s, fmt.Sprintf("partition1/%d", i), fmt.Sprint(i))
			}
			lo, hi := "partition1/0", "partition1/9"
			if test.lo != "" {
				lo, hi = test.lo, test.hi
			}
			for range 2 {
				if _, cached := readRange(t, s, lo, hi, test.before, test.stop); cached {
					t.Fatal("it is cached before its second read has ended")
				}
			}
			if test.change != nil {
				test.change(t, s)
			}
			got, cached := readRange(t, s, lo, hi, test.o, test.o.Limit)
			if cached != test.cached {
				t.Errorf("cached: %t, want %t", cached, test.cached)
			}
			s.recentRanges = nil
			want, _ := readRange(t, s, lo, hi, test.o, test.o.Limit)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-without, +with the cache:\n%s", diff)
			}
		})
	}
}

// TestRecentRangeWhileCommitting: a range is not cached if it may contain what is not synced, or was read before a commit.
func TestRecentRangeWhileCommitting(t *testing.T) {
	s := openMemory(t)
	end := commitOf(s.recentRanges.recent, []byte("partition1/0"))
	for range 3 {
		readRange(t, s, "partition1/0", "partition1/9", kv.IterOptions{}, 0)
	}
	end()
	readRange(t, s, "partition1/0", "partition1/9", kv.IterOptions{}, 0)
	it, err := s.Iter(t.Context(), []byte("partition1/0"), []byte("partition1/9"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, cached := it.(*recentIterator); cached {
		t.Error("a range is cached that was read during a commit")
	}
	setKey(t, s, "partition1/1", "new")
	if it.Next() || it.Close() != nil {
		t.Error("the iterator is not empty")
	}
	if got, _ := readRange(t, s, "partition1/0", "partition1/9", kv.IterOptions{}, 0); len(got) != 1 {
		t.Errorf("read %q, want the entry that was committed", got)
	}
	checkBytes(t, s.recentRanges.recent)
}

// TestRecentRangePastLimit: a caller that breaks the contract of Iter gets an error instead of a range that seems to end.
func TestRecentRangePastLimit(t *testing.T) {
	s := openMemory(t)
	for i := range 3 {
		setKey(t, s, fmt.Sprintf("partition1/%d", i), "v")
	}
	o := kv.IterOptions{Limit: 1}
	for range 2 {
		readRange(t, s, "partition1/0", "partition1/9", o, 1)
	}
	it, err := s.Iter(t.Context(), []byte("partition1/0"), []byte("partition1/9"), o)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	if !it.Next() || it.Err() != nil || it.Next() || it.Err() == nil {
		t.Errorf("reading beyond the limit: %v", it.Err())
	}
}

func openMemory(t *testing.T) *Store {
	t.Helper()
	s, err := Open("store", Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func setKey(t *testing.T, s *Store, key, value string) {
	t.Helper()
	err := s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte(key)}}, func(txn kv.Txn) error {
		txn.Set([]byte(key), []byte(value))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readRange reads a range, or at most a number of its entries, and reports whether it was cached.
func readRange(t *testing.T, s *Store, lo, hi string, o kv.IterOptions, atMost int) (entries []string, cached bool) {
	t.Helper()
	it, err := s.Iter(context.Background(), []byte(lo), []byte(hi), o)
	if err != nil {
		t.Fatal(err)
	}
	_, cached = it.(*recentIterator)
	for (atMost == 0 || len(entries) < atMost) && it.Next() {
		entries = append(entries, fmt.Sprintf("%s=%.10s", it.Key(), it.Value()))
	}
	if it.Err() != nil || it.Close() != nil {
		t.Fatal(it.Err())
	}
	return entries, cached
}
