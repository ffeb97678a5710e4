package pebblekv

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestUpdateOfRecentValue tests which values are cached after an update, and that a cached one is what the update left.
func TestUpdateOfRecentValue(t *testing.T) {
	key, other := []byte("key"), []byte("other")
	read := func(txn kv.Txn) { _, _ = txn.Get(key) }
	write := func(txn kv.Txn) { txn.Set(key, []byte("new")) }
	remove := func(txn kv.Txn) { txn.Delete(key) }
	for _, test := range []struct {
		what   string
		cached bool // before the update
		intent kv.Intent
		steps  []func(kv.Txn)
		commit []byte // another commit's key, counted while the update runs, and synced after it
		kept   bool
		want   string
	}{
		{what: "a cached value is read and replaced", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){read, write}, kept: true, want: "new"},
		{what: "a cached value is read and stays", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){read}, kept: true, want: "old"},
		{what: "a cached value is replaced without being read", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){write}, want: "new"},
		{what: "a cached value is read and removed", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){read, remove}},
		{what: "a value is read and replaced", intent: intentToWrite(key), steps: []func(kv.Txn){read, write}, want: "new"},
		{what: "a value is read and may be written", intent: intentToWrite(key), steps: []func(kv.Txn){read}, want: "old"},
		{what: "a value is only checked", intent: kv.Intent{Check: [][]byte{key}}, steps: []func(kv.Txn){read}, kept: true, want: "old"},
		{what: "a value that others may change is read", intent: intentToWrite(other), steps: []func(kv.Txn){read}, want: "old"},
		{what: "a commit of the key is not synced", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){read, write}, commit: key, want: "new"},
		{what: "a commit of another key is not synced", cached: true, intent: intentToWrite(key), steps: []func(kv.Txn){read, write}, commit: other, kept: true, want: "new"},
	} {
		t.Run(test.what, func(t *testing.T) {
			s := openMemory(t)
			setKey(t, s, string(key), "old")
			if test.cached {
				if _, err := s.Get(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
			err := s.Update(t.Context(), test.intent, func(txn kv.Txn) error {
				for _, step := range test.steps {
					step(txn)
				}
				if test.commit != nil {
					t.Cleanup(commitOf(s.recentValues, test.commit))
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			cached, _ := s.recentValues.find(key)
			if (cached != nil) != test.kept {
				t.Errorf("%q is cached, want anything cached: %t", cached, test.kept)
			}
			if got, err := s.Get(t.Context(), key); err != nil || string(got) != test.want {
				t.Errorf("Get returns %q, %v; want %q", got, err, test.want)
			}
			checkBytes(t, s.recentValues)
		})
	}
}

// TestUpdateAfterChangeOfUnknownKeys: what an update reads is not cached if a change of unknown keys came between the state that it
// reads and the place in the cache.
func TestUpdateAfterChangeOfUnknownKeys(t *testing.T) {
	s := openMemory(t)
	setKey(t, s, "key", "old")
	in := kv.Intent{Check: [][]byte{[]byte("key"), []byte("first")}}
	err := s.Update(t.Context(), in, func(txn kv.Txn) error {
		if _, err := txn.Get([]byte("first")); err != nil {
			return err
		}
		s.unsynced.beginRange()
		s.unsynced.endRange()
		_, err := txn.Get([]byte("key"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if cached, _ := s.recentValues.find([]byte("key")); cached != nil {
		t.Errorf("%q is cached", cached)
	}
}

// TestReplacementAfterChangeOfUnknownKeys: a replaced value is not cached if a change of unknown keys, which may have removed it, came
// before the sync.
func TestReplacementAfterChangeOfUnknownKeys(t *testing.T) {
	s, key := openMemory(t), []byte("key")
	setKey(t, s, "key", "old")
	txn := &txn{store: s, stripes: s.unsynced.appendStripes(nil, key), replaces: []replaced{{key: key}}}
	txn.overlay.Set(key, []byte("new"))
	s.unsynced.begin(txn.stripes)
	txn.beginReplacing()
	s.unsynced.beginRange()
	s.unsynced.endRange()
	s.unsynced.end(txn.stripes)
	txn.endReplacing()
	if cached, _ := s.recentValues.find(key); cached != nil {
		t.Errorf("%q is cached", cached)
	}
}

// TestUpdateReadsOneState: an update that has begun to read does not see a later value of a key that it does not hold, even if that is
// cached.
func TestUpdateReadsOneState(t *testing.T) {
	s, key := openMemory(t), []byte("key")
	setKey(t, s, "key", "old")
	err := s.Update(t.Context(), intentToWrite([]byte("other")), func(txn kv.Txn) error {
		if _, err := txn.Get([]byte("other")); err != nil {
			return err
		}
		setKey(t, s, "key", "new")
		if got, err := s.Get(t.Context(), key); err != nil || string(got) != "new" {
			t.Errorf("Get returns %q, %v", got, err)
		}
		got, err := txn.Get(key)
		if string(got) != "old" {
			t.Errorf("the update reads %q, want the old value", got)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestConcurrentUpdatesOfRecentValues: increments through the cache lose nothing, and readers never see a count go down.
func TestConcurrentUpdatesOfRecentValues(t *testing.T) {
	const writers, readers, increments, keys = 6, 2, 300, 2
	s := openMemory(t)
	for k := range keys {
		setKey(t, s, fmt.Sprint(k), "0")
	}
	var writing, reading sync.WaitGroup
	done := make(chan struct{})
	for range readers {
		reading.Go(func() {
			var last [keys]int
			for {
				for k := range last {
					got, err := s.Get(t.Context(), strconv.AppendInt(nil, int64(k), 10))
					n, _ := strconv.Atoi(string(got))
					if err != nil || n < last[k] {
						t.Errorf("read %q, %v after %d", got, err, last[k])
						return
					}
					last[k] = n
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for range writers {
		writing.Go(func() {
			for i := range increments {
				key := strconv.AppendInt(nil, int64(i%keys), 10)
				err := s.Update(t.Context(), intentToWrite(key), func(txn kv.Txn) error {
					got, err := txn.Get(key)
					if err != nil {
						return err
					}
					n, err := strconv.Atoi(string(got))
					txn.Set(key, strconv.AppendInt(nil, int64(n+1), 10))
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
	close(done)
	reading.Wait()
	for k := range keys {
		got, err := s.Get(t.Context(), strconv.AppendInt(nil, int64(k), 10))
		if want := strconv.Itoa(writers * increments / keys); err != nil || string(got) != want {
			t.Errorf("counter %d is %q, %v; want %s", k, got, err, want)
		}
	}
	checkBytes(t, s.recentValues)
}

func intentToWrite(key []byte) kv.Intent { return kv.Intent{Write: [][]byte{key}} }

// TestOverlayOfUpdateInSeveralBatches: what an update reads of its own writes stays when its batches have become one, until it ends,
// whatever other updates write meanwhile: the cache takes the new values from there when they are synced.
func TestOverlayOfUpdateInSeveralBatches(t *testing.T) {
	s := openMemory(t)
	txn := s.newTxn(nil, batchShare{memory: s.batches})
	defer txn.close()
	large := bytes.Repeat([]byte("x"), 390<<10)
	for _, w := range []struct{ key, value []byte }{{[]byte("1"), large}, {[]byte("2"), large}, {[]byte("small"), []byte("mine")}, {[]byte("3"), large}} {
		txn.Set(w.key, w.value)
	}
	if len(txn.writes.batches) < 2 {
		t.Fatal("the update has one batch")
	}
	if _, err := txn.writes.whole(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		other := s.db.NewBatch()
		defer other.Close()
		if err := other.Set([]byte("other"), bytes.Repeat([]byte("y"), 900<<10), nil); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := txn.Get([]byte("small")); string(got) != "mine" {
		t.Errorf("the update reads %.20q, want mine", got)
	}
}
