//nolint:thelper // these are the tests, not helpers of tests: a failure is to name the line that found it
package kvtest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

func testLimits(t *testing.T, s kv.Store) {
	l := s.Limits()
	if l.KeyBytes < 32<<10 || l.ValueBytes < 1<<20 || l.TxnBytes < 64<<20 {
		t.Fatalf("limits %+v are too low for the database", l)
	}
	longest := bytes.Repeat([]byte("k"), l.KeyBytes)
	largest := bytes.Repeat([]byte("v"), l.ValueBytes)
	write := func(k, v []byte) error {
		return s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("a"), k}}, func(txn kv.Txn) error {
			txn.Set([]byte("a"), []byte("1"))
			txn.Set(k, v)
			return nil
		})
	}
	if err := write(append(longest, 0), []byte("v")); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("key of %d bytes: %v", l.KeyBytes+1, err)
	}
	if err := write([]byte("k"), append(largest, 0)); !errors.Is(err, kv.ErrTooLarge) {
		t.Errorf("value of %d bytes: %v", l.ValueBytes+1, err)
	}
	expect(t, s, "a", "")
	if err := write(longest, largest); err != nil {
		t.Errorf("key and value at the limits: %v", err)
	}
	expect(t, s, "a", "1")
	if v, err := s.Get(t.Context(), longest); len(v) != l.ValueBytes || err != nil {
		t.Errorf("the largest value came back with %d bytes, %v", len(v), err)
	}
	// An update that is far larger than a memtable, but allowed.
	large := largest[:l.ValueBytes/8]
	update(t, s, writing("big"), func(txn kv.Txn) error {
		for i := range 9 {
			txn.Set(key("big%d", i), large)
		}
		txn.AppendLog(1, large)
		return nil
	})
	if v, err := s.Get(t.Context(), []byte("big8")); len(v) != len(large) || err != nil {
		t.Errorf("a value of a large update came back with %d bytes, %v", len(v), err)
	}
}

func testClosed(t *testing.T, s kv.Store) {
	set(t, s, "a", "1")
	if err := s.Health(); err != nil {
		t.Errorf("the health of an open store: %v", err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
	}
	ctx, k := t.Context(), []byte("a")
	_, get := s.Get(ctx, k)
	_, counter := s.Counter(ctx, k)
	_, snap := s.Snapshot(ctx)
	_, iter := s.Iter(ctx, nil, nil, kv.IterOptions{})
	_, _, log := s.ReadLog(ctx, 1, 0, 1)
	_, trimmed := s.LogTrimmed(ctx, 1)
	_, size := s.Size(ctx, nil, nil)
	_, logSize := s.LogSize(ctx, 1, 0)
	_, open := s.OpenKept(ctx, "k")
	_, kept := s.Kept(ctx)
	_, usage := s.DiskUsage()
	_, _, clock := s.Time(ctx)
	load := s.Load(ctx, func(func(key, value []byte) error) error {
		t.Error("fill ran on a closed store")
		return nil
	})
	update := s.Update(ctx, writing("a"), func(kv.Txn) error {
		t.Error("fn ran on a closed store")
		return nil
	})
	for name, err := range map[string]error{
		"Get": get, "Counter": counter, "Snapshot": snap, "Iter": iter, "ReadLog": log, "Update": update,
		"TrimLog": s.TrimLog(ctx, 1, 1), "DeleteRange": s.DeleteRange(ctx, k, nil), "LogTrimmed": trimmed,
		"Size": size, "LogSize": logSize, "Compact": s.Compact(ctx, nil, nil), "Load": load,
		"Keep": s.Keep(ctx, "k", kv.Selection{}), "OpenKept": open, "Kept": kept, "DropKept": s.DropKept(ctx, "k"),
		"Health": s.Health(), "DiskUsage": usage, "Time": clock,
	} {
		if !errors.Is(err, kv.ErrClosed) {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func testIntentDuplicates(t *testing.T, s kv.Store) {
	in := kv.Intent{Write: keys("a", "b", "a"), Check: keys("b", "c", "c")}
	for range 3 {
		update(t, s, in, func(txn kv.Txn) error {
			txn.Set([]byte("a"), []byte("1"))
			txn.Set([]byte("b"), []byte("1"))
			return nil
		})
	}
	for _, k := range []string{"a", "b", "c"} {
		set(t, s, k, "2") // everything has been released
	}
}

// hold runs an update that holds an intent until release is called; release returns the update's error.
func hold(t *testing.T, s kv.Store, in kv.Intent) (release func() error) {
	t.Helper()
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	ctx := background(t)
	var once sync.Once
	go func() {
		done <- s.Update(ctx, in, func(kv.Txn) error {
			once.Do(func() { close(held) })
			<-free
			return nil
		})
	}()
	select {
	case <-held:
	case err := <-done:
		t.Fatalf("an update that should hold %q ended: %v", in.Write, err)
	}
	return func() error {
		close(free)
		return <-done
	}
}

func testWaitEndsWithContext(t *testing.T, s kv.Store) {
	release := hold(t, s, writing("a", "m", "z"))
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- s.Update(ctx, writing("b", "m", "y"), func(kv.Txn) error {
			t.Error("ran although its key was held")
			return nil
		})
	}()
	// A reader does not conflict with anything.
	expect(t, s, "m", "")
	cancel(errors.New("enough"))
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Update returned %v, want the context's error", err)
	}
	// What it held besides the contended key has been released.
	set(t, s, "b", "1")
	set(t, s, "y", "1")
	if err := release(); err != nil {
		t.Error(err)
	}
	set(t, s, "m", "1")
}

func testTransactionConflict(t *testing.T, s kv.Store) {
	ctx := t.Context()
	nothing := func(kv.Txn) error { return nil }
	failing := func(write, check [][]byte) error {
		return s.Update(ctx, kv.Intent{Write: write, Check: check, FailOnTransaction: true}, nothing)
	}
	txn := kv.Intent{Write: keys("w"), Check: keys("c"), Transaction: true, FailOnTransaction: true}
	release := hold(t, s, txn)
	for name, err := range map[string]error{
		"write-write": failing(keys("w"), nil),
		"check-write": failing(nil, keys("w")),
		"write-check": failing(keys("c"), nil),
		"one of many": failing(keys("a", "b", "w", "x", "y"), keys("c", "d")),
		"transaction": s.Update(ctx, txn, nothing),
	} {
		if !errors.Is(err, kv.ErrConflict) {
			t.Errorf("%s: %v, want ErrConflict", name, err)
		}
	}
	if err := failing(keys("a", "b", "x", "y"), keys("c")); err != nil {
		t.Errorf("an update that conflicts with no transaction, with the same checks: %v", err)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := failing(keys("w", "c"), nil); err != nil {
		t.Errorf("after the transaction: %v", err)
	}
}

// testChecksBehindWriter: while an update waits to write a key that a transaction checks, another one that checks the key, too,
// waits at most: it does not conflict with the transaction.
func testChecksBehindWriter(t *testing.T, s kv.Store) {
	nothing := func(kv.Txn) error { return nil }
	release := hold(t, s, kv.Intent{Check: keys("c"), Transaction: true, FailOnTransaction: true})
	written := make(chan error, 1)
	go func() { written <- s.Update(background(t), writing("c"), nothing) }()
	for waits, n := false, 0; !waits && n < 50; n++ { // until the writer waits
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		err := s.Update(ctx, kv.Intent{Check: keys("c"), FailOnTransaction: true}, nothing)
		cancel()
		if waits = err != nil; errors.Is(err, kv.ErrConflict) {
			t.Error(err)
		}
	}
	if err := errors.Join(release(), <-written); err != nil {
		t.Error(err)
	}
}

// testTransactionWaits: an update that fails on transactions waits for other holders, and fails when a transaction ahead of it
// gets the key.
func testTransactionWaits(t *testing.T, s kv.Store) {
	ctx := background(t)
	release := hold(t, s, writing("k"))
	results := make(chan error, 16)
	for i := range cap(results) {
		go func() {
			in := kv.Intent{Write: keys("k"), FailOnTransaction: true, Transaction: i%2 == 0}
			results <- s.Update(ctx, in, func(txn kv.Txn) error {
				txn.Set([]byte("k"), []byte("v"))
				return nil
			})
		}()
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	succeeded := 0
	for range cap(results) {
		err := <-results
		switch {
		case err == nil:
			succeeded++
		case !errors.Is(err, kv.ErrConflict):
			t.Errorf("%v", err)
		}
	}
	if succeeded == 0 {
		t.Error("no transaction got the key")
	}
	set(t, s, "k", "free")
}

// testNoConflictWithoutTransaction: an update that fails on transactions fails on nothing else, however many contend for one key.
func testNoConflictWithoutTransaction(t *testing.T, s kv.Store) {
	const goroutines, each = 12, 30
	var wg sync.WaitGroup
	for g := range goroutines {
		in := kv.Intent{Check: keys("k"), FailOnTransaction: true}
		if g == 0 {
			in = kv.Intent{Write: keys("k"), FailOnTransaction: true}
		}
		wg.Go(func() {
			for range each {
				err := s.Update(background(t), in, func(txn kv.Txn) error {
					if g == 0 {
						txn.Set([]byte("k"), []byte("v"))
					}
					return nil
				})
				if err != nil {
					t.Errorf("Update: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
}
