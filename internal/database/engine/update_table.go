package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// UpdateTable changes a table: billing, throughput, one index created or deleted, others' throughput,
// stream, class, encryption, deletion protection. The answer shows it UPDATING; without Options.TableDelay
// all but the building and dropping of an index is over for whoever asks next.
func (e *Engine) UpdateTable(ctx context.Context, in *api.UpdateTableInput) (*api.UpdateTableOutput, error) {
	if err := checkUpdate(in); err != nil {
		return nil, err
	}
	u := &tableUpdate{engine: e, in: in}
	d, err := e.catalog.Change(ctx, *in.TableName, u.edit)
	if err != nil {
		return nil, err
	}
	defer e.jobs.start(u.jobs...)
	description, err := e.describeAt(ctx, u.announced(d), u.now)
	if err != nil {
		return nil, err
	}
	return &api.UpdateTableOutput{TableDescription: description}, nil
}

// checkUpdate checks what the request alone shows wrong.
func checkUpdate(in *api.UpdateTableInput) error {
	if in.ProvisionedThroughput == nil && in.BillingMode == nil && in.StreamSpecification == nil &&
		len(in.GlobalSecondaryIndexUpdates) == 0 && in.SSESpecification == nil && in.TableClass == nil &&
		in.DeletionProtectionEnabled == nil && in.OnDemandThroughput == nil && in.WarmThroughput == nil {
		return apierr.TableUnchanged.With()
	}
	if in.ProvisionedThroughput != nil {
		toOnDemand := in.BillingMode != nil && *in.BillingMode == billingOnDemand
		if err := checkTableThroughput(toOnDemand, true, in.ProvisionedThroughput); err != nil {
			return err
		}
	}
	if in.ProvisionedThroughput != nil && in.StreamSpecification != nil {
		return apierr.StreamAndThroughputSet.With()
	}
	return checkIndexUpdates(in.GlobalSecondaryIndexUpdates)
}

// tableUpdate is one UpdateTable under way.
type tableUpdate struct {
	engine *Engine
	in     *api.UpdateTableInput

	// What the last run of edit did.
	now     time.Time
	jobs    []job.Record
	touched []keyenc.IndexID // indexes whose throughput changed
}

// edit changes the descriptor, in the order in which AWS refuses.
func (u *tableUpdate) edit(txn kv.Txn, d *catalog.Descriptor) error {
	u.now, u.jobs, u.touched = u.engine.options.Now(), nil, nil
	if err := u.engine.checkSettled(d, u.now, u.onlyDeletesIndex(d)); err != nil {
		return err
	}
	for _, step := range []func(*catalog.Descriptor) error{u.billing, u.indexes, u.stream, u.settings} {
		if err := step(d); err != nil {
			return err
		}
	}
	d.SettledAt = u.engine.settledAt(u.now)
	if err := u.switchStream(txn, d); err != nil {
		return err
	}
	for i := range u.jobs {
		if err := u.jobs[i].Save(txn); err != nil {
			return err
		}
	}
	return nil
}

// onlyDeletesIndex reports whether the update does nothing but delete an index whose backfill is under way,
// the one change that may interrupt it.
func (u *tableUpdate) onlyDeletesIndex(d *catalog.Descriptor) bool {
	updates := u.in.GlobalSecondaryIndexUpdates
	if len(updates) != 1 || updates[0].Delete == nil {
		return false
	}
	x := d.Index(*updates[0].Delete.IndexName)
	return x != nil && x.State == catalog.IndexBackfilling
}

// checkSettled refuses to change a table that is not ACTIVE.
func (e *Engine) checkSettled(d *catalog.Descriptor, now time.Time, interrupts bool) error {
	switch d.Status(now) {
	case catalog.StatusCreating:
		return apierr.TableBeingCreated.With(d.Name)
	case catalog.StatusDeleting:
		return apierr.TableBeingDeleted.With(d.Name)
	case catalog.StatusUpdating:
		if !interrupts {
			return apierr.TableBeingUpdated.With(d.Name)
		}
	default:
	}
	return nil
}

func (u *tableUpdate) billing(d *catalog.Descriptor) error {
	in := u.in
	onDemand := d.Billing.OnDemand
	if in.BillingMode != nil {
		onDemand = *in.BillingMode == billingOnDemand
	}
	if onDemand != d.Billing.OnDemand {
		if err := u.switchBilling(d, onDemand); err != nil {
			return err
		}
	} else if in.ProvisionedThroughput != nil {
		if err := checkTableThroughput(onDemand, true, in.ProvisionedThroughput); err != nil {
			return err
		}
		if unchanged(d.Billing.Throughput, in.ProvisionedThroughput) {
			return apierr.TableThroughputUnchanged.With(d.Billing.Throughput.Read, d.Billing.Throughput.Write)
		}
		changeThroughput(&d.Billing.Throughput, in.ProvisionedThroughput, u.now)
	}
	if in.OnDemandThroughput != nil {
		var err error
		if d.OnDemand, err = newMaxima(in.OnDemandThroughput, onDemand, ""); err != nil {
			return err
		}
	}
	if in.WarmThroughput != nil {
		var err error
		d.Warm, err = newWarm(in.WarmThroughput, warmUnits(d.Warm, onDemand, d.Billing.Throughput), "")
		return err
	}
	return nil
}

// switchBilling changes the billing mode of the table and all its global indexes.
func (u *tableUpdate) switchBilling(d *catalog.Descriptor, onDemand bool) error {
	if onDemand {
		d.Billing.OnDemand, d.Billing.BecameOnDemand = true, u.now.UnixMilli()
		d.Billing.Throughput.Read, d.Billing.Throughput.Write = 0, 0
		for i := range d.Indexes {
			d.Indexes[i].Throughput.Read, d.Indexes[i].Throughput.Write = 0, 0
		}
		return nil
	}
	if err := checkTableThroughput(false, true, u.in.ProvisionedThroughput); err != nil {
		return err
	}
	var lacking []string
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if !x.Local && !u.givesThroughput(x.Name) {
			lacking = append(lacking, x.Name)
		}
		x.OnDemand = nil
	}
	if lacking != nil {
		return apierr.IndexThroughputMissing.With(strings.Join(lacking, ","))
	}
	d.Billing.OnDemand, d.OnDemand = false, nil
	d.Billing.Throughput.Read, d.Billing.Throughput.Write = *u.in.ProvisionedThroughput.ReadCapacityUnits,
		*u.in.ProvisionedThroughput.WriteCapacityUnits
	return nil
}

// givesThroughput reports whether the request sets the provisioned throughput of an index or deletes it.
func (u *tableUpdate) givesThroughput(index string) bool {
	return slices.ContainsFunc(u.in.GlobalSecondaryIndexUpdates, func(g api.GlobalSecondaryIndexUpdate) bool {
		return g.Update != nil && *g.Update.IndexName == index && g.Update.ProvisionedThroughput != nil ||
			g.Delete != nil && *g.Delete.IndexName == index
	})
}

func unchanged(t catalog.Throughput, in *api.ProvisionedThroughput) bool {
	return t.Read == *in.ReadCapacityUnits && t.Write == *in.WriteCapacityUnits
}

func (u *tableUpdate) stream(d *catalog.Descriptor) error {
	s := u.in.StreamSpecification
	switch {
	case s == nil:
		return nil
	case *s.StreamEnabled && d.Stream.Enabled:
		return apierr.StreamAlreadyEnabled.With(d.Name)
	case *s.StreamEnabled && s.StreamViewType == nil:
		return apierr.StreamViewMissing.With()
	case *s.StreamEnabled:
		d.Stream = newStream(s, u.now.UnixMilli())
	case s.StreamViewType != nil:
		return apierr.StreamViewNeedless.With()
	case !d.Stream.Enabled:
		return apierr.StreamAlreadyDisabled.With(d.Name)
	default:
		d.Stream.Enabled, d.Stream.View = false, ""
	}
	return nil
}

// switchStream opens or closes the stream as the descriptor now has it.
func (u *tableUpdate) switchStream(txn kv.Txn, d *catalog.Descriptor) error {
	switch {
	case u.in.StreamSpecification == nil:
		return nil
	case d.Stream.Enabled:
		return u.engine.openStream(txn, d, u.now, d.SettledAt)
	default:
		return u.engine.closeStream(txn, d, u.now, d.SettledAt)
	}
}

func (u *tableUpdate) settings(d *catalog.Descriptor) error {
	if u.in.SSESpecification != nil {
		var err error
		if d.Encryption, err = u.engine.newEncryption(u.in.SSESpecification); err != nil {
			return err
		}
	}
	if class := u.in.TableClass; class != nil && *class != d.Class {
		d.Class, d.ClassChanged = *class, u.now.UnixMilli()
	}
	if u.in.DeletionProtectionEnabled != nil {
		d.DeletionBarred = *u.in.DeletionProtectionEnabled
	}
	return nil
}

// announced is the table as the answer shows it: what has changed is UPDATING, even if only for this answer.
func (u *tableUpdate) announced(d *catalog.Descriptor) *catalog.Descriptor {
	out := *d
	out.SettledAt = max(d.SettledAt, u.now.UnixMilli()+1)
	out.Indexes = slices.Clone(d.Indexes)
	for i := range out.Indexes {
		if slices.Contains(u.touched, out.Indexes[i].ID) {
			out.Indexes[i].SettledAt = out.SettledAt
		}
	}
	return &out
}
