package engine

import (
	"context"
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

// ttlChangeInterval is how long after a change of TTL the next is refused.
const ttlChangeInterval = time.Hour

// UpdateTimeToLive enables or disables the expiry of items. From then on writes keep TTL entries; those of
// the items that are there are built, or all are dropped, in the background (ENABLING, DISABLING).
func (e *Engine) UpdateTimeToLive(ctx context.Context, in *api.UpdateTimeToLiveInput) (*api.UpdateTimeToLiveOutput, error) {
	spec := in.TimeToLiveSpecification
	var work job.Record
	_, err := e.catalog.Change(ctx, *in.TableName, func(txn kv.Txn, d *catalog.Descriptor) error {
		now := e.options.Now()
		if d.Status(now) == catalog.StatusCreating {
			return apierr.TTLOfNewTable.With(d.Name)
		}
		if err := e.checkSettled(d, now, false); err != nil {
			return err
		}
		if err := checkTTLChange(d.TTL, *spec.Enabled, *spec.AttributeName, now); err != nil {
			return err
		}
		work = job.Record{Kind: job.BuildTTL, Table: d.ID, Name: d.Name, NotBefore: e.settledAt(now)}
		d.TTL = catalog.TTL{Attribute: *spec.AttributeName, State: catalog.TTLEnabling, Changed: now.UnixMilli()}
		if !*spec.Enabled {
			work.Kind, d.TTL.State = job.DropTTL, catalog.TTLDisabling
		}
		return work.Save(txn)
	})
	if err != nil {
		return nil, err
	}
	e.jobs.start(work)
	return &api.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, nil
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

// buildTTL gives every item its TTL entry, then calls TTL enabled. Writes keep the entries meanwhile.
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

// dropTTL removes all TTL entries, which no write keeps any more, then calls TTL disabled.
func (e *Engine) dropTTL(ctx context.Context, j *job.Record) error {
	lo, hi := keyenc.TTLTableBounds(j.Table)
	if err := e.store.DeleteRange(ctx, lo, hi); err != nil {
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
