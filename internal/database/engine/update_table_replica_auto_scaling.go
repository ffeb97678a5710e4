package engine

import (
	"context"
	"errors"
	"slices"
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
	if err := r.checkScalingUpdates(in, d.Name); err != nil {
		return nil, err
	}
	err = e.changeLegacy(ctx, r.replicas, func() error {
		if !r.sameReplicas() {
			return errReplicasChanged
		}
		if err := e.checkSettled(r.replicas[0].d, r.now, false); err != nil {
			return err
		}
		if err := r.checkScalable(in); err != nil {
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

// checkScalingUpdates checks that the request has settings, for each Region once, and only for Regions with a replica.
func (r *replicasUpdate) checkScalingUpdates(in *api.UpdateTableReplicaAutoScalingInput, table string) error {
	var seen, repeated, missing []string
	for i := range in.ReplicaUpdates {
		region := *in.ReplicaUpdates[i].RegionName
		if slices.Contains(seen, region) && !slices.Contains(repeated, region) {
			repeated = append(repeated, region)
		}
		seen = append(seen, region)
		if r.replica(region) == nil && !slices.Contains(missing, region) {
			missing = append(missing, region)
		}
	}
	if repeated != nil {
		return apierr.ScalingRegionRepeated.With(table, strings.Join(repeated, ", "))
	}
	for i := range in.ReplicaUpdates {
		if u := &in.ReplicaUpdates[i]; u.ReplicaProvisionedReadCapacityAutoScalingUpdate == nil && len(u.ReplicaGlobalSecondaryIndexUpdates) == 0 {
			return apierr.ScalingOfRegionAbsent.With(table, *u.RegionName)
		}
	}
	switch {
	case in.ProvisionedWriteCapacityAutoScalingUpdate == nil && len(in.GlobalSecondaryIndexUpdates)+len(in.ReplicaUpdates) == 0:
		return apierr.ScalingAbsent.With(table)
	case missing != nil:
		return apierr.ScalingRegionMissing.With(table, strings.Join(missing, ", "))
	}
	return nil
}

// checkScalable rejects settings of an on-demand table, other than disabling auto scaling. AWS names them as in
// UpdateGlobalTableSettings.
func (r *replicasUpdate) checkScalable(in *api.UpdateTableReplicaAutoScalingInput) error {
	d := r.replicas[0].d
	var set []string
	add := func(name string, u *api.AutoScalingSettingsUpdate) {
		if u != nil && (u.AutoScalingDisabled == nil || !*u.AutoScalingDisabled) && !slices.Contains(set, name) {
			set = append(set, name)
		}
	}
	add("'GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate'", in.ProvisionedWriteCapacityAutoScalingUpdate)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		add("'GlobalTableGlobalSecondaryIndexSettingsUpdate'", u.ProvisionedWriteCapacityAutoScalingUpdate)
	}
	for i := range in.ReplicaUpdates {
		add("'ReplicaProvisionedReadCapacityAutoScalingSettingsUpdate'", in.ReplicaUpdates[i].ReplicaProvisionedReadCapacityAutoScalingUpdate)
		for _, u := range in.ReplicaUpdates[i].ReplicaGlobalSecondaryIndexUpdates {
			add("'ReplicaGlobalSecondaryIndexSettingsUpdate'", u.ProvisionedReadCapacityAutoScalingUpdate)
		}
	}
	if !d.Billing.OnDemand || set == nil {
		return nil
	}
	var regions []string
	for _, x := range r.replicas {
		regions = append(regions, "'"+strings.ToUpper(x.engine.options.Region)+"'")
	}
	slices.Sort(regions)
	return apierr.ScalingOnDemand.With(d.Name, strings.Join(regions, ", "), strings.Join(set, ", "))
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
