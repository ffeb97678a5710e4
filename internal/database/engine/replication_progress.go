package engine

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// The progress of replication, for waiting, for trimming logs, and for metrics.

// lag returns the age of the oldest known change that has not arrived at a table, by source Region.
func (f *flows) lag(table keyenc.TableID, now time.Time) map[string]time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all map[string]time.Duration
	for id, x := range f.running {
		if id.table != table {
			continue
		}
		if all == nil {
			all = map[string]time.Duration{}
		}
		x.mu.Lock()
		if all[id.region] = 0; !x.behind.IsZero() {
			all[id.region] = max(0, now.Sub(x.behind))
		}
		x.mu.Unlock()
	}
	return all
}

// position returns how far the changes of the replica in another Region have arrived at a table.
func (e *Engine) position(ctx context.Context, t keyenc.TableID, region string) (kv.Seq, error) {
	e.flows.mu.Lock()
	f := e.flows.running[flowID{t, region}]
	e.flows.mu.Unlock()
	if f != nil {
		f.mu.Lock()
		arrived := f.arrived
		f.mu.Unlock()
		if arrived != 0 {
			return arrived, nil
		}
	}
	return e.storedPosition(ctx, t, region)
}

func (e *Engine) storedPosition(ctx context.Context, t keyenc.TableID, region string) (kv.Seq, error) {
	data, err := e.store.Get(ctx, keyenc.Position(t, region))
	if err != nil {
		return 0, err
	}
	if len(data) != 8 {
		return 0, fmt.Errorf("engine: the replication position from %s to table %d is corrupted: %x", region, t, data)
	}
	return kv.Seq(binary.BigEndian.Uint64(data)), nil
}

// fetched returns the number up to which all other replicas have fetched the changes of a table. It is 0 if the Region of one is
// not served.
func (e *Engine) fetched(ctx context.Context, t *catalog.Table) (kv.Seq, error) {
	upTo := ^kv.Seq(0)
	for _, other := range t.Descriptor.Global.Replicas {
		to := e.regions.get(other.Region)
		if to == nil {
			return 0, nil
		}
		theirs := to.catalog.Tables()[t.Name]
		if theirs == nil {
			continue
		}
		p, err := to.storedPosition(ctx, theirs.ID, e.options.Region)
		if err != nil {
			return 0, err
		}
		upTo = min(upTo, p)
	}
	return upTo, nil
}

// PendingReplication adds the number of changes that have not arrived in other Regions, by table and Region, for global tables of
// version 2017.11.29.
func (e *Engine) PendingReplication(ctx context.Context, all map[string]map[string]int64) error {
	for name, t := range e.catalog.Tables() {
		if !t.Descriptor.Legacy() {
			continue
		}
		pending, err := e.pending(ctx, t)
		if err != nil {
			return err
		}
		all[e.options.MetricsPrefix+name] = pending
	}
	return nil
}

// pendingReads is how many chunks of a log are read to count the pending changes.
const pendingReads = 16

// pending returns how many changes of a table have not arrived in the other Regions, by Region: a lower bound if there are more
// than pendingReads chunks. Regions that are not served are omitted.
func (e *Engine) pending(ctx context.Context, t *catalog.Table) (map[string]int64, error) {
	if !t.Descriptor.Replicates() {
		return nil, nil //nolint:nilnil // there is none
	}
	all := map[string]int64{}
	for _, other := range t.Descriptor.Global.Replicas {
		to := e.regions.get(other.Region)
		if to == nil {
			continue
		}
		theirs := to.catalog.Tables()[t.Name]
		if theirs == nil {
			continue
		}
		after, err := to.position(ctx, theirs.ID, e.options.Region)
		if err != nil {
			if to.catalog.Tables()[t.Name] != theirs {
				continue // it has just left
			}
			return nil, err
		}
		if all[other.Region], err = e.ownChanges(ctx, t, after); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// ownChanges counts the changes of a table after a number that do not come from another replica.
func (e *Engine) ownChanges(ctx context.Context, t *catalog.Table, after kv.Seq) (n int64, err error) {
	for range pendingReads {
		records, through, err := e.store.ReadLog(ctx, kv.LogID(t.ID), after, logChunk)
		if err != nil || len(records) == 0 {
			return n, err
		}
		for i := range records {
			change, err := logenc.Decode(records[i].Data)
			if err != nil {
				return 0, fmt.Errorf("engine: change %d of table %q: %w", records[i].Seq, t.Name, err)
			}
			if change.Origin != logenc.OriginReplica && change.Version != 0 {
				n++
			}
		}
		after = through
	}
	return n, nil
}
