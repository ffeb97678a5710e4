package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// UpdateGlobalTableSettings changes the capacity of all replicas of a global table of version 2017.11.29: write capacity of all
// alike, read capacity of each one. Auto scaling settings are stored and described, but no scaling takes place.
func (e *Engine) UpdateGlobalTableSettings(ctx context.Context, in *api.UpdateGlobalTableSettingsInput) (*api.UpdateGlobalTableSettingsOutput, error) {
	d, err := e.legacySettings(ctx, *in.GlobalTableName)
	if err != nil {
		return nil, err
	}
	r := &replicasUpdate{engine: e, now: e.options.Now()}
	if r.replicas, err = e.group(ctx, d); err != nil {
		return nil, err
	}
	for _, u := range in.ReplicaSettingsUpdate {
		if r.replica(*u.RegionName) == nil {
			return nil, apierr.ReplicaOfGlobalMissing.With(d.Name, *u.RegionName)
		}
	}
	err = e.changeLegacy(ctx, r.replicas, func() error {
		if !r.sameReplicas() {
			return errReplicasChanged
		}
		for _, x := range r.replicas {
			if err := x.settings(in); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errReplicasChanged) {
		return e.UpdateGlobalTableSettings(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return &api.UpdateGlobalTableSettingsOutput{GlobalTableName: &d.Name, ReplicaSettings: replicaSettings(r.replicas, r.now)}, nil
}

// settings applies the settings to one replica.
func (x *replicaMember) settings(in *api.UpdateGlobalTableSettingsInput) error {
	g := x.d.Global
	update := &api.UpdateTableInput{TableName: &x.d.Name, BillingMode: in.GlobalTableBillingMode}
	units := api.ProvisionedThroughput{ReadCapacityUnits: new(x.d.Billing.Throughput.Read), WriteCapacityUnits: new(x.d.Billing.Throughput.Write)}
	indexes := map[string]*api.ProvisionedThroughput{}
	ofIndex := func(name string) (*api.ProvisionedThroughput, error) {
		i := x.d.Index(name)
		if i == nil || i.Local || i.Vector != nil {
			return nil, apierr.GlobalIndexMissing.With(name)
		}
		if indexes[name] == nil {
			indexes[name] = &api.ProvisionedThroughput{ReadCapacityUnits: new(i.Throughput.Read), WriteCapacityUnits: new(i.Throughput.Write)}
		}
		return indexes[name], nil
	}
	if n := in.GlobalTableProvisionedWriteCapacityUnits; n != nil {
		units.WriteCapacityUnits = n
	}
	setScaling(g, catalog.ScalesWrites, in.GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate)
	for _, u := range in.GlobalTableGlobalSecondaryIndexSettingsUpdate {
		t, err := ofIndex(*u.IndexName)
		if err != nil {
			return err
		}
		if u.ProvisionedWriteCapacityUnits != nil {
			t.WriteCapacityUnits = u.ProvisionedWriteCapacityUnits
		}
		setScaling(g, catalog.ScalesWrites+*u.IndexName, u.ProvisionedWriteCapacityAutoScalingSettingsUpdate)
	}
	for _, r := range in.ReplicaSettingsUpdate {
		if *r.RegionName != g.Region {
			continue
		}
		if n := r.ReplicaProvisionedReadCapacityUnits; n != nil {
			units.ReadCapacityUnits = n
		}
		if r.ReplicaTableClass != nil {
			x.d.Class = *r.ReplicaTableClass
		}
		setScaling(g, catalog.ScalesReads, r.ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate)
		for _, u := range r.ReplicaGlobalSecondaryIndexSettingsUpdate {
			t, err := ofIndex(*u.IndexName)
			if err != nil {
				return err
			}
			if u.ProvisionedReadCapacityUnits != nil {
				t.ReadCapacityUnits = u.ProvisionedReadCapacityUnits
			}
			setScaling(g, catalog.ScalesReads+*u.IndexName, u.ProvisionedReadCapacityAutoScalingSettingsUpdate)
		}
	}
	return x.capacity(update, units, indexes)
}

// capacity applies the changes of capacity.
func (x *replicaMember) capacity(update *api.UpdateTableInput, units api.ProvisionedThroughput, indexes map[string]*api.ProvisionedThroughput) error {
	if update.BillingMode != nil && *update.BillingMode == "PAY_PER_REQUEST" == x.d.Billing.OnDemand {
		update.BillingMode = nil
	}
	was := x.d.Billing.Throughput
	if *units.ReadCapacityUnits != was.Read || *units.WriteCapacityUnits != was.Write || update.BillingMode != nil && x.d.Billing.OnDemand {
		update.ProvisionedThroughput = &units
	}
	for name, t := range indexes {
		i := x.d.Index(name)
		if *t.ReadCapacityUnits != i.Throughput.Read || *t.WriteCapacityUnits != i.Throughput.Write {
			update.GlobalSecondaryIndexUpdates = append(update.GlobalSecondaryIndexUpdates, api.GlobalSecondaryIndexUpdate{
				Update: &api.UpdateGlobalSecondaryIndexAction{IndexName: &name, ProvisionedThroughput: t},
			})
		}
	}
	if update.BillingMode == nil && update.ProvisionedThroughput == nil && update.GlobalSecondaryIndexUpdates == nil {
		return nil
	}
	if err := schema.CheckUpdate(update); err != nil {
		return err
	}
	u := &tableUpdate{engine: x.engine, in: update}
	return u.edit(x.txn, x.d)
}
