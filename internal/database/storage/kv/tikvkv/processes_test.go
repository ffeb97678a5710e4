//go:build tikv

package tikvkv_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/kvtest"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// TestProcesses tests that three processes can share a store, of which one is killed.
func TestProcesses(t *testing.T) {
	kvtest.RunProcesses(t, 300, address, func(t *testing.T, at string) kv.Core {
		t.Helper()
		return openCore(t, at)
	})
}

// TestSteadyKey tests that an update that has read a steady key does not commit after another process has changed it, and that
// updates that only check it do not conflict.
func TestSteadyKey(t *testing.T) {
	at := address()
	stores := []*tikvkv.Store{openCore(t, at), openCore(t, at)}
	version, copies := []byte("c-version"), func(g int) []byte { return fmt.Appendf(nil, "k%d", g) }
	change := func(s *tikvkv.Store, key []byte, n byte) {
		t.Helper()
		err := s.Update(t.Context(), kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
			txn.Set(key, []byte{n})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	change(stores[0], version, 1)
	// Each writer copies the version that it reads to its own key, which must never decrease.
	ctx, cancel := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	for g := range 4 {
		writers.Go(func() {
			for ctx.Err() == nil {
				k := copies(g)
				err := stores[g%2].Update(ctx, kv.Intent{Write: [][]byte{k}, Check: [][]byte{version}}, func(txn kv.Txn) error {
					v, err := txn.Get(version)
					if err != nil {
						return err
					}
					old, err := txn.Get(k)
					if err == nil && old != nil && old[0] > v[0] {
						err = fmt.Errorf("version %d after %d", v[0], old[0])
					}
					txn.Set(k, v)
					return err
				})
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	for n := byte(2); n < 6; n++ {
		change(stores[n%2], version, n)
		for g := range 4 { // every commit from now on has seen n
			change(stores[0], copies(g), n)
		}
	}
	cancel()
	writers.Wait()
	for _, s := range stores {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
