package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
)

// UpdateTableReplicaAutoScaling changes the auto scaling settings of a table's replicas: of writes in all alike, of reads in each
// one. They are stored and described, but no scaling takes place.
func (e *Engine) UpdateTableReplicaAutoScaling(ctx context.Context, in *api.UpdateTableReplicaAutoScalingInput) (
	*api.UpdateTableReplicaAutoScalingOutput, error,
) {
	if err := e.checkScalingShapes(in); err != nil {
		return nil, err
	}
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
			// A table is UPDATING while an index is created; AWS then says that the index does not exist:
			// https://github.com/aws-controllers-k8s/dynamodb-controller, DDB-TABLE-323.
			return cmp.Or(r.checkScaledIndexes(in), err)
		}
		if err := r.checkScalable(in); err != nil {
			return err
		}
		if err := checkBounds(in); err != nil {
			return err
		}
		for _, x := range r.replicas {
			if !x.d.Synchronized() {
				return apierr.NotAReplica.With(x.d.Name)
			}
		}
		if err := r.checkScaledIndexes(in); err != nil {
			return err
		}
		for _, x := range r.replicas {
			x.scaling(in)
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

// checkScalingShapes rejects settings that are incomplete or contradict themselves; AWS does so before it looks for the table.
func (e *Engine) checkScalingShapes(in *api.UpdateTableReplicaAutoScalingInput) error {
	table, err := e.catalog.Name(*in.TableName)
	if err != nil {
		return err
	}
	writes, reads := scalingUpdates(in)
	for _, u := range append(writes, reads...) {
		if err := checkScaling(table, u); err != nil {
			return err
		}
	}
	return nil
}

// scalingUpdates returns the settings of a request, nil ones among them.
func scalingUpdates(in *api.UpdateTableReplicaAutoScalingInput) (writes, reads []*api.AutoScalingSettingsUpdate) {
	writes = append(writes, in.ProvisionedWriteCapacityAutoScalingUpdate)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		writes = append(writes, u.ProvisionedWriteCapacityAutoScalingUpdate)
	}
	for _, r := range in.ReplicaUpdates {
		reads = append(reads, r.ReplicaProvisionedReadCapacityAutoScalingUpdate)
		for _, u := range r.ReplicaGlobalSecondaryIndexUpdates {
			reads = append(reads, u.ProvisionedReadCapacityAutoScalingUpdate)
		}
	}
	return writes, reads
}

// checkBounds rejects what Application Auto Scaling rejects on AWS.
func checkBounds(in *api.UpdateTableReplicaAutoScalingInput) error {
	writes, reads := scalingUpdates(in)
	for i, u := range append(writes, reads...) {
		if u == nil || u.ScalingPolicyUpdate == nil {
			continue
		}
		if *u.MinimumUnits > *u.MaximumUnits {
			return apierr.ScalingBounds.With()
		}
		target := *u.ScalingPolicyUpdate.TargetTrackingScalingPolicyConfiguration.TargetValue
		text := strconv.FormatFloat(target, 'f', -1, 64)
		if !strings.Contains(text, ".") {
			text += ".0"
		}
		switch {
		case target <= 0:
			return apierr.ScalingTargetTooLow.With(text)
		case (target < 10 || target > 90) && i < len(writes):
			return apierr.ScalingTarget.With("DynamoDBWriteCapacityUtilization", text)
		case target < 10 || target > 90:
			return apierr.ScalingTarget.With("DynamoDBReadCapacityUtilization", text)
		}
	}
	return nil
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

// checkScaledIndexes rejects settings of indexes that a replica does not have, or that are being created. A request can omit the
// name of an index.
func (r *replicasUpdate) checkScaledIndexes(in *api.UpdateTableReplicaAutoScalingInput) error {
	for _, x := range r.replicas {
		var missing []string
		for _, u := range in.GlobalSecondaryIndexUpdates {
			if !schema.Scales(x.d, valueOf(u.IndexName), r.now) {
				missing = append(missing, valueOf(u.IndexName))
			}
		}
		if missing != nil {
			return apierr.ScalingIndexMissing.With(x.d.Name, strings.Join(missing, ", "))
		}
		for _, u := range in.ReplicaUpdates {
			if *u.RegionName != x.d.Global.Region {
				continue
			}
			for _, u := range u.ReplicaGlobalSecondaryIndexUpdates {
				if !schema.Scales(x.d, valueOf(u.IndexName), r.now) {
					return apierr.ScalingReadsMissing.With(x.d.Name, valueOf(u.IndexName), x.d.Global.Region)
				}
			}
		}
	}
	return nil
}

// scaling applies the settings to one replica.
func (x *replicaMember) scaling(in *api.UpdateTableReplicaAutoScalingInput) {
	g := x.d.Global
	setScaling(g, catalog.ScalesWrites, in.ProvisionedWriteCapacityAutoScalingUpdate)
	for _, u := range in.GlobalSecondaryIndexUpdates {
		setScaling(g, catalog.ScalesWrites+*u.IndexName, u.ProvisionedWriteCapacityAutoScalingUpdate)
	}
	for _, r := range in.ReplicaUpdates {
		if *r.RegionName != g.Region {
			continue
		}
		setScaling(g, catalog.ScalesReads, r.ReplicaProvisionedReadCapacityAutoScalingUpdate)
		for _, u := range r.ReplicaGlobalSecondaryIndexUpdates {
			setScaling(g, catalog.ScalesReads+*u.IndexName, u.ProvisionedReadCapacityAutoScalingUpdate)
		}
	}
}
