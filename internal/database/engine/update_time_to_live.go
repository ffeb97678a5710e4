package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/derive"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// ttlChangeInterval is how long after a change of TTL another is rejected.
const ttlChangeInterval = time.Hour

// UpdateTimeToLive enables or disables the expiry of items. From then on writes maintain TTL entries; those of existing items are
// built, or all are dropped, in the background (ENABLING, DISABLING).
func (e *Engine) UpdateTimeToLive(ctx context.Context, in *api.UpdateTimeToLiveInput) (*api.UpdateTimeToLiveOutput, error) {
	spec := in.TimeToLiveSpecification
	var work job.Record
	_, err := e.catalog.Change(ctx, *in.TableName, func(txn kv.Txn, d *catalog.Descriptor) (err error) {
		if d.Synchronized() {
			return errIsReplica
		}
		work, err = e.changeTTL(txn, d, spec)
		return err
	})
	if errors.Is(err, errIsReplica) {
		if err = e.updateReplicasTTL(ctx, *in.TableName, spec); errors.Is(err, errReplicasChanged) {
			return e.UpdateTimeToLive(ctx, in)
		}
	}
	if err != nil {
		return nil, err
	}
	if work.Kind != 0 {
		e.jobs.start(work)
	}
	return &api.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, nil
}

// changeTTL changes a table's TTL in the transaction that changes its definition, and returns the resulting job.
func (e *Engine) changeTTL(txn kv.Txn, d *catalog.Descriptor, spec *api.TimeToLiveSpecification) (work job.Record, err error) {
	if err := e.checkRestored(d); err != nil {
		return work, err
	}
	now := e.options.Now()
	if d.Status(now) == catalog.StatusCreating {
		return work, apierr.TTLOfNewTable.With(d.Name)
	}
	if err := e.checkSettled(d, now, !d.Global.Settling()); err != nil {
		return work, err
	}
	if d.Global != nil && d.IsReplica() && d.Global.Strong {
		return work, apierr.TTLOfStrong.With(d.Name)
	}
	if err := checkTTLChange(d.TTL, *spec.Enabled, *spec.AttributeName, now); err != nil {
		return work, err
	}
	work = job.Record{Kind: job.BuildTTL, Table: d.ID, Name: d.Name, NotBefore: e.settledAt(now)}
	d.TTL = catalog.TTL{Attribute: *spec.AttributeName, State: catalog.TTLEnabling, Changed: now.UnixMilli()}
	if !*spec.Enabled {
		work.Kind, d.TTL.State = job.DropTTL, catalog.TTLDisabling
	}
	return work, work.Save(txn)
}

// updateReplicasTTL changes the TTL of all replicas of a global table.
func (e *Engine) updateReplicasTTL(ctx context.Context, nameOrARN string, spec *api.TimeToLiveSpecification) error {
	before, err := e.catalog.Get(ctx, nameOrARN)
	if err != nil {
		return err
	}
	r := &replicasUpdate{engine: e}
	if r.replicas, err = e.group(ctx, before); err != nil {
		return err
	}
	works := make([]job.Record, len(r.replicas))
	err = e.regions.changeReplicas(ctx, r.replicas, nil, func() (err error) {
		if !r.sameReplicas() {
			return errReplicasChanged
		}
		for i, x := range r.replicas {
			if works[i], err = x.engine.changeTTL(x.txn, x.d, spec); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return replaced(err)
	}
	for i, x := range r.replicas {
		x.engine.jobs.start(works[i])
	}
	return nil
}

func checkTTLChange(t catalog.TTL, enable bool, attribute string, now time.Time) error {
	on := t.State == catalog.TTLEnabled || t.State == catalog.TTLEnabling
	switch {
	case on && attribute != t.Attribute:
		return apierr.TTLOnOtherAttribute.With(t.Attribute)
	case on && enable:
		return apierr.TTLAlreadyEnabled.With()
	case !on && !enable:
		return apierr.TTLAlreadyDisabled.With()
	case t.State == catalog.TTLEnabling, t.State == catalog.TTLDisabling,
		t.Changed != 0 && now.Sub(time.UnixMilli(t.Changed)) < ttlChangeInterval:
		return apierr.TTLChangedJustNow.With()
	}
	return nil
}

// buildTTL creates the TTL entries of all items and then marks TTL as enabled. Meanwhile writes maintain the entries.
func (e *Engine) buildTTL(ctx context.Context, j *job.Record) error {
	err := e.overItems(ctx, j, addTTLEntry)
	if err != nil {
		return err
	}
	return e.changeOwn(ctx, j, func(txn kv.Txn, d *catalog.Descriptor) error {
		if d.TTL.State != catalog.TTLEnabling {
			return errJobMoot
		}
		d.TTL.State = catalog.TTLEnabled
		txn.Delete(j.Key())
		return nil
	})
}

func addTTLEntry(txn kv.Txn, t *catalog.Table, stored itemenc.Item) error {
	seconds, ok, err := derive.Expiry(t, stored)
	if err != nil || !ok {
		return err
	}
	pk, sk, err := derive.PrimaryKey(t, stored)
	if err != nil {
		return err
	}
	txn.Set(keyenc.TTL(nil, t.ID, seconds, pk, sk), []byte{})
	return nil
}

// dropTTL removes all TTL entries, which writes no longer maintain, and then marks TTL as disabled.
func (e *Engine) dropTTL(ctx context.Context, j *job.Record) error {
	lo, hi := keyenc.TTLTableBounds(j.Table)
	if err := e.clearRange(ctx, lo, hi); err != nil {
		return err
	}
	return e.changeOwn(ctx, j, func(txn kv.Txn, d *catalog.Descriptor) error {
		if d.TTL.State != catalog.TTLDisabling {
			return errJobMoot
		}
		d.TTL = catalog.TTL{Changed: d.TTL.Changed}
		txn.Delete(j.Key())
		return nil
	})
}
