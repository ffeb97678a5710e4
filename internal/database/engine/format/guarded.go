package format

import (
	"bytes"
	"context"
	"slices"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// guarded is a store whose updates first check the version.
type guarded struct {
	kv.Store
	check func(mark []byte) error
}

// Guarded returns a store whose updates fail if it has a version that this program does not know, or if the database has been
// moved. This protects a shared store from a process that was suspended before an update while the version changed, and then
// continues as if nothing had happened. Operations other than updates only touch data that is no longer in use. The stores of
// Regions are parts of the store that Guarded returns.
func Guarded(store kv.Store) kv.Store {
	return guarded{store, func(mark []byte) error {
		if mark == nil { // not a database yet
			return nil
		}
		_, err := check(mark, version)
		return err
	}}
}

// GuardedBy returns a store whose updates fail unless admit accepts what the version's key holds: a Move, or nil for none.
func GuardedBy(store kv.Store, admit func(*Move) error) kv.Store {
	return guarded{store, func(mark []byte) error {
		m, err := decodeMove(mark)
		if err != nil {
			return err
		}
		return admit(m)
	}}
}

// Update implements kv.Core. A caller that holds the version's key checks it itself.
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
