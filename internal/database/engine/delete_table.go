package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// DeleteTable deletes a table. Its name can be reused as soon as the table is gone, which without Options.TableDelay is
// immediately; its items are removed in the background. A table that is being deleted cannot be deleted again. The contents of a
// table with point-in-time recovery are kept for some time as a backup of type SYSTEM.
func (e *Engine) DeleteTable(ctx context.Context, in *api.DeleteTableInput) (*api.DeleteTableOutput, error) {
	now := e.options.Now()
	var drop []job.Record
	d, err := e.catalog.Drop(ctx, *in.TableName, func(txn kv.Txn, d *catalog.Descriptor) (err error) {
		drop = nil
		switch {
		case d.Deleting():
			return apierr.TableBeingDeleted.With(d.Name)
		case d.DeletionBarred && d.Synchronized():
			return apierr.ReplicaProtected.With(d.Name, e.options.Region)
		case d.DeletionBarred:
			return apierr.TableProtected.With()
		case d.IsReplica():
			return errIsReplica
		}
		if err := e.checkDeletable(d, now); err != nil {
			return err
		}
		drop, err = e.beginDrop(txn, d, now)
		return err
	})
	if errors.Is(err, errIsReplica) {
		if d, err = e.deleteReplica(ctx, *in.TableName); errors.Is(err, errReplicasChanged) {
			return e.DeleteTable(ctx, in)
		}
	}
	if err != nil {
		return nil, err
	}
	e.appendCounts.notify(d.ID, 0)
	defer e.jobs.start(drop...)
	description, err := e.describeAt(ctx, d, now)
	if err != nil {
		return nil, err
	}
	return &api.DeleteTableOutput{TableDescription: schema.WithoutWarm(description, d)}, nil
}

// beginDrop deletes a table in the transaction that changes its definition, and returns the resulting jobs.
func (e *Engine) beginDrop(txn kv.Txn, d *catalog.Descriptor, now time.Time) ([]job.Record, error) {
	d.GoneAt = max(e.settledAt(now), now.UnixMilli())
	if d.Stream.Enabled {
		if err := e.closeStream(txn, d, now, d.GoneAt); err != nil {
			return nil, err
		}
	}
	drop := []job.Record{
		{Kind: job.DropTable, Table: d.ID, Name: d.Name, NotBefore: d.GoneAt},
		{Kind: job.DropLog, Table: d.ID, Name: d.Name, NotBefore: d.GoneAt + logRetention.Milliseconds()},
	}
	if d.PITR.Enabled {
		var err error
		if drop[0].Backup, err = e.beginSystemBackup(txn, d, now); err != nil {
			return nil, err
		}
	}
	for i := range drop {
		if err := drop[i].Save(txn); err != nil {
			return nil, err
		}
	}
	return drop, nil
}

// checkDeletable rejects the deletion of a table while it or one of its indexes is being changed.
func (e *Engine) checkDeletable(d *catalog.Descriptor, now time.Time) error {
	for i := range d.Indexes {
		if x := &d.Indexes[i]; !x.Local && d.Status(now) != catalog.StatusCreating && d.IndexStatus(x, now) != catalog.StatusActive {
			return apierr.TableIndexesChange.With()
		}
	}
	if d.Status(now) == catalog.StatusUpdating {
		return apierr.TableChanges.With(d.Name)
	}
	return e.checkSettled(d, now, false)
}
