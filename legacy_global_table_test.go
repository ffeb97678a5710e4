package monotable_test

import (
	"context"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func (r *regional) createProvisioned(region string, view types.StreamViewType) {
	r.Helper()
	_, err := r.client(region).CreateTable(r.Context(), &dynamodb.CreateTableInput{
		TableName: aws.String("Music"), ProvisionedThroughput: &types.ProvisionedThroughput{ReadCapacityUnits: aws.Int64(5), WriteCapacityUnits: aws.Int64(5)},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: view},
	})
	if err != nil {
		r.Fatal(err)
	}
}

// TestLegacyGlobalTable: a global table of version 2017.11.29, over a socket with the SDK.
func TestLegacyGlobalTable(t *testing.T) {
	r := openRegional(t, t.TempDir(), ireland)
	defer r.close()
	client, music := r.client(virginia), aws.String("Music")
	create := func() error {
		_, err := client.CreateGlobalTable(t.Context(), &dynamodb.CreateGlobalTableInput{
			GlobalTableName: music, ReplicationGroup: []types.Replica{{RegionName: aws.String(virginia)}, {RegionName: aws.String(ireland)}},
		})
		return err
	}
	r.createProvisioned(virginia, types.StreamViewTypeNewAndOldImages)
	if err := create(); !hasCode(err, "TableNotFoundException", "") {
		t.Errorf("a Region without the table: %v", err)
	}
	r.createProvisioned(ireland, types.StreamViewTypeNewAndOldImages)
	if err := create(); err != nil {
		t.Fatal(err)
	}
	if err := create(); !hasCode(err, "GlobalTableAlreadyExistsException", "") {
		t.Errorf("created again: %v", err)
	}
	out, err := r.client(ireland).DescribeGlobalTable(t.Context(), &dynamodb.DescribeGlobalTableInput{GlobalTableName: music})
	if err != nil || len(out.GlobalTableDescription.ReplicationGroup) != 2 || out.GlobalTableDescription.GlobalTableStatus != types.GlobalTableStatusActive {
		t.Errorf("description: %+v, %v", out, err)
	}
	list, err := client.ListGlobalTables(t.Context(), &dynamodb.ListGlobalTablesInput{RegionName: aws.String(ireland)})
	if err != nil || len(list.GlobalTables) != 1 || len(list.GlobalTables[0].ReplicationGroup) != 2 {
		t.Errorf("list: %+v, %v", list, err)
	}

	r.putItem(virginia, "song", "1", nil)
	r.eventually("a write is replicated", func(context.Context) bool { return r.item(ireland, "song") == "1" })
	item, err := r.client(ireland).GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: music, Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: "song"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	region, _ := item.Item["aws:rep:updateregion"].(*types.AttributeValueMemberS)
	deleting, _ := item.Item["aws:rep:deleting"].(*types.AttributeValueMemberBOOL)
	if region == nil || region.Value != virginia || deleting == nil || deleting.Value || item.Item["aws:rep:updatetime"] == nil {
		t.Errorf("the item in the other Region: %+v", item.Item)
	}

	settings, err := client.UpdateGlobalTableSettings(t.Context(), &dynamodb.UpdateGlobalTableSettingsInput{
		GlobalTableName: music, GlobalTableProvisionedWriteCapacityUnits: aws.Int64(20),
		GlobalTableProvisionedWriteCapacityAutoScalingSettingsUpdate: &types.AutoScalingSettingsUpdate{
			MinimumUnits: aws.Int64(20), MaximumUnits: aws.Int64(40),
			ScalingPolicyUpdate: &types.AutoScalingPolicyUpdate{
				TargetTrackingScalingPolicyConfiguration: &types.AutoScalingTargetTrackingScalingPolicyConfigurationUpdate{TargetValue: aws.Float64(70.5)},
			},
		},
		ReplicaSettingsUpdate: []types.ReplicaSettingsUpdate{{RegionName: aws.String(ireland), ReplicaProvisionedReadCapacityUnits: aws.Int64(9)}},
	})
	if err != nil || len(settings.ReplicaSettings) != 2 {
		t.Fatalf("settings: %+v, %v", settings, err)
	}
	for _, x := range settings.ReplicaSettings {
		reads := map[string]int64{virginia: 5, ireland: 9}[*x.RegionName]
		scaling := x.ReplicaProvisionedWriteCapacityAutoScalingSettings
		if *x.ReplicaProvisionedReadCapacityUnits != reads || *x.ReplicaProvisionedWriteCapacityUnits != 20 ||
			scaling == nil || *scaling.ScalingPolicies[0].TargetTrackingScalingPolicyConfiguration.TargetValue != 70.5 {
			t.Errorf("settings of %s: %+v", *x.RegionName, x)
		}
	}

	_, err = client.UpdateGlobalTable(t.Context(), &dynamodb.UpdateGlobalTableInput{
		GlobalTableName: music, ReplicaUpdates: []types.ReplicaUpdate{{Delete: &types.DeleteReplicaAction{RegionName: aws.String(ireland)}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.eventually("the other table has left", func(ctx context.Context) bool {
		_, err := r.client(ireland).DescribeGlobalTable(ctx, &dynamodb.DescribeGlobalTableInput{GlobalTableName: music})
		return hasCode(err, "GlobalTableNotFoundException", "Music")
	})
	if got := r.item(ireland, "song"); got != "1" {
		t.Errorf("the table that has left has %q", got)
	}
	_, err = client.UpdateGlobalTable(t.Context(), &dynamodb.UpdateGlobalTableInput{
		GlobalTableName: music, ReplicaUpdates: []types.ReplicaUpdate{{Delete: &types.DeleteReplicaAction{RegionName: aws.String(ireland)}}},
	})
	if !hasCode(err, "ReplicaNotFoundException", ireland) {
		t.Errorf("deleted twice: %v", err)
	}
}

// TestReplicaAutoScaling: settings of auto scaling are kept for each replica and described.
func TestReplicaAutoScaling(t *testing.T) {
	r := openRegional(t, t.TempDir(), ireland)
	defer r.close()
	r.createProvisioned(virginia, types.StreamViewTypeKeysOnly)
	client, music := r.client(virginia), aws.String("Music")
	whole := func(least, most int64) *types.AutoScalingSettingsUpdate {
		return &types.AutoScalingSettingsUpdate{
			MinimumUnits: &least, MaximumUnits: &most,
			ScalingPolicyUpdate: &types.AutoScalingPolicyUpdate{
				TargetTrackingScalingPolicyConfiguration: &types.AutoScalingTargetTrackingScalingPolicyConfigurationUpdate{TargetValue: aws.Float64(70)},
			},
		}
	}
	update := func() (*dynamodb.UpdateTableReplicaAutoScalingOutput, error) {
		return client.UpdateTableReplicaAutoScaling(t.Context(), &dynamodb.UpdateTableReplicaAutoScalingInput{
			TableName: music, ProvisionedWriteCapacityAutoScalingUpdate: whole(1, 100),
			ReplicaUpdates: []types.ReplicaAutoScalingUpdate{{
				RegionName: aws.String(ireland), ReplicaProvisionedReadCapacityAutoScalingUpdate: whole(2, 50),
			}},
		})
	}
	if _, err := update(); !hasCode(err, "ResourceNotFoundException", "does not exist") {
		t.Errorf("no replica: %v", err)
	}
	if err := r.replicate(virginia, createIn(ireland)); err != nil {
		t.Fatal(err)
	}
	r.awaitActive(virginia, ireland)
	if _, err := update(); err != nil {
		t.Fatal(err)
	}
	off := &types.AutoScalingSettingsUpdate{AutoScalingDisabled: aws.Bool(true), MaximumUnits: aws.Int64(9)}
	for part, u := range map[string]*types.AutoScalingSettingsUpdate{
		"name: ‘Music’: Parameters 'MaximumUnits', 'ScalingPolicyUpdate', 'MinimumUnits' are required unless": {},
		"name: ‘Music’: Parameters 'ScalingPolicyUpdate', 'MinimumUnits' are required unless":                 {MaximumUnits: aws.Int64(9)},
		"name ‘Music’: Parameters 'MaximumUnits' must be left blank when disabling auto scaling.":             off,
	} {
		_, err := client.UpdateTableReplicaAutoScaling(t.Context(), &dynamodb.UpdateTableReplicaAutoScalingInput{
			TableName: music, ProvisionedWriteCapacityAutoScalingUpdate: u,
		})
		if !hasCode(err, "ValidationException", part) {
			t.Errorf("%s: %v", part, err)
		}
	}
	_, err := client.UpdateTableReplicaAutoScaling(t.Context(), &dynamodb.UpdateTableReplicaAutoScalingInput{
		TableName: music, GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexAutoScalingUpdate{{
			IndexName: aws.String("nope"), ProvisionedWriteCapacityAutoScalingUpdate: whole(1, 2),
		}},
	})
	if !hasCode(err, "ResourceNotFoundException", "‘[nope]’ do not exist") {
		t.Errorf("no such index: %v", err)
	}
	out, err := r.client(ireland).DescribeTableReplicaAutoScaling(t.Context(), &dynamodb.DescribeTableReplicaAutoScalingInput{TableName: music})
	if err != nil || len(out.TableAutoScalingDescription.Replicas) != 2 {
		t.Fatalf("description: %+v, %v", out, err)
	}
	for _, x := range out.TableAutoScalingDescription.Replicas {
		reads, writes := x.ReplicaProvisionedReadCapacityAutoScalingSettings, x.ReplicaProvisionedWriteCapacityAutoScalingSettings
		scalesReads := reads.AutoScalingDisabled == nil
		if *writes.MaximumUnits != 100 || scalesReads != strings.HasPrefix(*x.RegionName, "eu") {
			t.Errorf("%s: %+v %+v", *x.RegionName, reads, writes)
		}
	}
}
