package pebblekv

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TestBatchMemory: an update may use a small batch without a reservation, and more only if memory is available. Otherwise it
// waits in line for what it wants, or for everything if it wants more than that.
func TestBatchMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBatchMemory(1 << 20)
		first, second, third, fourth := batchShare{memory: m}, batchShare{memory: m}, batchShare{memory: m}, batchShare{memory: m}
		if !first.covers(smallBatch) || first.covers(smallBatch+1) {
			t.Error("a small batch needs memory, or a larger one none")
		}
		if !first.grow(800<<10) || !first.covers(800<<10) {
			t.Fatalf("the first: %+v", first)
		}
		if second.grow(400<<10) || second.wanted != 400<<10 || second.held != 0 {
			t.Fatalf("the second: %+v", second)
		}
		done := make(chan error)
		go func() { done <- third.wait(t.Context(), 1<<30) }()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { done <- fourth.wait(ctx, 400<<10) }()
		synctest.Wait()
		select {
		case err := <-done:
			t.Fatalf("an update went on without memory: %v", err)
		default:
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the fourth: %v", err)
		}
		first.release()
		if err := <-done; err != nil || !third.covers(1<<40) {
			t.Errorf("the third: %+v, %v", third, err)
		}
		third.release()
		if !m.free.TryAcquire(1 << 20) {
			t.Error("memory is reserved when no update is under way")
		}
	})
}

// TestUpdateWaitsForMemoryWithoutItsKeys: an update without enough memory releases its keys while it waits, and then runs again
// on what others wrote.
func TestUpdateWaitsForMemoryWithoutItsKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		take func(kv.Txn) error
	}{
		{"announced", func(txn kv.Txn) error { return txn.Reserve(100 << 10) }},
		{"written", func(txn kv.Txn) error { txn.Set([]byte("key large"), make([]byte, 100<<10)); return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Open("db", Options{FS: vfs.NewMem(), BatchBytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			release := occupyMemory(t, s)
			key := []byte("key")
			in := kv.Intent{Write: [][]byte{key}}
			var seen []string
			tried := make(chan struct{}, 2)
			done := make(chan error)
			go func() {
				done <- s.Update(t.Context(), in, func(txn kv.Txn) error {
					defer func() { tried <- struct{}{} }()
					value, err := txn.Get(key)
					seen = append(seen, string(value))
					return errors.Join(err, c.take(txn))
				})
			}()
			<-tried
			err = s.Update(t.Context(), in, func(txn kv.Txn) error { txn.Set(key, []byte("other")); return nil })
			if err != nil {
				t.Error(err)
			}
			release()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if !slices.Equal(seen, []string{"", "other"}) {
				t.Errorf("the update saw %q in its runs", seen)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// occupyMemory starts an update that reserves all memory and holds it until release is called.
func occupyMemory(t *testing.T, s *Store) (release func()) {
	t.Helper()
	ready, let, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Update(t.Context(), kv.Intent{Write: [][]byte{[]byte("occupied")}}, func(txn kv.Txn) error {
			err := txn.Reserve(1 << 30)
			close(ready)
			<-let
			return err
		})
	}()
	<-ready
	return func() {
		close(let)
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestUpdatesExceedingMemory: updates that together need many times the available memory all commit.
func TestUpdatesExceedingMemory(t *testing.T) {
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
