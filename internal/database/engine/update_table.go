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
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// UpdateTable changes a table: billing, throughput, creation or deletion of one index, throughput of other indexes, stream,
// class, encryption, deletion protection. The response shows the changed parts UPDATING, with the previous throughput. Without
// Options.TableDelay the next request finds everything done except building or dropping an index.
func (e *Engine) UpdateTable(ctx context.Context, in *api.UpdateTableInput) (*api.UpdateTableOutput, error) {
	if err := schema.CheckUpdate(in); err != nil {
		return nil, err
	}
	u := &tableUpdate{engine: e, in: in}
	d, err := e.catalog.Change(ctx, *in.TableName, func(txn kv.Txn, d *catalog.Descriptor) error {
		if d.Synchronized() || schema.ChangesReplicas(in) {
			return errIsReplica
		}
		return u.edit(txn, d)
	})
	for errors.Is(err, errIsReplica) || errors.Is(err, errReplicasChanged) {
		d, err = e.updateReplicas(ctx, u)
	}
	if err != nil {
		return nil, err
	}
	defer e.jobs.start(u.jobs...)
	e.spread(ctx, d, 0)
	description, err := e.describeAt(ctx, u.change.Announced(d), u.change.Env.Now)
	if err != nil {
		return nil, err
	}
	u.change.FillDescription(d, description)
	return &api.UpdateTableOutput{TableDescription: description}, nil
}

// tableUpdate is one UpdateTable in progress.
type tableUpdate struct {
	engine *Engine
	in     *api.UpdateTableInput

	// The results of the last run of edit.
	change schema.Change
	jobs   []job.Record
}

// edit changes the descriptor, with checks in AWS's order.
func (u *tableUpdate) edit(txn kv.Txn, d *catalog.Descriptor) error {
	if err := u.engine.checkRestored(d); err != nil {
		return err
	}
	now := u.engine.options.Now()
	env := u.engine.env(now)
	env.Limited = u.engine.enforcesOn(d)
	u.change, u.jobs = schema.NewChange(u.in, env), nil
	if err := u.engine.checkSettled(d, now, true); err != nil {
		return err
	}
	if d.Status(now) == catalog.StatusUpdating {
		if err := u.change.CheckUpdating(d); err != nil {
			return err
		}
	}
	if err := u.change.Apply(d); err != nil {
		return err
	}
	if u.in.ProvisionedThroughput != nil || u.in.GlobalSecondaryIndexUpdates != nil {
		if err := u.engine.checkQuotas(d); err != nil {
			return err
		}
	}
	if err := u.switchStream(txn, d, now); err != nil {
		return err
	}
	u.addJobs(d, job.Backfill, u.change.Built)
	u.addJobs(d, job.DropIndex, u.change.Dropped)
	for i := range u.jobs {
		if err := u.jobs[i].Save(txn); err != nil {
			return err
		}
	}
	return nil
}

// addJobs adds jobs on indexes, which start when the table's UPDATING state ends.
func (u *tableUpdate) addJobs(d *catalog.Descriptor, kind job.Kind, indexes []keyenc.IndexID) {
	for _, x := range indexes {
		u.jobs = append(u.jobs, job.Record{Kind: kind, Table: d.ID, Name: d.Name, Index: x, NotBefore: d.SettledAt})
	}
}

// checkSettled rejects the change of a table that is not ACTIVE, or UPDATING if the change is possible then.
func (e *Engine) checkSettled(d *catalog.Descriptor, now time.Time, updating bool) error {
	switch d.Status(now) {
	case catalog.StatusCreating:
		return apierr.TableBeingCreated.With(d.Name)
	case catalog.StatusDeleting:
		return apierr.TableBeingDeleted.With(d.Name)
	case catalog.StatusUpdating:
		if !updating {
			return apierr.TableBeingUpdated.With(d.Name)
		}
	default:
	}
	return nil
}

// switchStream opens or closes the stream according to the new descriptor.
func (u *tableUpdate) switchStream(txn kv.Txn, d *catalog.Descriptor, now time.Time) error {
	switch {
	case u.in.StreamSpecification == nil:
		return nil
	case d.Stream.Enabled:
		return u.engine.openStream(txn, d, now, d.SettledAt)
	default:
		return u.engine.closeStream(txn, d, now, d.SettledAt)
	}
}
