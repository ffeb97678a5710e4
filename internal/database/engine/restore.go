package engine

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// restoresMax is the maximum number of concurrent restores on AWS.
	restoresMax = 50
	// restoresAtOnce is the number of restores that a server runs at a time; others wait. Each has a snapshot open until it ends, and
	// a store can have limited connections for these, which requests also need.
	restoresAtOnce = 4
	// loadBytes is approximately how much of a table is loaded, and becomes visible, at once.
	loadBytes = 16 << 20
	// countersTogether is how many counters of item collections are updated in one transaction.
	countersTogether = 1 << 12
	// restoreReportInterval is how often the progress of a restore is logged.
	restoreReportInterval = 5 * time.Second
)

// newRestoration returns the job that fills d from a table defined as source.
func newRestoration(d, source *catalog.Descriptor, kept string, at int64) job.Record {
	r := &job.Restoration{Kept: kept, Source: source.ID, At: at}
	for i := range source.Indexes {
		if x := &source.Indexes[i]; x.Local && d.IndexByID(x.ID) == nil {
			r.Dropped = append(r.Dropped, x.ID)
		}
	}
	return job.Record{Kind: job.Restore, Name: d.Name, Restore: r}
}

// checkRestoreRegion rejects the ARN of a backup or table of another Region as AWS does without an encryption for the new table.
// With one, the backup or table is not found: this server does not restore to another Region.
func (e *Engine) checkRestoreRegion(source string, encryption *api.SSESpecification) error {
	arn, ok := catalog.ParseARN(source)
	if ok && arn.Native() && arn.Account == e.options.AccountID && arn.Region != e.options.Region && encryption == nil {
		return apierr.RestoreAcrossRegions.With()
	}
	return nil
}

// find returns the descriptor of a table for operations that need more than its description. To these AWS reports that a table
// being restored does not exist.
func (e *Engine) find(ctx context.Context, nameOrARN string) (*catalog.Descriptor, error) {
	d, err := e.catalog.Get(ctx, nameOrARN)
	if err == nil {
		err = e.checkRestored(d)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// checkRestored returns the error of find.
func (e *Engine) checkRestored(d *catalog.Descriptor) error {
	if d.Restored != nil && d.Status(e.options.Now()) == catalog.StatusCreating {
		return apierr.TableNotFound.With(d.Name)
	}
	return nil
}

// restoredDescriptor returns the definition of a table that is restored from one defined as source.
func (e *Engine) restoredDescriptor(source *catalog.Descriptor, name string, from catalog.Restored, o schema.Overrides) (d *catalog.Descriptor, err error) {
	from.TableARN = e.catalog.TableARN(source.Name)
	if d, err = schema.Restored(source, name, from, o, e.env(e.options.Now())); err == nil {
		d.UUID, err = e.newUUID()
	}
	return d, err
}

// checkRestoreTarget rejects a name that is in use, and exceeding the number of concurrent restores.
func (e *Engine) checkRestoreTarget(name string) error {
	now, tables := e.options.Now(), e.catalog.Tables()
	if t := tables[name]; t != nil && !t.Descriptor.Gone(now) {
		switch r := t.Descriptor.Restored; {
		case r == nil || t.Descriptor.Status(now) != catalog.StatusCreating: // all items may be there before it is ready
			return apierr.TableExists.As(apierr.TableAlreadyExistsException, name)
		case r.BackupARN != "":
			return apierr.TableBeingRestored.With(name, r.BackupARN)
		default:
			return apierr.TableBeingRecovered.With(name, r.TableARN)
		}
	}
	under := 0
	for _, t := range tables {
		if t.Descriptor.BeingRestored() {
			under++
		}
	}
	if under >= restoresMax {
		return apierr.TooManyRestores.With(restoresMax)
	}
	return nil
}

// beginRestore creates the table together with the job that fills it.
func (e *Engine) beginRestore(ctx context.Context, d *catalog.Descriptor, work *job.Record, in kv.Intent, check func(kv.Txn) error) error {
	if err := e.roomToRestore(ctx, d, work.Restore); err != nil {
		return err
	}
	err := e.catalog.CreateWith(ctx, d, in, func(txn kv.Txn) error {
		if err := check(txn); err != nil {
			return err
		}
		work.Table = d.ID
		return work.Save(txn)
	})
	if known, ok := errors.AsType[*apierr.Error](err); ok && known.Code == apierr.ResourceInUseException {
		return apierr.TableExists.As(apierr.TableAlreadyExistsException, d.Name)
	}
	return err
}

// restore executes the rest of a restore.
func (e *Engine) restore(ctx context.Context, j *job.Record) error {
	if !await(ctx, e.regions.restoring) {
		return ctx.Err()
	}
	defer func() { <-e.regions.restoring }()
	if err := e.fill(ctx, j); err != nil {
		return err
	}
	if err := e.endRestore(ctx, j); err != nil {
		return err
	}
	if j.Restore.At != 0 {
		e.dropKept(ctx, j.Restore.Kept)
	}
	return nil
}

// fill fills the table.
func (e *Engine) fill(ctx context.Context, j *job.Record) error {
	snapshot, err := e.store.OpenKept(ctx, j.Restore.Kept)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	r := &restorer{engine: e, job: j, from: snapshot, reported: e.options.Now()}
	if !j.Restore.Copied {
		if err := r.copy(ctx); err != nil {
			return err
		}
	}
	if j.Restore.At != 0 {
		return r.undo(ctx)
	}
	return nil
}

// endRestore opens the table for use, and starts to build those indexes whose entries were incomplete in the source.
func (e *Engine) endRestore(ctx context.Context, j *job.Record) error {
	var builds []job.Record
	err := e.changeOwn(ctx, j, func(txn kv.Txn, d *catalog.Descriptor) error {
		builds = nil
		d.Restored.InProgress = false
		for i := range d.Indexes {
			if d.Indexes[i].State == catalog.IndexAllocating {
				builds = append(builds, job.Record{Kind: job.Backfill, Table: d.ID, Name: d.Name, Index: d.Indexes[i].ID})
			}
		}
		for i := range builds {
			if err := builds[i].Save(txn); err != nil {
				return err
			}
		}
		txn.Delete(j.Key())
		return nil
	})
	if err == nil {
		e.jobs.start(builds...)
	}
	return err
}

// restorer fills one table.
type restorer struct {
	engine *Engine
	job    *job.Record
	from   kv.Snapshot

	copied, total int64 // items and entries
	undone        int64 // changes
	reported      time.Time
}

// report logs the progress of the restore from time to time.
func (r *restorer) report() {
	now := r.engine.options.Now()
	if now.Sub(r.reported) < restoreReportInterval {
		return
	}
	r.reported = now
	r.engine.options.Logger.Info("a table is being restored", "table", r.job.Name,
		"copied", r.copied, "of", r.total, "changes undone", r.undone)
}

// copy copies the contents of the kept snapshot to the table: items, the entries of complete indexes, counters.
func (r *restorer) copy(ctx context.Context) error {
	t, err := r.engine.ownTable(r.job)
	if err != nil {
		return err
	}
	if err := r.clear(ctx); err != nil {
		return err
	}
	if err := r.engine.roomToRestore(ctx, t.Descriptor, r.job.Restore); err != nil {
		return err
	}
	ids := []keyenc.IndexID{0}
	for _, x := range t.Indexes {
		if x.Readable {
			ids = append(ids, x.ID)
		}
	}
	counts, bytes := make([][]int64, len(ids)), int64(0)
	for i, x := range ids {
		counters, err := r.from.Counter(keyenc.Statistics(r.job.Restore.Source, x))
		if err != nil {
			return err
		}
		if counts[i] = counters; len(counters) > 0 {
			r.total += counters[0]
			bytes = max(bytes, counters[1])
		}
	}
	r.engine.spread(ctx, t.Descriptor, bytes)
	for _, x := range ids {
		if err := r.copyIndex(ctx, x); err != nil {
			return err
		}
	}
	if t.HasLocalIndex() {
		if err := r.copyCollections(ctx); err != nil {
			return err
		}
	}
	return r.step(ctx, r.alone(), func(txn kv.Txn, after *job.Restoration) error {
		for i, x := range ids {
			txn.Add(keyenc.Statistics(r.job.Table, x), counts[i]...)
		}
		after.Copied = true
		return nil
	})
}

// clear removes the results of an earlier attempt.
func (r *restorer) clear(ctx context.Context) error {
	for _, bounds := range []func(keyenc.TableID) (lo, hi []byte){keyenc.TableBounds, keyenc.StatisticsBounds} {
		lo, hi := bounds(r.job.Table)
		var left []byte
		err := r.engine.readLatest(ctx, func(now kv.Reader) (err error) {
			left, err = firstKey(now, lo, hi)
			return err
		})
		if err == nil && left != nil {
			err = r.engine.clearRange(ctx, lo, hi)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// copyIndex copies the items (x=0) or the entries of an index.
func (r *restorer) copyIndex(ctx context.Context, x keyenc.IndexID) error {
	lo, hi := keyenc.IndexBounds(r.job.Restore.Source, x)
	var key []byte
	for lo != nil {
		var next []byte
		copied := r.copied
		err := r.engine.store.Load(ctx, func(put func(key, value []byte) error) error {
			it := r.from.Iter(lo, hi, kv.IterOptions{})
			defer it.Close()
			next, r.copied = nil, copied
			for bytes := 0; it.Next(); bytes += len(it.Key()) + len(it.Value()) {
				if bytes >= loadBytes {
					next = append(next, it.Key()...)
					break
				}
				key = keyenc.InTable(key[:0], it.Key(), r.job.Table)
				if err := put(key, it.Value()); err != nil {
					return err
				}
				r.copied++
			}
			return it.Err()
		})
		if err != nil {
			return err
		}
		lo = next
		r.report()
	}
	return nil
}

// copyCollections copies the counters of item collections, less the entries of local indexes that the table does not have.
func (r *restorer) copyCollections(ctx context.Context) error {
	sums := &counterSums{restorer: r}
	lo, hi := keyenc.StatisticsBounds(r.job.Restore.Source)
	err := r.walk(ctx, lo, hi, func(key, _ []byte) error {
		if !keyenc.IsCollection(key) {
			return nil
		}
		counters, err := r.from.Counter(key)
		if err != nil || len(counters) == 0 {
			return err
		}
		return sums.add(ctx, keyenc.InTable(nil, key, r.job.Table), counters[0])
	})
	for _, x := range r.job.Restore.Dropped {
		if err != nil {
			return err
		}
		lo, hi := keyenc.IndexBounds(r.job.Restore.Source, x)
		err = r.walk(ctx, lo, hi, func(key, value []byte) error {
			_, _, pk, _, _, _, err := keyenc.ParseIndexEntry(key, 1, 1)
			if err != nil {
				return err
			}
			return sums.add(ctx, keyenc.Collection(r.job.Table, pk[0]), -int64(itemenc.Item(value).Size()))
		})
	}
	return errors.Join(err, sums.flush(ctx))
}

// walk calls see for every key of a range of the kept snapshot.
func (r *restorer) walk(ctx context.Context, lo, hi []byte, see func(key, value []byte) error) error {
	it := r.from.Iter(lo, hi, kv.IterOptions{})
	defer it.Close()
	for it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := see(it.Key(), it.Value()); err != nil {
			return err
		}
		r.report()
	}
	return it.Err()
}

// counterSums adds to many counters, in batches.
type counterSums struct {
	*restorer
	keys   [][]byte
	deltas []int64
}

// add takes ownership of the key.
func (s *counterSums) add(ctx context.Context, key []byte, delta int64) error {
	if n := len(s.keys); n > 0 && string(s.keys[n-1]) == string(key) {
		s.deltas[n-1] += delta
		return nil
	}
	if len(s.keys) == countersTogether {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.keys, s.deltas = append(s.keys, key), append(s.deltas, delta)
	return nil
}

func (s *counterSums) flush(ctx context.Context) error {
	err := s.step(ctx, s.alone(), func(txn kv.Txn, _ *job.Restoration) error {
		for i, key := range s.keys {
			txn.Add(key, s.deltas[i])
		}
		return nil
	})
	s.keys, s.deltas = s.keys[:0], s.deltas[:0]
	return err
}

// alone returns the intent of a step that only writes the record and counters.
func (r *restorer) alone() kv.Intent { return kv.Intent{Write: [][]byte{r.job.Key()}} }

// step changes the job's record, whose key is in the intent, together with what do writes.
func (r *restorer) step(ctx context.Context, in kv.Intent, do func(kv.Txn, *job.Restoration) error) error {
	before := *r.job.Restore
	after := *r.job
	err := r.engine.store.Update(ctx, in, func(txn kv.Txn) error {
		state := before
		after.Restore = &state
		if err := do(txn, &state); err != nil {
			return err
		}
		return after.Save(txn)
	})
	if err == nil {
		*r.job = after
	}
	return err
}

// firstKey returns a copy of the first key of a range, or nil if it is empty.
func firstKey(r kv.Reader, lo, hi []byte) ([]byte, error) {
	it := r.Iter(lo, hi, kv.IterOptions{Limit: 1})
	defer it.Close()
	if !it.Next() {
		return nil, it.Err()
	}
	return bytes.Clone(it.Key()), nil
}
