package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/dynamo/apierr"
	"github.com/monotable/monotable/internal/engine/catalog"
	"github.com/monotable/monotable/internal/storage/keyenc"
	"github.com/monotable/monotable/internal/storage/kv"
)

const (
	// ttlYearsMax is how far in the past an expiry time may lie for the item to be removed: AWS takes
	// older ones for mistakes.
	ttlYearsMax = 5
	// expireChunk is how many TTL entries are read at a time.
	expireChunk = 256
)

// ExpireNow removes the items whose time has come and returns how many there were. It runs by itself every
// Options.TTLInterval.
func (e *Engine) ExpireNow(ctx context.Context) (n int, err error) {
	now := e.options.Now()
	for _, t := range e.catalog.Tables() {
		if t.TTLAttribute == "" {
			continue
		}
		removed, tableErr := e.expireTable(ctx, t, now)
		n, err = n+removed, errors.Join(err, tableErr)
	}
	return n, err
}

// expireTable walks the TTL entries in order of time. Each item is looked at again under its own key before
// it goes: a write may have given it more time since.
func (e *Engine) expireTable(ctx context.Context, t *catalog.Table, now time.Time) (n int, err error) {
	lo, hi := keyenc.TTLBounds(t.ID, now.AddDate(-ttlYearsMax, 0, 0).Unix(), now.Unix()+1)
	for {
		keys, err := e.readKeys(ctx, lo, hi, expireChunk)
		if err != nil || len(keys) == 0 {
			return n, err
		}
		for _, key := range keys {
			_, seconds, pk, sk, err := keyenc.ParseTTL(key)
			if err != nil {
				return n, err
			}
			removed, err := e.expireItem(ctx, t, pk, sk, seconds)
			if isNotFound(err) {
				return n, nil // the table was deleted meanwhile
			}
			if err != nil {
				return n, err
			}
			if removed {
				n++
			}
		}
		lo = keyAfter(keys[len(keys)-1])
	}
}

// readKeys returns the first keys of a range, at most limit.
func (e *Engine) readKeys(ctx context.Context, lo, hi []byte, limit int) ([][]byte, error) {
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	it := snapshot.Iter(lo, hi, kv.IterOptions{Limit: limit})
	defer it.Close()
	var keys [][]byte
	for len(keys) < limit && it.Next() {
		keys = append(keys, slices.Clone(it.Key()))
	}
	return keys, it.Err()
}

// keyAfter is the key that follows another directly.
func keyAfter(key []byte) []byte { return append(slices.Clone(key), 0) }

// isNotFound reports whether an error tells a client that a table is not there.
func isNotFound(err error) bool {
	var known *apierr.Error
	return errors.As(err, &known) && known.Code == apierr.ResourceNotFoundException
}
