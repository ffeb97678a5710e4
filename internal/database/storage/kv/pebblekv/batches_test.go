package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestBatchMemory: updates share the memory; the first that finds none goes on with the overdraft, the next one waits for
// it.
func TestBatchMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBatchMemory(1 << 20)
		var first, second, third, fourth batchShare
		if !first.covers(smallBatch) || first.covers(smallBatch+1) {
			t.Error("a small batch needs memory, or a larger one none")
		}
		if err := m.grow(t.Context(), &first, 400<<10); err != nil || first.overdrawn || !first.covers(800<<10) {
			t.Fatalf("the first: %+v, %v", first, err)
		}
		if err := m.grow(t.Context(), &second, 400<<10); err != nil || !second.overdrawn || !second.covers(1<<30) {
			t.Fatalf("the second: %+v, %v", second, err)
		}
		done := make(chan error)
		go func() { done <- m.grow(t.Context(), &third, 400<<10) }()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- m.grow(ctx, &fourth, 400<<10) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("a third went on beside the overdraft: %v", err)
		default:
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the fourth: %v", err)
		}
		m.release(&second)
		if err := <-done; err != nil || !third.overdrawn {
			t.Errorf("the third: %+v, %v", third, err)
		}
		for _, s := range []*batchShare{&first, &second, &third, &fourth} {
			m.release(s)
		}
		if !m.free.TryAcquire(1<<20) || len(m.overdraft) > 0 {
			t.Error("memory is held by nobody")
		}
	})
}

// TestUpdatesBeyondTheMemory: updates that together want many times the memory there is all commit.
func TestUpdatesBeyondTheMemory(t *testing.T) {
	s, err := Open("db", Options{FS: vfs.NewMem(), BatchBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 100<<10)
	var g errgroup.Group
	for i := range 16 {
		g.Go(func() error {
			key := fmt.Appendf(nil, "key %d ", i)
			return s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
				for j := range 10 {
					txn.Set(fmt.Appendf(key, "%d", j), value)
				}
				return nil
			})
		})
	}
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
	it, err := s.Iter(t.Context(), []byte("key"), []byte("kez"), kv.IterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for it.Next() {
		n++
	}
	if err := errors.Join(it.Err(), it.Close(), s.Close()); err != nil || n != 160 {
		t.Errorf("%d keys, %v", n, err)
	}
}
