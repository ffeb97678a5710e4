package format

import (
	"bytes"
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// guarded is a store that several processes share.
type guarded struct{ kv.Store }

// Guarded has each update of a shared store fail when the store has a version that this program does not know, or the database has been moved to another
// store. A process may stand still for as long as it takes to do either, with an update about to begin, and goes on as if nothing had happened.
// What is not an update is for what nobody uses any more. Regions are parts of the store that Guarded returns.
func Guarded(store kv.Store) kv.Store { return guarded{store} }

// Update implements kv.Core.
func (g guarded) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	mark := keyenc.FormatVersion()
	if slices.ContainsFunc(in.Write, func(key []byte) bool { return bytes.Equal(key, mark) }) { // it looks itself
		return g.Store.Update(ctx, in, fn)
	}
	in.Check = append(slices.Clip(in.Check), mark)
	return g.Store.Update(ctx, in, func(txn kv.Txn) error {
		data, err := txn.Get(mark)
		if err == nil && data != nil { // else it is no database yet
			_, err = check(data, version)
		}
		if err != nil {
			return err
		}
		return fn(txn)
	})
}
