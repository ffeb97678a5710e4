package cli

import (
	"bytes"
	"context"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

func damageCommand(ts *testscript.TestScript, negated bool, args []string) {
	if negated || len(args) != 1 {
		ts.Fatalf("usage: damage DIR")
	}
	store, err := pebblekv.Open(ts.MkAbs(args[0]), pebblekv.Options{})
	ts.Check(err)
	ctx := context.Background()
	lo, hi := keyenc.IndexBounds(1, 0)
	it, err := store.Iter(ctx, lo, hi, kv.IterOptions{})
	ts.Check(err)
	if !it.Next() {
		ts.Fatalf("there is no item to remove")
	}
	key := bytes.Clone(it.Key())
	ts.Check(it.Close())
	ts.Check(store.Update(ctx, kv.Intent{Write: [][]byte{key}}, func(txn kv.Txn) error {
		txn.Delete(key)
		return nil
	}))
	ts.Check(store.Close())
}
