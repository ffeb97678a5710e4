package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/counters"
)

// largeUpdate is the size from which an update is committed as tables rather than through the log.
//
// Pebble copies a batch to its log while all other commits wait. A batch larger than half a memtable also starts a new log: other
// commits wait until all of it is on disk. A batch of 84 MB delayed others by half a second. Tables are written concurrently with
// other commits, and the data is written once instead of twice.
const largeUpdate = 8 << 20

// topLevel is the level of tables that may overlap others.
const topLevel = 0

// crowdedMemTables is the number of memtables from which tables wait for a flush before they are ingested. From
// Options.MemTableStopWritesThreshold on, Pebble would block all commits until then.
const crowdedMemTables = 3

// applyLarge commits the update as tables.
//
// They become durable before they become visible, and the latches are held until then. Tables have no place in the log after what
// the update has read or after the reservation of its sequence numbers, so ingest syncs the log first.
func (s *Store) applyLarge(ctx context.Context, t *txn) error {
	dir := s.makingPath("update")
	defer s.discard(dir)
	files, err := s.writeTables(dir, t.writes.batches)
	if err != nil {
		if vfs.IsNoSpaceError(err) {
			err = fmt.Errorf("%w: %w", kv.ErrFull, err)
		}
		return err
	}
	if s.db.Metrics().MemTable.Count >= crowdedMemTables {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	// Pebble shows the tables to compactions before it shows their keys to readers. A compaction that replaces a value with the
	// tables' would leave such readers with an older value or none (cockroachdb/pebble#6085). A snapshot preserves the last
	// values of the latched keys. Counters are not latched: a reader at that instant may miss what was added to them since the
	// snapshot, and sees it a moment later.
	before := s.db.NewSnapshot()
	defer before.Close()
	return s.ingest(ctx, files, t.stripes)
}

// beginLarge waits for the turn of a large update: they are committed one at a time, to leave CPU for others.
func (s *Store) beginLarge(ctx context.Context) error {
	select {
	case s.large <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.dead: // the current turn may never end
		return s.failure()
	}
}

func (s *Store) endLarge() { <-s.large }

// writeTables writes tables with the net effect of the batches on each key. There is one table for each first byte of keys, so
// that none spans the space between items, counters and logs and has to be compacted with it.
func (s *Store) writeTables(dir string, batches []*pebble.Batch) (files []string, err error) {
	operations, err := operationsOf(batches)
	if err != nil {
		return nil, err
	}
	if err := s.fs.MkdirAll(dir, dirMode); err != nil {
		return nil, err
	}
	for len(operations) > 0 {
		n := 1
		for n < len(operations) && bytes.HasPrefix(operations[n].key, operations[0].key[:1]) {
			n++
		}
		name := s.fs.PathJoin(dir, fmt.Sprintf("%06d.sst", len(files)))
		if err := s.writeTable(name, operations[:n]); err != nil {
			return nil, err
		}
		files, operations = append(files, name), operations[n:]
	}
	return files, nil
}

func (s *Store) writeTable(name string, operations []operation) error {
	f, err := s.files.Create(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	w := sstable.NewWriter(objstorageprovider.NewFileWritable(syncGradually(f)), s.tableOptions(topLevel))
	written := 0
	for _, o := range operations {
		switch o.kind {
		case pebble.InternalKeyKindSet:
			err = w.Set(o.key, o.value)
		case pebble.InternalKeyKindDelete:
			err = w.Delete(o.key)
		case pebble.InternalKeyKindMerge:
			err = w.Merge(o.key, o.value)
		default:
			err = fmt.Errorf("an update cannot hold an operation of the kind %v", o.kind)
		}
		if err != nil {
			break
		}
		if written += len(o.key) + len(o.value); written >= yieldBytes {
			written = 0
			runtime.Gosched()
		}
	}
	return errors.Join(err, w.Close())
}

// operation is an update's effect on a key.
type operation struct {
	kind       pebble.InternalKeyKind
	key, value []byte
}

// operationsOf returns the net effect of the batches, in order, on each of their keys, sorted by key.
func operationsOf(batches []*pebble.Batch) ([]operation, error) {
	var all []operation
	for _, batch := range batches {
		for r := batch.Reader(); ; {
			kind, key, value, ok, err := r.Next()
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			all = append(all, operation{kind, key, value})
		}
	}
	slices.SortStableFunc(all, func(a, b operation) int { return bytes.Compare(a.key, b.key) })
	one := all[:0]
	for _, o := range all {
		last := len(one) - 1
		if last < 0 || !bytes.Equal(one[last].key, o.key) {
			one = append(one, o)
			continue
		}
		var err error
		if one[last], err = one[last].then(o); err != nil {
			return nil, err
		}
	}
	return one, nil
}

// then combines two operations on a key.
func (o operation) then(next operation) (operation, error) {
	if next.kind != pebble.InternalKeyKindMerge {
		return next, nil
	}
	sum, err := counters.Decode(o.value)
	if err == nil {
		sum, err = counters.Add(sum, next.value)
	}
	if o.kind == pebble.InternalKeyKindDelete {
		o.kind = pebble.InternalKeyKindSet
	}
	return operation{o.kind, o.key, counters.Append(nil, sum)}, err
}
