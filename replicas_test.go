package monotable_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable"
)

const (
	virginia = "us-east-1"
	ireland  = "eu-west-1"
)

// eventually calls is until it returns true.
func (r *regional) eventually(what string, is func(ctx context.Context) bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	for !is(ctx) {
		if ctx.Err() != nil {
			r.Fatalf("not within 30 s: %s", what)
		}
	}
}

func (r *regional) describe(region string) *types.TableDescription {
	r.Helper()
	out, err := r.client(region).DescribeTable(r.Context(), &dynamodb.DescribeTableInput{TableName: aws.String("Music")})
	if err != nil {
		r.Fatal(err)
	}
	return out.Table
}

func (r *regional) awaitActive(regions ...string) {
	r.Helper()
	for _, region := range regions {
		r.eventually(region+" is ACTIVE", func(context.Context) bool { return r.describe(region).TableStatus == types.TableStatusActive })
	}
}

func (r *regional) replicate(from string, u ...types.ReplicationGroupUpdate) error {
	r.Helper()
	_, err := r.client(from).UpdateTable(r.Context(), &dynamodb.UpdateTableInput{TableName: aws.String("Music"), ReplicaUpdates: u})
	return err
}

func createIn(region string) types.ReplicationGroupUpdate {
	return types.ReplicationGroupUpdate{Create: &types.CreateReplicationGroupMemberAction{RegionName: &region}}
}

func deleteIn(region string) types.ReplicationGroupUpdate {
	return types.ReplicationGroupUpdate{Delete: &types.DeleteReplicationGroupMemberAction{RegionName: &region}}
}

func (r *regional) putItem(region, pk, v string, more map[string]types.AttributeValue) {
	r.Helper()
	item := map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}, "v": &types.AttributeValueMemberS{Value: v}}
	maps.Copy(item, more)
	if _, err := r.client(region).PutItem(r.Context(), &dynamodb.PutItemInput{TableName: aws.String("Music"), Item: item}); err != nil {
		r.Fatal(err)
	}
}

// item returns the attribute v of an item, or "".
func (r *regional) item(region, pk string) string {
	r.Helper()
	out, err := r.client(region).GetItem(r.Context(), &dynamodb.GetItemInput{
		TableName: aws.String("Music"), ConsistentRead: aws.Bool(true),
		Key: map[string]types.AttributeValue{"pk": &types.AttributeValueMemberS{Value: pk}},
	})
	if err != nil {
		r.Fatal(err)
	}
	v, _ := out.Item["v"].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// records returns the changes in a Region's stream, in order.
func (r *regional) records(region string) []streamtypes.Record {
	r.Helper()
	client := dynamodbstreams.New(dynamodbstreams.Options{
		BaseEndpoint: &r.url, Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
	stream := r.describe(region).LatestStreamArn
	described, err := client.DescribeStream(r.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: stream})
	if err != nil {
		r.Fatal(err)
	}
	var all []streamtypes.Record
	for _, shard := range described.StreamDescription.Shards {
		it, err := client.GetShardIterator(r.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: stream, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			r.Fatal(err)
		}
		out, err := client.GetRecords(r.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: it.ShardIterator})
		if err != nil {
			r.Fatal(err)
		}
		all = append(all, out.Records...)
	}
	return all
}

func hasCode(err error, code, part string) bool {
	var known smithy.APIError
	return errors.As(err, &known) && known.ErrorCode() == code && strings.Contains(known.ErrorMessage(), part)
}

// TestGlobalTable tests a table in two Regions, over a socket with the SDK, across a restart.
func TestGlobalTable(t *testing.T) {
	dir := t.TempDir()
	r := openRegional(t, dir, ireland)
	r.create(virginia)
	if err := r.replicate(virginia, createIn("sa-east-1")); !hasCode(err, "ValidationException", "--regions") {
		t.Errorf("a Region that is not served: %v", err)
	}
	if err := r.replicate(virginia, createIn(ireland)); err != nil {
		t.Fatal(err)
	}
	r.awaitActive(virginia, ireland)
	if d := r.describe(ireland); aws.ToString(d.GlobalTableVersion) != "2019.11.21" || len(d.Replicas) != 1 || *d.Replicas[0].RegionName != virginia ||
		d.Replicas[0].ReplicaStatus != types.ReplicaStatusActive || d.MultiRegionConsistency != "" {
		t.Errorf("in the new replica: %+v", d)
	}
	if got, err := where(t.Context(), r.client(ireland), "Music"); err != nil || got != virginia {
		t.Errorf("an item from before: %q, %v", got, err)
	}

	r.putItem(ireland, "song", "1", nil)
	r.eventually("a write is replicated", func(context.Context) bool { return r.item(virginia, "song") == "1" })
	r.putItem(virginia, "song", "2", nil)
	r.eventually("the other way", func(context.Context) bool { return r.item(ireland, "song") == "2" })

	r.testGlobalSettings()
	r.testGlobalExpiry()

	r.close()
	r = openRegional(t, dir, ireland)
	r.putItem(ireland, "song", "3", nil)
	r.eventually("replication goes on after a restart", func(context.Context) bool { return r.item(virginia, "song") == "3" })

	if err := r.replicate(ireland, deleteIn(virginia)); !hasCode(err, "ValidationException", "source region") {
		t.Errorf("a replica that was just a source: %v", err)
	}
	r.putItem(ireland, "song", "last words", nil)
	if err := r.replicate(virginia, deleteIn(ireland)); err != nil {
		t.Fatal(err)
	}
	r.eventually("the replica is gone", func(ctx context.Context) bool {
		_, err := r.client(ireland).DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String("Music")})
		return hasCode(err, "ResourceNotFoundException", "")
	})
	r.awaitActive(virginia)
	if d := r.describe(virginia); d.Replicas != nil || d.GlobalTableVersion != nil || d.MultiRegionConsistency != "" {
		t.Errorf("a table whose replica was deleted: %+v", d)
	}
	if got := r.item(virginia, "song"); got != "last words" {
		t.Errorf("the last value in the deleted replica: %q", got)
	}
	r.close()
	findings := func(f monotable.Finding) { t.Errorf("%+v", f) }
	if _, err := monotable.Verify(t.Context(), dir, nil, findings, nil); err != nil {
		t.Error(err)
	}
}

// testGlobalSettings: an index and time to live are added in both Regions; the stream cannot be disabled.
func (r *regional) testGlobalSettings() {
	r.Helper()
	_, err := r.client(ireland).UpdateTable(r.Context(), &dynamodb.UpdateTableInput{
		TableName:            aws.String("Music"),
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("v"), AttributeType: types.ScalarAttributeTypeS}},
		GlobalSecondaryIndexUpdates: []types.GlobalSecondaryIndexUpdate{{Create: &types.CreateGlobalSecondaryIndexAction{
			IndexName: aws.String("byV"), KeySchema: []types.KeySchemaElement{{AttributeName: aws.String("v"), KeyType: types.KeyTypeHash}},
			Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll},
		}}},
	})
	if err != nil {
		r.Fatal(err)
	}
	r.awaitActive(virginia, ireland)
	for _, region := range []string{virginia, ireland} {
		out, err := r.client(region).Scan(r.Context(), &dynamodb.ScanInput{TableName: aws.String("Music"), IndexName: aws.String("byV")})
		if err != nil || out.Count != 1 {
			r.Errorf("index in %s: %+v, %v", region, out, err)
		}
	}
	_, err = r.client(virginia).UpdateTable(r.Context(), &dynamodb.UpdateTableInput{
		TableName: aws.String("Music"), StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(false)},
	})
	if !hasCode(err, "ValidationException", "Disabling Stream is not allowed") {
		r.Errorf("the stream of a replica: %v", err)
	}
	_, err = r.client(virginia).UpdateTimeToLive(r.Context(), &dynamodb.UpdateTimeToLiveInput{
		TableName:               aws.String("Music"),
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("end"), Enabled: aws.Bool(true)},
	})
	if err != nil {
		r.Fatal(err)
	}
	for _, region := range []string{virginia, ireland} {
		r.eventually("time to live in "+region, func(ctx context.Context) bool {
			out, err := r.client(region).DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: aws.String("Music")})
			return err == nil && out.TimeToLiveDescription.TimeToLiveStatus == types.TimeToLiveStatusEnabled
		})
	}
}

// testGlobalExpiry: an expired item is deleted in both Regions, by TTL in one and by replication in the other; no item has
// replication attributes.
func (r *regional) testGlobalExpiry() {
	r.Helper()
	past := fmt.Sprint(time.Now().Add(-time.Hour).Unix())
	r.putItem(virginia, "brief", "1", map[string]types.AttributeValue{"end": &types.AttributeValueMemberN{Value: past}})
	byTTL := func(records []streamtypes.Record) (removals, expiries int) {
		for _, x := range records {
			for name := range x.Dynamodb.NewImage {
				if strings.HasPrefix(name, "aws:") {
					r.Errorf("a record has the attribute %s", name)
				}
			}
			if x.EventName != streamtypes.OperationTypeRemove {
				continue
			}
			removals++
			if x.UserIdentity != nil {
				expiries++
			}
		}
		return removals, expiries
	}
	r.eventually("the item expires in both Regions", func(context.Context) bool {
		removals, expiries := byTTL(append(r.records(virginia), r.records(ireland)...))
		return removals == 2 && expiries == 1
	})
}
