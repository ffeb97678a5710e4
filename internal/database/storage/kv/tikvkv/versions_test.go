//go:build tikv

package tikvkv_test

import (
	"testing"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/tikvkv"
)

// TestVersions tests that old versions are removed as far as no snapshot of any process needs them.
func TestVersions(t *testing.T) {
	ctx, at := t.Context(), address()
	reader, remover := openCore(t, at), openCore(t, at)
	put := func(v string) {
		t.Helper()
		err := remover.Update(ctx, kv.Intent{Write: [][]byte{[]byte("k")}}, func(txn kv.Txn) error {
			txn.Set([]byte("k"), []byte(v))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	remove := func() (safe uint64) {
		t.Helper()
		if err := reader.KeepVersions(ctx); err != nil {
			t.Fatal(err)
		}
		if err := remover.RemoveBefore(ctx, 0); err != nil {
			t.Fatal(err)
		}
		safe, err := cluster.SafePoint()
		if err != nil {
			t.Fatal(err)
		}
		return safe
	}
	put("old")
	snap, err := reader.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	put("new")
	held := remove()
	if again := remove(); again != held {
		t.Errorf("the safe point moves from %d to %d while a snapshot is open", held, again)
	}
	if v, err := snap.Get([]byte("k")); string(v) != "old" || err != nil {
		t.Errorf("the snapshot reads %q, %v", v, err)
	}
	if err := snap.Close(); err != nil {
		t.Error(err)
	}
	if freed := remove(); freed <= held {
		t.Errorf("the safe point is %d, and was %d while a snapshot was open", freed, held)
	}
	for _, s := range []*tikvkv.Store{reader, remover} {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
