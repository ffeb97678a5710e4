package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ScrambleReturnedWrites overwrites the memory of finished requests' writes.
func ScrambleReturnedWrites() { scramble = true }

// Term is the context of what the server does as the leader.
func (e *Engine) Term() context.Context {
	e.jobs.mu.Lock()
	defer e.jobs.mu.Unlock()
	return e.jobs.term.ctx
}

// UpdateJointly runs an empty update of the kind that writes in several Regions.
func (e *Engine) UpdateJointly(ctx context.Context) error {
	return e.regions.jointly(ctx, []*member{{engine: e}}, func() error { return nil })
}

// Settle waits until all background jobs that are due are done.
func (e *Engine) Settle() { e.jobs.settle() }

// Settle waits until every acknowledged change has arrived in all served Regions.
func (r *Regions) Settle(ctx context.Context) error {
	for _, e := range r.engines {
		for _, t := range e.catalog.Tables() {
			for waiting := true; waiting; {
				pending, err := e.pending(ctx, t)
				if err != nil {
					return err
				}
				if waiting = slices.Max(append(slices.Collect(maps.Values(pending)), 0)) > 0; waiting {
					<-time.After(time.Millisecond) // there is no signal that all have arrived
				}
			}
		}
	}
	return nil
}

// SmallTransfers makes exports, imports and bulk operations use small batches.
func (o Options) SmallTransfers() Options {
	o.transfers = transferSizes{fileBytes: 300, touched: 4, batchItems: 3, putItems: 3, reported: 300}
	return o
}

// TrimLogs runs the periodic trimming of change logs now.
func (e *Engine) TrimLogs(ctx context.Context) error { return e.trimLogs(ctx) }

// FirstSince returns where the records of a time or later start in a store's log.
func FirstSince(ctx context.Context, store kv.Store, log kv.LogID, from kv.Seq, since int64) (kv.Seq, error) {
	return firstSince(storeLog{store, ctx}, log, from, since)
}

// CapLogs runs the periodic comparison of change logs with their limit now.
func (e *Engine) CapLogs(ctx context.Context) error { return e.capLogs(ctx) }

// RaiseWarm runs the periodic measurement of the traffic of tables now.
func (e *Engine) RaiseWarm(ctx context.Context) error { return e.raiseWarm(ctx) }

// ExpireBackups runs the periodic removal of backups now.
func (e *Engine) ExpireBackups(ctx context.Context) error { return e.expireBackups(ctx) }

// PendingJobs returns the number of stored jobs.
func (e *Engine) PendingJobs(ctx context.Context) (int, error) {
	found, err := e.jobs.stored(ctx, func(job.Record) bool { return true })
	return len(found), err
}

// Reshard replaces each open shard of each stream by n children now.
func (e *Engine) Reshard(ctx context.Context, pieces int) error {
	all, err := e.streams(ctx)
	for _, s := range all {
		err = errors.Join(err, e.changeStream(ctx, streamID{s.Table, s.Label}, func(txn kv.Txn, s *stream.Stream) error {
			s.Reshard(txn.LogSeq(), e.options.Now().UnixMilli(), func(*stream.Shard) int { return pieces })
			return saveStream(txn, s)
		}))
	}
	return err
}

// PositionValue returns the stored form of a replication position.
func PositionValue(n kv.Seq) []byte { return encodeSeq(n) }

// ItemVersionValue returns the stored form of an item's version.
func ItemVersionValue(number uint64, region string) []byte {
	return itemVersion{number, region}.encode()
}
