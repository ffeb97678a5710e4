//go:build tikv

package tikvkv

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"time"
)

// abandonedAfter is the number of windows after which a guard counts as abandoned by a crashed process.
const abandonedAfter = 5

// guard is the row next to a steady key that is about to change: who changes it, and since when.
func guard(id, since uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, id), since)
}

func generation(ts uint64) []byte { return binary.BigEndian.AppendUint64(nil, ts) }

// passGuards waits for changes of the intent's steady keys by others, and sets guards on those that this update
// writes.
func (u *update) passGuards(t *txn) error {
	var closing [][]byte
	for k, row := range t.guards {
		key := []byte(k)
		mine := len(row) == 16 && binary.BigEndian.Uint64(row) == u.id
		if len(row) == 16 && !mine && before(t.start, abandonedAfter*u.store.window) < binary.BigEndian.Uint64(row[8:]) {
			return errAgain
		}
		written := slices.ContainsFunc(u.in.Write, func(w []byte) bool { return bytes.Equal(w, key) })
		if written && !mine && t.named[k] != nil { // checking that a key is absent locks it
			closing = append(closing, key)
		}
	}
	if len(closing) == 0 {
		return nil
	}
	for _, key := range closing {
		u.closed = append(u.closed, key)
		if err := t.tx.Set(u.store.key(guardSpace, key...), guard(u.id, t.start)); err != nil {
			return err
		}
	}
	if err := t.send(); err != nil {
		return err
	}
	select {
	case <-time.After(u.store.window):
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
	for { // by the cluster's clock
		now, err := u.store.now(t.ctx)
		if err != nil {
			return err
		}
		// The guard was committed at most a window after its start, and updates that did not see it at most
		// another window later.
		if before(now, 2*u.store.window) > t.start {
			return errAgain
		}
		select {
		case <-time.After(u.store.window / 8):
		case <-t.ctx.Done():
			return t.ctx.Err()
		}
	}
}

// guardsToOpen are the steady keys whose guards this commit removes: the update's own, and abandoned ones.
func (u *update) guardsToOpen(t *txn) (keys [][]byte) {
	for k, row := range t.guards {
		if row != nil {
			keys = append(keys, []byte(k))
		}
	}
	return keys
}

// reopen removes the guards of an update that did not commit.
func (u *update) reopen(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	_ = u.store.again(ctx, func() error { // if that fails, the guard is abandoned
		t, err := u.store.begin(ctx)
		if err != nil {
			return err
		}
		open := false
		for _, key := range u.closed {
			at := u.store.key(guardSpace, key...)
			row, err := t.row(at)
			if err != nil {
				return err
			}
			if len(row) == 16 && binary.BigEndian.Uint64(row) == u.id {
				open = true
				if err := t.tx.Delete(at); err != nil {
					return err
				}
			}
		}
		if !open {
			return nil
		}
		return t.send()
	})
}
