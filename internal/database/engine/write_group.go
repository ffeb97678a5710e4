package engine

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// writeGroup is the writes of one request, executed in one transaction of the store. All are of different items.
type writeGroup []*write

// tables looks up the table of every write.
func (e *Engine) tables(ctx context.Context, g writeGroup) ([]*catalog.Table, error) {
	ts := make([]*catalog.Table, len(g))
	for i, w := range g {
		if i > 0 && w.table == g[i-1].table {
			ts[i], w.counts = ts[i-1], g[i-1].counts
			continue
		}
		var err error
		if ts[i], w.counts, err = e.lookup(ctx, w.table); err != nil {
			return nil, err
		}
	}
	return ts, nil
}

// repeats reports whether two of the writes are of the same item.
func (g writeGroup) repeats() bool {
	keys := make([][]byte, len(g))
	for i, w := range g {
		keys[i] = w.key
	}
	slices.SortFunc(keys, bytes.Compare)
	return len(slices.CompactFunc(keys, bytes.Equal)) < len(g)
}

// intent names the keys of the group: the items it writes and, held shared, the items with only a condition check and the
// versions of its tables.
func (g writeGroup) intent() kv.Intent {
	in := kv.Intent{Write: make([][]byte, 0, len(g)+1), Frees: true}
	for _, w := range g {
		in.Frees = in.Frees && w.frees()
		if w.kind == checkWrite {
			in.Check = append(in.Check, w.key)
		} else {
			in.Write = append(in.Write, w.key)
		}
	}
	for _, t := range g.distinctTables() {
		in.Check = append(in.Check, keyenc.TableVersion(t.ID))
	}
	return in
}

// update runs fn, which runs the writes of g, in a transaction of the store. While it waits for memory, the writes keep none of
// the data they have read or created.
func (e *Engine) update(ctx context.Context, in kv.Intent, g writeGroup, fn func(txn kv.Txn, ws *workspace) error) error {
	if slices.ContainsFunc(g, func(w *write) bool { return w.t.Strong }) {
		return e.updateStrong(ctx, in, g, fn)
	}
	ws := e.workspaces.get()
	defer e.workspaces.put(ws)
	return e.store.Update(ctx, in, func(txn kv.Txn) error {
		err := fn(txn, ws)
		if err == nil {
			err = txn.Reserve(0) // reports whether everything written fits into memory
		}
		if errors.Is(err, kv.ErrRerun) {
			*ws = workspace{}
			for _, w := range g {
				w.outcome = outcome{}
			}
		}
		return err
	})
}

func (g writeGroup) checkVersions(txn kv.Reader) error {
	for _, t := range g.distinctTables() {
		if err := checkVersion(txn, t); err != nil {
			return err
		}
	}
	return nil
}

// distinctTables returns the tables of the writes, each once.
func (g writeGroup) distinctTables() []*catalog.Table {
	var ts []*catalog.Table
	for _, w := range g {
		if !slices.Contains(ts, w.t) {
			ts = append(ts, w.t)
		}
	}
	return ts
}

// collectionMetrics returns the metrics of the item collections that the group wrote to, by the table names in the request.
func (g writeGroup) collectionMetrics(parameter *string) map[string][]api.ItemCollectionMetrics {
	var all map[string][]api.ItemCollectionMetrics
	for _, w := range g {
		m := w.collectionMetrics(parameter)
		if m == nil || w.kind == checkWrite {
			continue
		}
		if all == nil {
			all = make(map[string][]api.ItemCollectionMetrics)
		}
		known := slices.IndexFunc(all[w.table], func(o api.ItemCollectionMetrics) bool {
			return o.ItemCollectionKey.Equal(m.ItemCollectionKey)
		})
		if known >= 0 {
			all[w.table][known] = *m // the last write saw the collection's final size
			continue
		}
		all[w.table] = append(all[w.table], *m)
	}
	return all
}
