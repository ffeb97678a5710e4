// Package streams reads the streams of a database over a socket with the AWS SDK's client, like a consumer in production,
// while the test controls the database's clock.
package streams

import (
	"context"
	"errors"
	"net/http/httptest"
	"sync/atomic"
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

// patience is how long a test waits for the server's background work.
const patience = 2 * time.Minute

// database is a server on a socket, its two clients, and its clock.
type database struct {
	*dynamodb.Client
	streams *dynamodbstreams.Client
	clock   *clock
	stop    func()
}

// clock only moves by advance.
type clock struct{ ms atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.ms.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

func (c *clock) now() time.Time          { return time.UnixMilli(c.ms.Load()) }
func (c *clock) advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// inMemory serves an empty database for the duration of the test.
func inMemory(t *testing.T, o monotable.Options) *database {
	t.Helper()
	c := newClock()
	o.Now = c.now
	db, err := monotable.OpenMemory(&o)
	if err != nil {
		t.Fatal(err)
	}
	d := serve(t, db, c)
	t.Cleanup(d.stop)
	return d
}

// onDisk serves the database in dir until stop is called.
func onDisk(t *testing.T, dir string, c *clock) *database {
	t.Helper()
	db, err := monotable.Open(dir, &monotable.Options{Now: c.now, Durability: monotable.DurabilityNone})
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, db, c)
}

func serve(t *testing.T, db *monotable.DB, c *clock) *database {
	t.Helper()
	server := httptest.NewServer(db.Handler())
	key := credentials.NewStaticCredentialsProvider("key", "secret", "")
	return &database{
		Client:  dynamodb.New(dynamodb.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: key}),
		streams: dynamodbstreams.New(dynamodbstreams.Options{Region: "us-east-1", BaseEndpoint: &server.URL, Credentials: key, RetryMaxAttempts: 1}),
		clock:   c,
		stop: func() {
			server.Close()
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		},
	}
}

// create creates a table of counters with a stream, and returns the stream's ARN.
func (d *database) create(t *testing.T, table string) *string {
	t.Helper()
	out, err := d.CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            &table,
		BillingMode:          types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		StreamSpecification:  streamOn(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.TableDescription.LatestStreamArn
}

func streamOn() *types.StreamSpecification {
	return &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
}

// countUp increments the counter of an item.
func (d *database) countUp(t *testing.T, table, id string) {
	t.Helper()
	_, err := d.UpdateItem(context.WithoutCancel(t.Context()), &dynamodb.UpdateItemInput{
		TableName: &table, Key: map[string]types.AttributeValue{"id": &types.AttributeValueMemberS{Value: id}},
		UpdateExpression:          aws.String("ADD n :one"),
		ExpressionAttributeValues: map[string]types.AttributeValue{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	if err != nil {
		t.Error(err)
	}
}

// shards are all shards of a stream, read in pages of a size.
func (d *database) shards(t *testing.T, arn *string, page int32) []streamtypes.Shard {
	t.Helper()
	var shards []streamtypes.Shard
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: arn, Limit: &page}
	for {
		out, err := d.streams.DescribeStream(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		shards = append(shards, out.StreamDescription.Shards...)
		in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId
		if in.ExclusiveStartShardId == nil {
			return shards
		}
	}
}

func (d *database) iterator(t *testing.T, arn *string, shard int, kind streamtypes.ShardIteratorType, edit ...func(*dynamodbstreams.GetShardIteratorInput)) (*string, error) {
	t.Helper()
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: arn, ShardId: d.shards(t, arn, 100)[shard].ShardId, ShardIteratorType: kind,
	}
	for _, e := range edit {
		e(in)
	}
	out, err := d.streams.GetShardIterator(t.Context(), in)
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// records reads one page.
func (d *database) records(t *testing.T, iterator *string) (records []streamtypes.Record, next *string) {
	t.Helper()
	out, err := d.streams.GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: iterator})
	if err != nil {
		t.Fatal(err)
	}
	return out.Records, out.NextShardIterator
}

// refused checks the code of an error.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	var e smithy.APIError
	if !errors.As(err, &e) || e.ErrorCode() != code {
		t.Errorf("%v, want %s", err, code)
	}
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	deadline := time.After(patience)
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !what() {
		select {
		case <-deadline:
			t.Fatal("it did not happen in time")
		case <-again.C:
		}
	}
}
