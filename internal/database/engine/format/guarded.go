package format

import (
	"bytes"
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// guarded is a store whose updates each look at the place of the version first.
type guarded struct {
	kv.Store
	check func(mark []byte) error
}

// Guarded has each update of a shared store fail when the store has a version that this program does not know, or the database has been moved to another
// store. A process may stand still for as long as it takes to do either, with an update about to begin, and goes on as if nothing had happened.
// What is not an update is for what nobody uses any more. Regions are parts of the store that Guarded returns.
func Guarded(store kv.Store) kv.Store {
	return guarded{store, func(mark []byte) error {
		if mark == nil { // it is no database yet
			return nil
		}
		_, err := check(mark, version)
		return err
	}}
}

// GuardedBy has each update of a store fail unless admit accepts what stands in the place of the version: a Move, or nil for none.
func GuardedBy(store kv.Store, admit func(*Move) error) kv.Store {
	return guarded{store, func(mark []byte) error {
		m, err := decodeMove(mark)
		if err != nil {
			return err
		}
		return admit(m)
	}}
}

// Update implements kv.Core. One that holds the place of the version looks itself.
func (g guarded) Update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	place := keyenc.FormatVersion()
	if slices.ContainsFunc(in.Write, func(key []byte) bool { return bytes.Equal(key, place) }) {
		return g.Store.Update(ctx, in, fn)
	}
	in.Check = append(slices.Clip(in.Check), place)
	return g.Store.Update(ctx, in, func(txn kv.Txn) error {
		mark, err := txn.Get(place)
		if err == nil {
			err = g.check(mark)
		}
		if err != nil {
			return err
		}
		return fn(txn)
	})
}
