package engine

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

const (
	// ttlYearsMax is the maximum age of an expiry time: AWS treats older ones as mistakes and keeps the item.
	ttlYearsMax = 5
	// expireGroup is how many items are removed in one commit: a backlog needs few syncs of the disk, and writers of these items
	// do not wait long.
	expireGroup = 100
)

// ExpireNow removes all expired items and returns their number. It runs automatically every Options.TTLInterval.
func (e *Engine) ExpireNow(ctx context.Context) (n int, err error) {
	now := e.options.Now()
	for _, t := range e.catalog.Tables() {
		if t.TTLAttribute == "" || !e.expiresHere(t) {
			continue
		}
		removed, tableErr := e.expireTable(ctx, t, now)
		n, err = n+removed, errors.Join(err, tableErr)
	}
	return n, err
}

// expiresHere reports whether items of a table expire in this Region. Those of a global table of version 2019.11.21 expire in
// only one of the served Regions, the first by name, and the deletions are replicated from there.
func (e *Engine) expiresHere(t *catalog.Table) bool {
	if t.Replica == "" || t.Legacy {
		return true
	}
	if t.Descriptor.BeingFilled() || t.Descriptor.Deleting() {
		return false
	}
	for _, other := range t.Descriptor.Global.Replicas {
		if other.State == catalog.ReplicaActive && other.Region < t.Replica && e.regions.get(other.Region) != nil {
			return false
		}
	}
	return true
}

// sweeps records up to which second each table's TTL entries have been swept since the engine was opened: no earlier entry is
// left. The next sweep starts there, to avoid stepping over the tombstones of the previous ones.
type sweeps struct {
	mu    sync.Mutex
	swept map[keyenc.TableID]*swept
}

// swept is how far a table has been swept, in seconds since the epoch.
type swept struct {
	next int64 // where the next sweep starts if the current one succeeds
	done int64 // no entry of an earlier second is left
}

// begin returns where a sweep of a table up to a second starts. It records immediately that the sweep has got there, so that
// lower also works during the sweep.
func (s *sweeps) begin(t keyenc.TableID, until int64) (from int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.swept[t]
	if x == nil {
		x = &swept{math.MinInt64, math.MinInt64}
		if s.swept == nil {
			s.swept = map[keyenc.TableID]*swept{}
		}
		s.swept[t] = x
	}
	from = x.next
	x.next = max(from, until)
	return from
}

// end records that the sweep of a table up to a second has succeeded.
func (s *sweeps) end(t keyenc.TableID, until int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept[t].done = min(until, s.swept[t].next)
}

// doneUntil returns the second before which a table has no TTL entries.
func (s *sweeps) doneUntil(t keyenc.TableID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.swept[t]; x != nil {
		return x.done
	}
	return math.MinInt64
}

// lower records that a table has, or may have, an entry of a second. It is called after the entry is written: a sweep that
// started earlier may miss the entry, but the next one does not.
func (s *sweeps) lower(t keyenc.TableID, seconds int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x := s.swept[t]; x != nil {
		x.next, x.done = min(x.next, seconds), min(x.done, seconds)
	}
}

// expireTable sweeps the TTL entries of a table up to now.
func (e *Engine) expireTable(ctx context.Context, t *catalog.Table, now time.Time) (n int, err error) {
	until := now.Unix() + 1
	from := e.sweeps.begin(t.ID, until)
	if e.member != nil { // this server does not see the writes of others
		from = math.MinInt64
	}
	n, err = e.expireBetween(ctx, t, max(from, now.AddDate(-ttlYearsMax, 0, 0).Unix()), until)
	if err != nil {
		e.sweeps.lower(t.ID, from)
		return n, err
	}
	e.sweeps.end(t.ID, until)
	return n, nil
}

// expireBetween walks the TTL entries of [from, until) in order of time. If the table is deleted in the meantime, there is
// nothing left to expire.
func (e *Engine) expireBetween(ctx context.Context, t *catalog.Table, from, until int64) (n int, err error) {
	lo, hi := keyenc.TTLBounds(t.ID, from, until)
	counts := e.options.Observe.Table(e.options.MetricsPrefix + t.Name)
	for {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		keys, err := e.readKeys(ctx, lo, hi, expireGroup)
		if err != nil || len(keys) == 0 {
			return n, err
		}
		removed, err := e.expireKeys(ctx, t, keys)
		n += removed
		if removed > 0 {
			counts.Expired.Add(int64(removed))
			countRecord(counts, t, e.options.Now())
		}
		if isNotFound(err) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		lo = keyAfter(keys[len(keys)-1])
	}
}

// expireKeys removes the items of TTL entries in one commit, or in several if they are too large for one, and returns how many it
// removed. It waits for transactions on the items.
func (e *Engine) expireKeys(ctx context.Context, t *catalog.Table, keys [][]byte) (removed int, err error) {
	g, err := expiries(t, keys)
	if err != nil {
		return 0, err
	}
	removed, err = e.expireWrites(ctx, g)
	for errors.Is(err, errTableChanged) {
		if t, err = e.successor(ctx, t); err != nil {
			return 0, err
		}
		for _, w := range g {
			w.t = t
		}
		removed, err = e.expireWrites(ctx, g)
	}
	if !errors.Is(err, kv.ErrTooLarge) || len(keys) == 1 {
		return removed, err
	}
	for half := range slices.Chunk(keys, (len(keys)+1)/2) {
		n, err := e.expireKeys(ctx, t, half)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// expiries creates the deletes for TTL entries of a table.
func expiries(t *catalog.Table, keys [][]byte) (writeGroup, error) {
	g := make(writeGroup, len(keys))
	for i, key := range keys {
		_, seconds, pk, sk, err := keyenc.ParseTTL(key)
		if err != nil {
			return nil, err
		}
		g[i] = &write{
			kind: deleteWrite, expired: &seconds, origin: logenc.OriginTTL,
			t: t, key: keyenc.Item(nil, t.ID, pk, sk), pk: pk, sk: sk,
		}
	}
	return g, nil
}

// expireWrites executes deletes of expired items. Each item is read again under its key first, because a write may have postponed
// its expiry.
func (e *Engine) expireWrites(ctx context.Context, g writeGroup) (removed int, err error) {
	err = e.update(ctx, g.intent(), g, func(txn kv.Txn, ws *workspace) error {
		removed = 0
		if err := g.checkVersions(txn); err != nil {
			return err
		}
		for _, w := range g {
			err := w.run(txn, ws)
			if _, kept := errors.AsType[*conditionError](err); kept {
				continue
			}
			if err != nil {
				return err
			}
			removed++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return removed, nil
}

// successor returns the newest definition of a table. It returns a ResourceNotFoundException if the table has been deleted, even
// if another table now has its name.
func (e *Engine) successor(ctx context.Context, t *catalog.Table) (*catalog.Table, error) {
	if err := e.catalog.Renew(ctx, t); err != nil {
		return nil, err
	}
	next, err := e.catalog.Lookup(t.Name)
	if err == nil && next.ID != t.ID {
		err = apierr.NotFound.With()
	}
	return next, err
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

// keyAfter returns the immediate successor of a key.
func keyAfter(key []byte) []byte { return append(slices.Clone(key), 0) }

// isNotFound reports whether an error tells a client that a table does not exist.
func isNotFound(err error) bool {
	var known *apierr.Error
	return errors.As(err, &known) && known.Code == apierr.ResourceNotFoundException
}
