package engine

import (
	"context"
	"errors"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// UpdateTableReplicaAutoScaling changes the auto scaling settings of a table's replicas: of writes in all alike, of reads in each
// one. They are stored and described, but no scaling takes place.
func (e *Engine) UpdateTableReplicaAutoScaling(ctx context.Context, in *api.UpdateTableReplicaAutoScalingInput) (
	*api.UpdateTableReplicaAutoScalingOutput, error,
) {
	d, err := e.replicated(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	r := &replicasUpdate{engine: e, now: e.options.Now()}
	if r.replicas, err = e.group(ctx, d); err != nil {
		return nil, err
	}
	for _, u := range in.ReplicaUpdates {
		if r.replica(*u.RegionName) == nil {
			return nil, apierr.ReplicaMissing.With()
		}
	}
	err = e.changeLegacy(ctx, r.replicas, func() error {
		if !r.sameReplicas() {
			return errReplicasChanged
		}
		if err := e.checkSettled(r.replicas[0].d, r.now, false); err != nil {
			return err
		}
		for _, x := range r.replicas {
			if !x.d.Synchronized() {
				return apierr.NotAReplica.With(x.d.Name)
			}
			if err := x.scaling(in); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errReplicasChanged) {
		return e.UpdateTableReplicaAutoScaling(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	return &api.UpdateTableReplicaAutoScalingOutput{TableAutoScalingDescription: e.describeScaling(r.replicas[0].d, r.replicas)}, nil
}

// checkScaling rejects incomplete settings, and settings combined with disabling auto scaling.
func checkScaling(table string, u *api.AutoScalingSettingsUpdate) error {
	if u == nil {
		return nil
	}
	var given, absent []string
	for _, p := range []struct { // in AWS's order
		name  string
		given bool
	}{
		{"'MaximumUnits'", u.MaximumUnits != nil},
		{"'ScalingPolicyUpdate'", u.ScalingPolicyUpdate != nil},
		{"'MinimumUnits'", u.MinimumUnits != nil},
	} {
		if p.given {
			given = append(given, p.name)
		} else {
			absent = append(absent, p.name)
		}
	}
	off := u.AutoScalingDisabled != nil && *u.AutoScalingDisabled
	switch {
	case off && given != nil:
		return apierr.ScalingNotOff.With(table, strings.Join(given, ", "))
	case !off && absent != nil:
		return apierr.ScalingIncomplete.With(table, strings.Join(absent, ", "))
	default:
		return nil
	}
}

// scaling applies the settings to one replica.
func (x *replicaMember) scaling(in *api.UpdateTableReplicaAutoScalingInput) error {
	g := x.d.Global
	set := func(name string, index *string, u *api.AutoScalingSettingsUpdate) error {
		if index != nil {
			if i := x.d.Index(*index); i == nil || i.Local || i.Vector != nil {
				return apierr.ScalingIndexMissing.With(x.d.Name, *index)
			}
			name += *index
		}
		if err := checkScaling(x.d.Name, u); err != nil {
			return err
		}
		setScaling(g, name, u)
		return nil
	}
	err := set(catalog.ScalesWrites, nil, in.ProvisionedWriteCapacityAutoScalingUpdate)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		err = errors.Join(err, set(catalog.ScalesWrites, u.IndexName, u.ProvisionedWriteCapacityAutoScalingUpdate))
	}
	for _, r := range in.ReplicaUpdates {
		if *r.RegionName != g.Region {
			continue
		}
		err = errors.Join(err, set(catalog.ScalesReads, nil, r.ReplicaProvisionedReadCapacityAutoScalingUpdate))
		for _, u := range r.ReplicaGlobalSecondaryIndexUpdates {
			err = errors.Join(err, set(catalog.ScalesReads, u.IndexName, u.ProvisionedReadCapacityAutoScalingUpdate))
		}
	}
	return err
}
