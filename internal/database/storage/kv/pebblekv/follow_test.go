package pebblekv_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// writeAtRandom makes one change: of values, counters or ranges, large or small, or a load.
func writeAtRandom(t *testing.T, s kv.Store, random *rand.Rand, writer int) error {
	t.Helper()
	key := func() []byte { return fmt.Appendf(nil, "w%d/%03d", writer, random.IntN(300)) }
	switch random.IntN(20) {
	case 0:
		lo, hi := key(), key()
		return s.DeleteRange(t.Context(), lo, hi)
	case 1:
		n := random.IntN(100)
		return s.Load(t.Context(), func(put func(key, value []byte) error) error {
			for i := range 20 {
				if err := put(fmt.Appendf(nil, "w%d/load%d/%03d", writer, n, i), []byte{byte(n)}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	set, gone := key(), key()
	return s.Update(t.Context(), kv.Intent{Write: [][]byte{set, gone}}, func(txn kv.Txn) error {
		txn.Delete(gone)
		txn.Set(set, bytes.Repeat([]byte{byte(random.IntN(256))}, random.IntN(10)*1000))
		txn.Add([]byte("sum"), 1, int64(writer))
		txn.AppendLog(1, set)
		return nil
	})
}

// follower has a copy of a store.
type follower struct {
	copy map[string]string
	last kv.Seq // of the log
}

// apply updates the copy to a snapshot.
func (f *follower) apply(t *testing.T, snapshot kv.Snapshot, changes kv.Changes) {
	t.Helper()
	defer snapshot.Close()
	for _, span := range changes.Ranges {
		maps.DeleteFunc(f.copy, func(key, _ string) bool { return key >= string(span.Lo) && key < string(span.Hi) })
		maps.Copy(f.copy, contents(t, snapshot, span))
	}
	for key := range changes.Keys {
		value, err := snapshot.Get([]byte(key))
		if err != nil {
			t.Fatal(err)
		}
		if delete(f.copy, key); value != nil {
			f.copy[key] = plain(t, key, value)
		}
	}
	for {
		records, err := snapshot.ReadLog(1, f.last, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			return
		}
		f.last = records[len(records)-1].Seq
	}
}

func contents(t *testing.T, r kv.Reader, span kv.Span) map[string]string {
	t.Helper()
	all := map[string]string{}
	it := r.Iter(span.Lo, span.Hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		all[string(it.Key())] = plain(t, string(it.Key()), it.Value())
	}
	if err := it.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestFollow: a copy that follows a store during writes, including large updates, loads and range deletions, equals the store at
// each cut. Commits after Hold wait, and fail when the store has been left.
func TestFollow(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := open(t, t.TempDir(), pebblekv.Options{Durability: pebblekv.None}.WithLargeUpdates(6000))
	defer s.Close()
	var writers sync.WaitGroup
	var begun atomic.Int64
	left := errors.New("it has been left")
	for w := range 4 {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(w)))
			for {
				err := writeAtRandom(t, s, random, w)
				if errors.Is(err, left) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				begun.Add(1)
			}
		})
	}
	await := func(n int64) {
		for begun.Load() < n {
			if t.Failed() {
				t.FailNow() // a writer has ended
			}
			runtime.Gosched()
		}
	}
	await(100)
	f, err := s.Follow()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Follow(); err == nil {
		t.Error("two follow")
	}
	copied := follower{copy: map[string]string{}}
	cut := func(how func() (kv.Snapshot, kv.Changes, error)) {
		snapshot, changes, err := how()
		if err != nil {
			t.Fatal(err)
		}
		copied.apply(t, snapshot, changes)
	}
	first, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	copied.apply(t, first, kv.Changes{Ranges: []kv.Span{{Lo: nil, Hi: []byte{0xEF}}}})
	for n := range 20 {
		await(begun.Load() + 20)
		if n%5 != 4 {
			cut(f.Cut)
			continue
		}
		cut(f.Hold)
		compareCopies(t, s, &copied)
		f.Release()
	}
	cut(f.Hold)
	compareCopies(t, s, &copied)
	if err := f.Set([]byte("left"), []byte("yes")); err != nil {
		t.Fatal(err)
	}
	upcoming := f.Leave(left)
	writers.Wait()
	if upcoming <= copied.last {
		t.Errorf("numbers go on at %d, and there are records up to %d", upcoming, copied.last)
	}
	copied.copy["left"] = "yes"
	compareCopies(t, s, &copied)
	for name, err := range map[string]error{
		"a number": s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { txn.LogSeq(); return nil }),
		"a trim":   s.TrimLog(t.Context(), 1, upcoming),
	} {
		if !errors.Is(err, left) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCommitsContinueAfterFollowing: after following has ended, commits continue, and another follower may start.
func TestCommitsContinueAfterFollowing(t *testing.T) {
	s := open(t, t.TempDir(), pebblekv.Options{Durability: pebblekv.None})
	defer s.Close()
	for range 2 {
		f, err := s.Follow()
		if err != nil {
			t.Fatal(err)
		}
		snapshot, _, err := f.Hold()
		if err != nil {
			t.Fatal(err)
		}
		snapshot.Close()
		f.Close()
		err = s.Update(t.Context(), kv.Intent{}, func(txn kv.Txn) error { txn.Add([]byte("n"), 1); txn.LogSeq(); return nil })
		if err != nil {
			t.Fatal(err)
		}
	}
}

// plain returns a value in a form that is equal for equal sums.
func plain(t *testing.T, key string, value []byte) string {
	t.Helper()
	if key != "sum" {
		return string(value)
	}
	sums, err := counters.Decode(value)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(sums)
}

func compareCopies(t *testing.T, s kv.Store, f *follower) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	if diff := cmp.Diff(contents(t, snapshot, kv.Span{}), f.copy); diff != "" {
		t.Fatalf("the copy is not the store (-store +copy):\n%s", diff)
	}
	if records, err := snapshot.ReadLog(1, f.last, 10); err != nil || len(records) > 0 {
		t.Fatalf("the log goes on with %v, %v", records, err)
	}
}

// TestFollowerSetIsRead: a value that a follower sets while it holds the commits is what everybody reads, even a key read just before.
func TestFollowerSetIsRead(t *testing.T) {
	s := open(t, t.TempDir(), pebblekv.Options{})
	defer s.Close()
	set(t, s, "left", "no")
	read := func(want string) {
		t.Helper()
		for name, from := range map[string]kv.Reads{"waiting": s, "eventual": s.Eventual()} {
			for range 2 { // from the tables, and from the values read last
				if v, err := from.Get(t.Context(), []byte("left")); string(v) != want || err != nil {
					t.Errorf("%s read: %q, %v; want %q", name, v, err, want)
				}
			}
		}
	}
	read("no")
	f, err := s.Follow()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	held, _, err := f.Hold()
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := f.Set([]byte("left"), []byte("yes")); err != nil {
		t.Fatal(err)
	}
	read("yes")
}

// TestFollowerSetDuringUpdate: an update that reads the key from the state before the follower set it does not cache that.
func TestFollowerSetDuringUpdate(t *testing.T) {
	s := open(t, t.TempDir(), pebblekv.Options{})
	defer s.Close()
	set(t, s, "left", "no")
	f, err := s.Follow()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = s.Update(t.Context(), kv.Intent{Check: [][]byte{[]byte("other"), []byte("left")}}, func(txn kv.Txn) error {
		if _, err := txn.Get([]byte("other")); err != nil {
			return err
		}
		held, _, err := f.Hold()
		if err != nil {
			return err
		}
		if err := errors.Join(f.Set([]byte("left"), []byte("yes")), held.Close()); err != nil {
			return err
		}
		f.Release()
		_, err = txn.Get([]byte("left"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := s.Get(t.Context(), []byte("left")); string(v) != "yes" || err != nil {
		t.Errorf("Get: %q, %v; want yes", v, err)
	}
}
