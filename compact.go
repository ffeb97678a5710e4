package monotable

import (
	"context"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Compact gives back the room of what was deleted or overwritten and lays out the rest for reading. It
// rewrites the whole database, which may take long and, meanwhile, as much room again; reads and writes go on.
// The database does by itself what is needed: Compact is for after a large deletion.
func (db *DB) Compact(ctx context.Context) error { return compact(ctx, db.store) }

// Compact is [DB.Compact] for a directory that no process has open. Of o, which may be nil, only the master key counts.
func Compact(ctx context.Context, dir string, o *Options) error {
	store, err := openStore(dir, o)
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
