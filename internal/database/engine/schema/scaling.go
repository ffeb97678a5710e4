package schema

import (
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// ChangedScaling returns auto scaling settings after an update.
func ChangedScaling(s catalog.Scaling, in *api.AutoScalingSettingsUpdate) catalog.Scaling {
	if in.AutoScalingDisabled != nil && *in.AutoScalingDisabled {
		return catalog.Scaling{Disabled: true}
	}
	s.Disabled = false
	if in.MinimumUnits != nil {
		s.Min = in.MinimumUnits
	}
	if in.MaximumUnits != nil {
		s.Max = in.MaximumUnits
	}
	if in.AutoScalingRoleArn != nil {
		s.Role = *in.AutoScalingRoleArn
	}
	if p := in.ScalingPolicyUpdate; p != nil {
		if p.PolicyName != nil {
			s.Policy = *p.PolicyName
		}
		c := p.TargetTrackingScalingPolicyConfiguration
		s.Target, s.InCooldown, s.OutCooldown, s.KeepHigh = *c.TargetValue, c.ScaleInCooldown, c.ScaleOutCooldown, c.DisableScaleIn
	}
	return s
}

// scalingOf describes the settings that a table has under a name, or returns nil.
func scalingOf(d *catalog.Descriptor, name string) *api.AutoScalingSettingsDescription {
	if d.Global == nil {
		return nil
	}
	s, ok := d.Global.Scaling[name]
	if !ok {
		return nil
	}
	out := &api.AutoScalingSettingsDescription{MinimumUnits: s.Min, MaximumUnits: s.Max, AutoScalingDisabled: &s.Disabled}
	if s.Role != "" {
		out.AutoScalingRoleArn = &s.Role
	}
	if s.Target == 0 {
		return out
	}
	if s.Policy == "" {
		s.Policy = policyName(d, name)
	}
	out.ScalingPolicies = []api.AutoScalingPolicyDescription{{
		PolicyName: &s.Policy,
		TargetTrackingScalingPolicyConfiguration: &api.AutoScalingTargetTrackingScalingPolicyConfigurationDescription{
			TargetValue: &s.Target, DisableScaleIn: s.KeepHigh, ScaleInCooldown: s.InCooldown, ScaleOutCooldown: s.OutCooldown,
		},
	}}
	return out
}

// policyName is the name that AWS gives to a policy without one, of the settings that a table has under a name.
func policyName(d *catalog.Descriptor, name string) string {
	policy := "DynamoDBReadCapacityUtilization:table/" + d.Name
	index, reads := strings.CutPrefix(name, catalog.ScalesReads)
	if !reads {
		index = strings.TrimPrefix(name, catalog.ScalesWrites)
		policy = "DynamoDBWriteCapacityUtilization:table/" + d.Name
	}
	if index != "" {
		policy += "/index/" + index
	}
	return policy
}

// replicaScalingOf describes the settings that a replica of version 2019.11.21 has under a name. Auto scaling that was never set up
// is described like auto scaling that is disabled; that of an on-demand table keeps its settings, but is disabled.
func replicaScalingOf(d *catalog.Descriptor, name string) *api.AutoScalingSettingsDescription {
	out := scalingOf(d, name)
	if out == nil || *out.AutoScalingDisabled {
		return &api.AutoScalingSettingsDescription{AutoScalingDisabled: new(true), ScalingPolicies: []api.AutoScalingPolicyDescription{}}
	}
	if out.AutoScalingDisabled = nil; d.Billing.OnDemand {
		out.AutoScalingDisabled = new(true)
	}
	return out
}

// Scales reports whether auto scaling could change the capacity of a global secondary index of a table. It cannot before the
// index is filled.
func Scales(d *catalog.Descriptor, index string, now time.Time) bool {
	x := d.Index(index)
	return x != nil && !x.Local && x.Vector == nil && d.IndexStatus(x, now) != catalog.StatusCreating
}

// DescribeScaling describes the auto scaling of the replica in a Region.
func DescribeScaling(d *catalog.Descriptor, region string, now time.Time) api.ReplicaAutoScalingDescription {
	out := api.ReplicaAutoScalingDescription{
		RegionName: &region, ReplicaStatus: new(string(d.Status(now))),
		GlobalSecondaryIndexes:                             []api.ReplicaGlobalSecondaryIndexAutoScalingDescription{}, // never absent
		ReplicaProvisionedReadCapacityAutoScalingSettings:  replicaScalingOf(d, catalog.ScalesReads),
		ReplicaProvisionedWriteCapacityAutoScalingSettings: replicaScalingOf(d, catalog.ScalesWrites),
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if !Scales(d, x.Name, now) {
			continue
		}
		out.GlobalSecondaryIndexes = append(out.GlobalSecondaryIndexes, api.ReplicaGlobalSecondaryIndexAutoScalingDescription{
			IndexName: &x.Name, IndexStatus: new(string(d.IndexStatus(x, now))),
			ProvisionedReadCapacityAutoScalingSettings:  replicaScalingOf(d, catalog.ScalesReads+x.Name),
			ProvisionedWriteCapacityAutoScalingSettings: replicaScalingOf(d, catalog.ScalesWrites+x.Name),
		})
	}
	return out
}

// DescribeSettings describes the capacity of a replica of version 2017.11.29.
func DescribeSettings(d *catalog.Descriptor, now time.Time) api.ReplicaSettingsDescription {
	out := api.ReplicaSettingsDescription{
		RegionName: &d.Global.Region, ReplicaStatus: new(string(d.Status(now))), ReplicaBillingModeSummary: describeBilling(d, now),
		ReplicaProvisionedReadCapacityUnits:                &d.Billing.Throughput.Read,
		ReplicaProvisionedWriteCapacityUnits:               &d.Billing.Throughput.Write,
		ReplicaProvisionedReadCapacityAutoScalingSettings:  scalingOf(d, catalog.ScalesReads),
		ReplicaProvisionedWriteCapacityAutoScalingSettings: scalingOf(d, catalog.ScalesWrites),
		ReplicaTableClassSummary:                           describeClass(d),
	}
	for i := range d.Indexes {
		x := &d.Indexes[i]
		if x.Local || x.Vector != nil {
			continue
		}
		out.ReplicaGlobalSecondaryIndexSettings = append(out.ReplicaGlobalSecondaryIndexSettings, api.ReplicaGlobalSecondaryIndexSettingsDescription{
			IndexName: &x.Name, IndexStatus: new(string(d.IndexStatus(x, now))),
			ProvisionedReadCapacityUnits: &x.Throughput.Read, ProvisionedWriteCapacityUnits: &x.Throughput.Write,
			ProvisionedReadCapacityAutoScalingSettings:  scalingOf(d, catalog.ScalesReads+x.Name),
			ProvisionedWriteCapacityAutoScalingSettings: scalingOf(d, catalog.ScalesWrites+x.Name),
		})
	}
	return out
}
