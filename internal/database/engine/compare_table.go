package engine

import (
	"bytes"
	"context"
	"math"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// comparedBytes is approximately the size of the items that one call of CompareTable returns.
const comparedBytes = 2 << 20

// ComparedItem is an item at an earlier time and now; nil if it did not or does not exist.
type ComparedItem struct{ Then, Now itemenc.Item }

// Comparison is a part of a table, in the order of a Scan.
type Comparison struct {
	Items []ComparedItem
	// Next is where the next call continues; nil at the end.
	Next []byte
}

// CompareTable compares a table at a second of its recovery window with its current state: all items, or only those that differ.
// It reads the log since then and writes nothing. after is the previous call's Next, nil for the first.
func (e *Engine) CompareTable(ctx context.Context, nameOrARN string, second int64, changedOnly bool, after []byte, limit int) (*Comparison, error) {
	d, err := e.recoverable(ctx, nameOrARN)
	if err != nil {
		return nil, err
	}
	w, err := e.window(ctx, d)
	if err != nil {
		return nil, err
	}
	if second < w.earliest || second > w.latest {
		return nil, apierr.RestoreTimeOutside.With(secondOf(float64(second)), secondOf(float64(w.earliest)), secondOf(float64(w.latest)))
	}
	lo, hi := keyenc.IndexBounds(d.ID, 0)
	if after != nil {
		if bytes.Compare(after, lo) < 0 || bytes.Compare(after, hi) >= 0 {
			return nil, apierr.StartKeyInvalid.With()
		}
		lo = append(bytes.Clone(after), 0)
	}
	if _, err := e.awaitWrites(ctx, d.ID); err != nil {
		return nil, err
	}
	snapshot, err := e.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	c := &comparer{past: &rewinding{from: snapshot, table: d.ID, max: e.options.transfers.touched}, changedOnly: changedOnly, limit: limit}
	err = c.compare(ctx, second*millis+1, lo, hi)
	return &c.Comparison, err
}

// comparer builds a Comparison.
type comparer struct {
	Comparison
	past        *rewinding
	changedOnly bool
	limit       int
	bytes       int
	last        []byte // the last key examined
}

// compare reads a range in steps until the result is full.
func (c *comparer) compare(ctx context.Context, since int64, lo, hi []byte) error {
	for {
		changed, end, err := c.past.changedIn(ctx, since, math.MaxInt64, lo, hi)
		if err != nil {
			return err
		}
		if c.changedOnly {
			err = c.differing(changed)
		} else {
			err = c.all(ctx, changed, lo, end)
		}
		if err != nil || c.Next != nil || bytes.Equal(end, hi) {
			return err
		}
		lo = end
	}
}

// differing adds changed items, except those that have their old content again.
func (c *comparer) differing(changed []touched) error {
	for _, x := range changed {
		then, err := c.past.before(x.first)
		if err != nil {
			return err
		}
		now, err := c.past.from.Get(x.key)
		if err != nil {
			return err
		}
		if !c.add(x.key, then, now) {
			return nil
		}
	}
	return nil
}

// all adds the items that exist now or existed then.
func (c *comparer) all(ctx context.Context, changed []touched, lo, hi []byte) error {
	it := c.past.from.Iter(lo, hi, kv.IterOptions{Limit: c.limit})
	defer it.Close()
	gone := func(until []byte) (more bool, err error) { // the changed items before a key no longer exist
		for more = true; more && len(changed) > 0 && (until == nil || bytes.Compare(changed[0].key, until) < 0); changed = changed[1:] {
			then, err := c.past.before(changed[0].first)
			if err != nil {
				return false, err
			}
			more = c.add(changed[0].key, then, nil)
		}
		return more, nil
	}
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if more, err := gone(it.Key()); err != nil || !more {
			return err
		}
		then := itemenc.Item(it.Value())
		if len(changed) > 0 && bytes.Equal(changed[0].key, it.Key()) {
			var err error
			if then, err = c.past.before(changed[0].first); err != nil {
				return err
			}
			changed = changed[1:]
		}
		if !c.add(it.Key(), then, it.Value()) {
			return nil
		}
	}
	if err := it.Err(); err != nil {
		return err
	}
	_, err := gone(nil)
	return err
}

// add adds an item. It returns false, and where to continue, if the result is full.
func (c *comparer) add(key []byte, then, now itemenc.Item) bool {
	if len(then) == 0 && len(now) == 0 || c.changedOnly && bytes.Equal(then, now) {
		return true
	}
	if len(c.Items) >= c.limit || c.bytes >= comparedBytes {
		c.Next = c.last
		return false
	}
	c.Items = append(c.Items, ComparedItem{bytes.Clone(then), bytes.Clone(now)})
	c.bytes += len(then) + len(now)
	c.last = bytes.Clone(key)
	return true
}
