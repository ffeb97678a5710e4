package identity

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// followInterval is how long another server's change may be unknown here: a deleted key works for that long.
const followInterval = time.Second

// Follow reloads the directory whenever another server has changed it, until ctx ends.
func (d *Directory) Follow(ctx context.Context) {
	ticker := time.NewTicker(followInterval)
	defer ticker.Stop()
	for failing := false; ; {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		err := d.followOnce(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			d.options.Logger.WarnContext(ctx, "cannot read the changes of users, roles and policies by other servers", "error", err)
		}
		failing = err != nil
	}
}

func (d *Directory) followOnce(ctx context.Context) error {
	changes, err := d.changes(ctx)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if changes == d.known {
		return nil
	}
	if err := d.renew(ctx); err != nil {
		d.known = -1 // retry
		return err
	}
	return nil
}

// renew is reload, including the data key that another server may have created. The caller holds mu.
func (d *Directory) renew(ctx context.Context) error {
	if err := d.look(ctx); err != nil {
		return err
	}
	if d.data == nil {
		if err := d.openDataKey(ctx); err != nil {
			return err
		}
	}
	return d.reload(ctx)
}

// look reads the number of changes so far, before the store is read.
func (d *Directory) look(ctx context.Context) (err error) {
	if d.options.Shared {
		d.known, err = d.changes(ctx)
	}
	return err
}

func (d *Directory) changes(ctx context.Context) (int64, error) {
	return changesOf(d.options.Store.Counter(ctx, keyenc.IdentityChanges()))
}

func changesOf(sums []int64, err error) (int64, error) {
	if err != nil || len(sums) == 0 {
		return 0, err
	}
	return sums[0], nil
}

// errChanged: another server has changed what a change is based on.
var errChanged = errors.New("identity: another server has changed users, roles or policies concurrently")

// update is the store's Update, based on what was last read: in a shared store it fails with errChanged if that is outdated.
func (d *Directory) update(ctx context.Context, in kv.Intent, fn func(kv.Txn) error) error {
	if !d.options.Shared {
		return d.options.Store.Update(ctx, in, fn)
	}
	in.Write = append(in.Write, keyenc.IdentityChanges())
	err := d.options.Store.Update(ctx, in, func(txn kv.Txn) error {
		changes, err := changesOf(txn.Counter(keyenc.IdentityChanges()))
		if err == nil && changes != d.known {
			err = errChanged
		}
		if err != nil {
			return err
		}
		txn.Add(keyenc.IdentityChanges(), 1)
		return fn(txn)
	})
	if err == nil {
		d.known++
	}
	return err
}
