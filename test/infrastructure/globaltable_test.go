package infrastructure

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// regional returns the properties of the table in a Region, with the names of AWS::DynamoDB::Table: for a global table, the
// properties shared by all replicas and those of the Region's replica.
func (c *cloudFormation) regional(p object, region string) object {
	replica := find(p["Replicas"], "Region", region)
	if replica == nil {
		return p
	}
	own := without(p, "Replicas", "WriteOnDemandThroughputSettings", "WriteProvisionedThroughputSettings")
	maps.Copy(own, without(replica, "Region", "GlobalSecondaryIndexes", "ReadOnDemandThroughputSettings", "ReadProvisionedThroughputSettings"))
	var indexes []any
	for _, x := range list(p["GlobalSecondaryIndexes"]) {
		x = maps.Clone(x)
		maps.Copy(x, find(replica["GlobalSecondaryIndexes"], "IndexName", x["IndexName"]))
		indexes = append(indexes, x)
	}
	if indexes != nil {
		own["GlobalSecondaryIndexes"] = indexes
	}
	if read, write := units(replica, "Read"), units(p, "Write"); p["BillingMode"] == "PROVISIONED" {
		own["ProvisionedThroughput"] = object{"ReadCapacityUnits": read, "WriteCapacityUnits": write}
	} else if read != nil {
		own["OnDemandThroughput"] = object{"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write}
	}
	return own
}

// units returns the read or write units: the maximum on demand, or the provisioned capacity, with auto scaling its minimum.
func units(p object, what string) any {
	if s, ok := p[what+"OnDemandThroughputSettings"].(object); ok {
		return s["Max"+what+"RequestUnits"]
	}
	s, _ := p[what+"ProvisionedThroughputSettings"].(object)
	if scaling, ok := s[what+"CapacityAutoScalingSettings"].(object); ok {
		return scaling["MinCapacity"]
	}
	return s[what+"CapacityUnits"]
}

// others returns the Regions of the replicas outside the stack's Region.
func (c *cloudFormation) others(p object) (regions []string) {
	for _, r := range list(p["Replicas"]) {
		if r["Region"] != home {
			regions = append(regions, r["Region"].(string))
		}
	}
	return regions
}

// replicas removes, adds and changes replicas.
func (c *cloudFormation) replicas(name string, old, p object) {
	c.t.Helper()
	h := c.handler(name, home, p)
	update := func(u types.ReplicationGroupUpdate) {
		c.t.Helper()
		_, err := h.client.UpdateTable(c.t.Context(), &dynamodb.UpdateTableInput{TableName: h.table, ReplicaUpdates: []types.ReplicationGroupUpdate{u}})
		c.must(err)
		h.stabilize()
	}
	before, after := c.others(old), c.others(p)
	for _, region := range before {
		if !slices.Contains(after, region) {
			update(types.ReplicationGroupUpdate{Delete: &types.DeleteReplicationGroupMemberAction{RegionName: &region}})
		}
	}
	for _, region := range after {
		was, is := c.regional(old, region), c.regional(p, region)
		if !slices.Contains(before, region) {
			create := &types.CreateReplicationGroupMemberAction{RegionName: &region}
			if class, ok := is["TableClass"].(string); ok {
				create.TableClassOverride = types.TableClass(class)
			}
			read, _ := units(find(p["Replicas"], "Region", region), "Read").(float64)
			switch {
			case read == 0:
			case p["BillingMode"] == "PROVISIONED":
				create.ProvisionedThroughputOverride = &types.ProvisionedThroughputOverride{ReadCapacityUnits: aws.Int64(int64(read))}
			default:
				create.OnDemandThroughputOverride = &types.OnDemandThroughputOverride{MaxReadRequestUnits: aws.Int64(int64(read))}
			}
			update(types.ReplicationGroupUpdate{Create: create})
			was = fresh(p, is)
		}
		replica := c.handler(name, region, p)
		replica.updateTable(was, is)
		replica.settings(was, is)
	}
}

// fresh returns the properties of a new replica: only those shared with the others.
func fresh(p, is object) object {
	was := without(is, "Tags", "ResourcePolicy", "PointInTimeRecoverySpecification", "ContributorInsightsSpecification", "KinesisStreamSpecification")
	was["DeletionProtectionEnabled"], was["GlobalSecondaryIndexes"] = false, p["GlobalSecondaryIndexes"]
	return was
}

// scale writes the auto scaling settings of a global table, if it has any.
func (c *cloudFormation) scale(name string, p object) {
	c.t.Helper()
	write := scaling(p, "Write")
	if write == nil {
		return
	}
	h := c.handler(name, home, p)
	in := &dynamodb.UpdateTableReplicaAutoScalingInput{TableName: h.table, ProvisionedWriteCapacityAutoScalingUpdate: write}
	for _, r := range list(p["Replicas"]) {
		if read := scaling(r, "Read"); read != nil {
			in.ReplicaUpdates = append(in.ReplicaUpdates, types.ReplicaAutoScalingUpdate{
				RegionName: aws.String(r["Region"].(string)), ReplicaProvisionedReadCapacityAutoScalingUpdate: read,
			})
		}
	}
	_, err := h.client.UpdateTableReplicaAutoScaling(c.t.Context(), in)
	c.must(err)
	h.stabilize()
}

// scaling returns the auto scaling settings as an API structure, or nil.
func scaling(p object, what string) *types.AutoScalingSettingsUpdate {
	s, _ := p[what+"ProvisionedThroughputSettings"].(object)
	settings, ok := s[what+"CapacityAutoScalingSettings"].(object)
	if !ok {
		return nil
	}
	number := func(name string) *int64 { return aws.Int64(int64(settings[name].(float64))) }
	target := settings["TargetTrackingScalingPolicyConfiguration"].(object)["TargetValue"].(float64)
	return &types.AutoScalingSettingsUpdate{
		MinimumUnits: number("MinCapacity"), MaximumUnits: number("MaxCapacity"),
		ScalingPolicyUpdate: &types.AutoScalingPolicyUpdate{
			TargetTrackingScalingPolicyConfiguration: &types.AutoScalingTargetTrackingScalingPolicyConfigurationUpdate{TargetValue: &target},
		},
	}
}

// readScaling compares the auto scaling settings of a global table with the template.
func (c *cloudFormation) readScaling(p object) {
	c.t.Helper()
	if scaling(p, "Write") == nil {
		return
	}
	h := c.handler("read", home, p)
	out, err := h.client.DescribeTableReplicaAutoScaling(c.t.Context(), &dynamodb.DescribeTableReplicaAutoScalingInput{TableName: h.table})
	c.must(err)
	same := func(what string, want *types.AutoScalingSettingsUpdate, got *types.AutoScalingSettingsDescription) {
		c.t.Helper()
		if want == nil {
			return
		}
		if got == nil || *got.MinimumUnits != *want.MinimumUnits || *got.MaximumUnits != *want.MaximumUnits || len(got.ScalingPolicies) != 1 ||
			*got.ScalingPolicies[0].TargetTrackingScalingPolicyConfiguration.TargetValue != *want.ScalingPolicyUpdate.TargetTrackingScalingPolicyConfiguration.TargetValue {
			c.t.Errorf("auto scaling of %s drifts: %+v", what, got)
		}
	}
	for _, r := range out.TableAutoScalingDescription.Replicas {
		same("writes in "+*r.RegionName, scaling(p, "Write"), r.ReplicaProvisionedWriteCapacityAutoScalingSettings)
		same("reads in "+*r.RegionName, scaling(find(p["Replicas"], "Region", *r.RegionName), "Read"), r.ReplicaProvisionedReadCapacityAutoScalingSettings)
	}
}
