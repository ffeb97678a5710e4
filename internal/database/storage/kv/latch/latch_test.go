package latch_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

func keys(names ...string) [][]byte {
	var ks [][]byte
	for _, name := range names {
		ks = append(ks, []byte(name))
	}
	return ks
}

func writing(names ...string) kv.Intent  { return kv.Intent{Write: keys(names...)} }
func checking(names ...string) kv.Intent { return kv.Intent{Check: keys(names...)} }

func acquire(t *testing.T, table *latch.Table, in kv.Intent) *latch.Held {
	t.Helper()
	held, err := table.Acquire(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// waiting is an acquisition that runs on its own.
type waiting struct {
	held *latch.Held
	err  error
	done bool
}

func start(ctx context.Context, table *latch.Table, in kv.Intent) *waiting {
	w := &waiting{}
	go func() {
		w.held, w.err = table.Acquire(ctx, in)
		w.done = true
	}()
	synctest.Wait()
	return w
}

// expect waits until nothing moves any more and compares.
func (w *waiting) expect(t *testing.T, done bool, err error) {
	t.Helper()
	synctest.Wait()
	if w.done != done || !errors.Is(w.err, err) {
		t.Fatalf("done %v with error %v, want %v with %v", w.done, w.err, done, err)
	}
}

func TestSharedAndExclusive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := latch.New()
		a, b := acquire(t, table, checking("k")), acquire(t, table, checking("k"))
		w := start(t.Context(), table, writing("k"))
		w.expect(t, false, nil)
		a.Release()
		w.expect(t, false, nil)
		b.Release()
		w.expect(t, true, nil)
		shared := start(t.Context(), table, checking("k"))
		shared.expect(t, false, nil)
		w.held.Release()
		shared.expect(t, true, nil)
		shared.held.Release()
	})
}

// TestArrivalOrder: who only checks does not pass a waiting writer, so that writers are not starved.
func TestArrivalOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := latch.New()
		first := acquire(t, table, checking("k"))
		writer := start(t.Context(), table, writing("k"))
		late := start(t.Context(), table, checking("k"))
		later := start(t.Context(), table, checking("k"))
		late.expect(t, false, nil)
		first.Release()
		writer.expect(t, true, nil)
		late.expect(t, false, nil)
		writer.held.Release()
		late.expect(t, true, nil)
		later.expect(t, true, nil)
		late.held.Release()
		later.held.Release()
	})
}

// TestCanceledWriterUnblocksReaders: those who waited only because of a writer that went away are let in.
func TestCanceledWriterUnblocksReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := latch.New()
		first := acquire(t, table, checking("k"))
		ctx, cancel := context.WithCancel(t.Context())
		writer := start(ctx, table, writing("k"))
		reader := start(t.Context(), table, checking("k"))
		reader.expect(t, false, nil)
		cancel()
		writer.expect(t, true, context.Canceled)
		reader.expect(t, true, nil)
		reader.held.Release()
		first.Release()
		acquire(t, table, writing("k")).Release()
	})
}

// TestTransactionRefusesQueue: who waits behind others fails when one of them, a transaction, gets the key.
func TestTransactionRefusesQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := latch.New()
		holder := acquire(t, table, writing("k"))
		txn := start(t.Context(), table, kv.Intent{Check: keys("k"), Transaction: true})
		failing := start(t.Context(), table, kv.Intent{Write: keys("k", "other"), FailOnTransaction: true})
		patient := start(t.Context(), table, writing("k"))
		sharing := start(t.Context(), table, kv.Intent{Check: keys("k"), FailOnTransaction: true})
		failing.expect(t, false, nil)
		holder.Release()
		txn.expect(t, true, nil)
		failing.expect(t, true, kv.ErrConflict)
		acquire(t, table, writing("other")).Release() // the one that failed holds nothing
		patient.expect(t, false, nil)
		sharing.expect(t, false, nil) // it waits for the writer before it, not for the transaction
		txn.held.Release()
		patient.expect(t, true, nil)
		patient.held.Release()
		sharing.expect(t, true, nil)
		sharing.held.Release()
	})
}

// TestRandom holds random sets from many goroutines, some of which give up, and asserts exclusion.
func TestRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const goroutines, rounds, count = 16, 500, 6
	table := latch.New()
	var held [count]atomic.Int64 // holders that share, or -1
	var wg sync.WaitGroup
	for g := range goroutines {
		rng := rand.New(rand.NewPCG(seed, uint64(g)))
		wg.Go(func() {
			for range rounds {
				randomHold(t, table, rng, held[:])
			}
		})
	}
	wg.Wait()
	for i := range held {
		acquire(t, table, writing(fmt.Sprint(i))).Release()
	}
}

func randomHold(t *testing.T, table *latch.Table, rng *rand.Rand, held []atomic.Int64) {
	t.Helper()
	in := kv.Intent{Transaction: rng.IntN(3) == 0, FailOnTransaction: rng.IntN(2) == 0}
	modes := map[int]int64{}
	for range 1 + rng.IntN(4) {
		i := rng.IntN(len(held))
		if rng.IntN(2) == 0 {
			in.Write = append(in.Write, fmt.Append(nil, i))
			modes[i] = -1
		} else {
			in.Check = append(in.Check, fmt.Append(nil, i))
			if modes[i] == 0 {
				modes[i] = 1
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if rng.IntN(4) == 0 {
		go cancel()
	}
	h, err := table.Acquire(ctx, in)
	if err != nil {
		if !errors.Is(err, kv.ErrConflict) && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		return
	}
	for i, mode := range modes {
		if now := held[i].Add(mode); mode < 0 && now != -1 || mode > 0 && now < 1 {
			t.Errorf("latch %d: %d after adding %d", i, now, mode)
		}
	}
	runtime.Gosched()
	for i, mode := range modes {
		held[i].Add(-mode)
	}
	h.Release()
}

func BenchmarkAcquire(b *testing.B) {
	hot := []byte("version of the table")
	b.Run("Uncontended", func(b *testing.B) {
		table, in := latch.New(), kv.Intent{Write: keys("customer#0123456789"), Check: [][]byte{hot}}
		b.ReportAllocs()
		for b.Loop() {
			held, _ := table.Acquire(b.Context(), in)
			held.Release()
		}
	})
	b.Run("SharedHotKey32", func(b *testing.B) {
		table := latch.New()
		var n atomic.Int64
		b.ReportAllocs()
		b.SetParallelism(max(1, 32/runtime.GOMAXPROCS(0)))
		b.RunParallel(func(pb *testing.PB) {
			in := kv.Intent{Write: [][]byte{fmt.Append(nil, n.Add(1))}, Check: [][]byte{hot}}
			for pb.Next() {
				held, err := table.Acquire(b.Context(), in)
				if err != nil {
					b.Error(err)
				}
				held.Release()
			}
		})
	})
}
