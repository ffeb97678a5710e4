package monotable

import (
	"context"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Compact reclaims the space of deleted and overwritten data and optimizes the layout for reads. It rewrites the whole database,
// which may take long and temporarily needs as much space again. Reads and writes continue. The database compacts itself as
// needed; call Compact after a large deletion.
func (db *DB) Compact(ctx context.Context) error { return compact(ctx, db.store) }

// Compact is [DB.Compact] for a directory that no process has open. Only the master key of o is used; o may be nil.
func Compact(ctx context.Context, dir string, o *Options) error {
	store, err := openStore(dir, o, false)
	if err != nil {
		return err
	}
	return errors.Join(compact(ctx, store), store.Close())
}

func compact(ctx context.Context, store kv.Store) error {
	if err := store.Compact(ctx, nil, nil); err != nil {
		return fmt.Errorf("monotable: compact: %w", err)
	}
	return nil
}
