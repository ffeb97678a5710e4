package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// The life cycle of a replica:
//
//	UpdateTable ─► definition, position of each flow, job          all Regions, one commit      CREATING
//	job         ─► items of the source, then its versions, chunk by chunk                       (writes continue elsewhere)
//	            ─► changes since the positions, of every other replica
//	            ─► open for use                                    all Regions, one commit      ACTIVE
//	UpdateTable, DeleteTable ─► marked, job                        all Regions, one commit      DELETING
//	job         ─► its last changes to every other replica
//	            ─► gone, or an independent table                   all Regions, one commit
//
// The copy is not of a single moment. The flows apply again what changes during the copy, and the versions copied with the items
// keep older changes from replacing newer ones.

// awaitRegion returns the engine of a Region. If the server does not serve the Region, it waits until the server stops.
func (e *Engine) awaitRegion(ctx context.Context, region, table string) (*Engine, error) {
	select {
	case <-e.regions.opened:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if x := e.regions.get(region); x != nil {
		return x, nil
	}
	e.options.Logger.WarnContext(ctx, "a replica changes together with that of a Region that is not served; serve it again to end the change",
		"table", table, "region", region)
	<-ctx.Done()
	return nil, ctx.Err()
}

// awaitGroup returns the replicas of a job's table, its own first.
func (e *Engine) awaitGroup(ctx context.Context, j *job.Record) ([]*replicaMember, error) {
	t, err := e.ownTable(j)
	if err != nil {
		return nil, err
	}
	if t.Descriptor.GoneAt != 0 || t.Descriptor.Global == nil {
		return nil, errJobMoot
	}
	for _, other := range t.Descriptor.Global.Replicas {
		if _, err := e.awaitRegion(ctx, other.Region, t.Name); err != nil {
			return nil, err
		}
	}
	return e.group(ctx, t.Descriptor)
}

// fillReplica copies the other replicas' contents to a new replica, and opens it for use.
func (e *Engine) fillReplica(ctx context.Context, j *job.Record) error {
	replicas, err := e.awaitGroup(ctx, j)
	if err != nil {
		return err
	}
	own := replicas[0]
	if !own.before.Global.Filling {
		return errJobMoot
	}
	if !own.before.Global.Strong {
		if err := e.copyReplica(ctx, j); err != nil {
			return err
		}
		if err := e.fetchAll(ctx, replicas); err != nil {
			return err
		}
	}
	return e.regions.changeReplicas(ctx, replicas, nil, func() error {
		if own.d.ID != j.Table || !own.d.Global.Filling {
			return errJobMoot
		}
		own.d.Global.Filling = false
		for _, x := range replicas[1:] {
			if r := x.d.Global.Replica(e.options.Region); r != nil {
				r.State = catalog.ReplicaActive
			}
		}
		own.txn.Delete(j.Key())
		return nil
	})
}

// fetchAll applies to the first replica all changes that the others have acknowledged before the call.
func (e *Engine) fetchAll(ctx context.Context, replicas []*replicaMember) error {
	until, err := kv.Upcoming(ctx, e.store)
	if err != nil {
		return err
	}
	t := e.catalog.Tables()[replicas[0].before.Name]
	if t == nil {
		return errJobMoot
	}
	for _, x := range replicas[1:] {
		if x.before.BeingFilled() {
			continue // it has no changes
		}
		if err := newFlow(e, x.engine, t).follow(ctx, until); err != nil {
			return err
		}
	}
	return nil
}

// copyReplica copies the items of the source, and then the versions of deleted items, from the job's cursor on.
func (e *Engine) copyReplica(ctx context.Context, j *job.Record) error {
	source, err := e.awaitRegion(ctx, j.Region, j.Name)
	if err != nil {
		return err
	}
	from := source.catalog.Tables()[j.Name]
	if from == nil {
		return errJobMoot
	}
	for _, bounds := range []func() (lo, hi []byte){
		func() ([]byte, []byte) { return keyenc.IndexBounds(from.ID, 0) }, func() ([]byte, []byte) { return keyenc.ItemVersions(from.ID) },
	} {
		lo, hi := bounds()
		if j.Cursor != nil && j.Cursor[0] > lo[0] {
			continue
		}
		if j.Cursor != nil && j.Cursor[0] == lo[0] {
			lo = keyAfter(j.Cursor)
		}
		for lo != nil {
			if lo, err = e.copyChunk(ctx, source, j, lo, hi); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyChunk copies some keys of the source in one commit together with the cursor after them. It returns where the next chunk
// begins, or nil at the end.
func (e *Engine) copyChunk(ctx context.Context, source *Engine, j *job.Record, lo, hi []byte) (next []byte, err error) {
	var found []*write
	after := *j
	snapshot, err := source.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	it := snapshot.Iter(lo, hi, kv.IterOptions{Limit: backfillItems})
	bytes := 0
	for len(found) < backfillItems && bytes < backfillBytes && it.Next() {
		var w *write
		if w, err = copied(snapshot, it.Key(), it.Value()); err != nil {
			break
		}
		found, bytes = append(found, w), bytes+len(it.Value())
		after.Cursor = append([]byte(nil), it.Key()...)
	}
	if err = errors.Join(err, it.Err()); err == nil && len(found) > 0 {
		next = keyAfter(after.Cursor)
	}
	it.Close()
	if err := errors.Join(err, snapshot.Close()); err != nil || len(found) == 0 {
		return nil, err
	}
	return next, e.storeCopies(ctx, found, j, &after)
}

// copied returns the write that copies an item, or the version of an item.
func copied(r kv.Reader, key, value []byte) (*write, error) {
	key = append([]byte(nil), key...) // the write outlives the iterator's key
	w := &write{kind: putWrite, origin: logenc.OriginReplica, restores: true, arrived: &itemVersion{}}
	t, pk, sk, err := keyenc.ParseItem(key)
	if err != nil {
		w.kind = deleteWrite
		if t, pk, sk, err = keyenc.ParseItemVersion(key); err != nil {
			return nil, err
		}
		data, err := r.Get(keyenc.Item(nil, t, pk, sk))
		if err != nil {
			return nil, err
		}
		if data != nil {
			w.kind, w.stored = putWrite, append(itemenc.Item(nil), data...)
		}
	} else {
		w.stored = append(itemenc.Item(nil), value...)
	}
	w.pk, w.sk = pk, sk
	data, err := r.Get(keyenc.ItemVersion(nil, t, pk, sk))
	if err != nil {
		return nil, err
	}
	*w.arrived, err = decodeItemVersion(data)
	return w, err
}

// storeCopies writes copies and the cursor.
func (e *Engine) storeCopies(ctx context.Context, g writeGroup, j, after *job.Record) error {
	for {
		t, err := e.ownTable(j)
		if err != nil {
			return err
		}
		for _, w := range g {
			w.t, w.key = t, keyenc.Item(nil, t.ID, w.pk, w.sk)
		}
		in := g.intent()
		in.Write = append(in.Write, j.Key())
		err = e.update(ctx, in, g, func(txn kv.Txn, ws *workspace) error {
			if err := checkVersion(txn, t); err != nil {
				return err
			}
			for _, w := range g {
				if err := w.run(txn, ws); err != nil {
					return err
				}
			}
			return after.Save(txn)
		})
		switch {
		case errors.Is(err, errTableChanged):
			if err := e.catalog.Renew(ctx, t); err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			*j = *after
			return nil
		}
	}
}

// leave applies a replica's last changes to the others, and removes it from the global table.
func (e *Engine) leave(ctx context.Context, j *job.Record) error {
	replicas, err := e.awaitGroup(ctx, j)
	if err != nil {
		return err
	}
	own := replicas[0]
	if !own.before.Global.Leaving {
		return errJobMoot
	}
	if !own.before.Global.Strong {
		if err := e.deliverAll(ctx, replicas); err != nil {
			return err
		}
		if own.before.Global.Stays {
			if err := e.fetchAll(ctx, replicas); err != nil {
				return err
			}
		}
	}
	now := e.options.Now()
	var drop []job.Record
	err = e.regions.changeReplicas(ctx, replicas, nil, func() (err error) {
		if own.d.ID != j.Table || !own.d.Global.Leaving {
			return errJobMoot
		}
		for _, x := range replicas[1:] {
			x.d.Global.Remove(e.options.Region)
		}
		if !own.d.Global.Stays {
			drop, err = e.beginDrop(own.txn, own.d, now)
		}
		own.d.Global.Replicas, own.d.Global.Leaving, own.d.Global.Stays, own.d.Global.Created = nil, false, false, 0
		own.txn.Delete(j.Key())
		return err
	})
	if err != nil {
		return err
	}
	e.appendCounts.notify(j.Table, 0)
	e.jobs.start(drop...)
	return nil
}

// deliverAll applies the changes of the first replica to all others.
func (e *Engine) deliverAll(ctx context.Context, replicas []*replicaMember) error {
	until, err := kv.Upcoming(ctx, e.store)
	if err != nil {
		return err
	}
	for _, x := range replicas[1:] {
		t := x.engine.catalog.Tables()[x.before.Name]
		if t == nil || t.Descriptor.Deleting() || t.Descriptor.BeingFilled() {
			continue
		}
		if err := newFlow(x.engine, e, t).follow(ctx, until); err != nil {
			return err
		}
	}
	return nil
}
