package lambdahttp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/monotabletest"
	"github.com/monotable/monotable/systems/internal/lambdahttp"
	"github.com/monotable/monotable/systems/internal/system"
)

// notes is a database with a table that has a stream.
type notes struct {
	db      *monotable.DB
	advance func(time.Duration)
	arn     string
}

func openNotes(t *testing.T) notes {
	t.Helper()
	var passed atomic.Int64
	begun := time.Now()
	db := monotabletest.NewWith(t, &monotable.Options{
		Now: func() time.Time { return begun.Add(time.Duration(passed.Load())) }, StreamShardRotation: -1,
	})
	out, err := db.Client().CreateTable(t.Context(), &dynamodb.CreateTableInput{
		TableName:            aws.String("notes"),
		AttributeDefinitions: []dynamodbtypes.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: dynamodbtypes.ScalarAttributeTypeS}},
		KeySchema:            []dynamodbtypes.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: dynamodbtypes.KeyTypeHash}},
		BillingMode:          dynamodbtypes.BillingModePayPerRequest,
		StreamSpecification: &dynamodbtypes.StreamSpecification{
			StreamEnabled: aws.Bool(true), StreamViewType: dynamodbtypes.StreamViewTypeNewAndOldImages,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return notes{db, func(d time.Duration) { passed.Add(int64(d)) }, *out.TableDescription.LatestStreamArn}
}

// write puts notes of a size and returns their records from the shard that has the most.
func (n notes) write(t *testing.T, from, to, size int) (shard string, records []types.Record) {
	t.Helper()
	for i := from; i < to; i++ {
		item := map[string]dynamodbtypes.AttributeValue{
			"id":   &dynamodbtypes.AttributeValueMemberS{Value: fmt.Sprint(i)},
			"text": &dynamodbtypes.AttributeValueMemberS{Value: strings.Repeat("x", size)},
		}
		if _, err := n.db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("notes"), Item: item}); err != nil {
			t.Fatal(err)
		}
	}
	described, err := n.db.StreamsClient().DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{StreamArn: &n.arn})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range described.StreamDescription.Shards {
		out, err := n.db.StreamsClient().GetShardIterator(t.Context(), &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &n.arn, ShardId: s.ShardId, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
		})
		if err != nil {
			t.Fatal(err)
		}
		var all []types.Record
		for at := out.ShardIterator; at != nil; {
			page, err := n.db.StreamsClient().GetRecords(t.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: at})
			if err != nil {
				t.Fatal(err)
			}
			if len(page.Records) == 0 {
				break
			}
			all, at = append(all, page.Records...), page.NextShardIterator
		}
		if len(all) > len(records) {
			shard, records = *s.ShardId, all
		}
	}
	return shard, records
}

// numbers returns the sequence numbers of records.
func numbers(records []types.Record) (out []string) {
	for _, r := range records {
		out = append(out, *r.Dynamodb.SequenceNumber)
	}
	return out
}

// messages returns a queue's event.
func messages(bodies ...string) []byte {
	list := []map[string]string{}
	for i, body := range bodies {
		list = append(list, map[string]string{"messageId": fmt.Sprint("m-", i), "eventSource": "aws:sqs", "body": body})
	}
	text, _ := json.Marshal(map[string]any{"Records": list}) // a map of strings
	return text
}

// gaveUp returns Lambda's message about a failed batch.
func gaveUp(arn, shard, first, last string) string {
	return fmt.Sprintf(`{"requestContext":{"condition":"RetryAttemptsExhausted"},"version":"1.0","DDBStreamBatchInfo":{"shardId":%q,`+
		`"startSequenceNumber":%q,"endSequenceNumber":%q,"batchSize":1,"streamArn":%q}}`, shard, first, last, arn)
}

// TestRedrive: exactly the records of a failed batch are read from the stream and handled again. The message stays in the queue
// while that fails.
func TestRedrive(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		written, size int
	}{
		{"small", 40, 10},
		{"several pages", 12, 300 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := openNotes(t)
			shard, records := n.write(t, 0, c.written, c.size)
			if len(records) < 6 {
				t.Fatalf("%d records in one shard", len(records))
			}
			var got []string
			var fails error
			h := lambdahttp.New(nil, []system.Stream{
				{Name: "one", Table: "notes", Handle: func(_ context.Context, b consumer.Batch) error {
					if b.Stream != n.arn || b.Shard != shard {
						t.Errorf("the batch is of %s, %s", b.Stream, b.Shard)
					}
					got = append(got, numbers(b.Records)...)
					return fails
				}},
				{Name: "publish", Table: "notes", EveryProcess: true, Handle: func(context.Context, consumer.Batch) error { return errors.New("nobody is connected") }},
			}).Redriving(n.db.StreamsClient())
			all := numbers(records)
			for _, bounds := range [][2]int{{0, 1}, {2, 5}, {len(all) - 1, len(all)}, {0, len(all)}} {
				want := all[bounds[0]:bounds[1]]
				message := messages(gaveUp(n.arn, shard, want[0], want[len(want)-1]))
				got, fails = nil, errors.New("not yet")
				if _, err := h.Invoke(t.Context(), message); !errors.Is(err, fails) {
					t.Errorf("%v, want the handler's error, so that the message stays", err)
				}
				got, fails = nil, nil
				if _, err := h.Invoke(t.Context(), message); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v: handled %v, want %v", err, got, want)
				}
			}
			got = nil
			if _, err := h.Invoke(t.Context(), messages("nonsense", gaveUp(n.arn, shard, all[1], all[1]))); err == nil || !slices.Equal(got, all[1:2]) {
				t.Errorf("%v: behind a message of nothing, handled %v", err, got)
			}
			if c.written == 40 {
				refusedMessages(t, h, n.arn, shard, all)
			}
		})
	}
}

// refusedMessages must be rejected with a reason, without handling anything.
func refusedMessages(t *testing.T, h *lambdahttp.Handler, arn, shard string, all []string) {
	t.Helper()
	last := all[len(all)-1]
	for body, want := range map[string]string{
		`{}`: "not about a failed batch",
		`[]`: "not about a failed batch",
		`{"DDBStreamBatchInfo":{"shardId":"s","streamArn":"a"}}`:                 "not about a failed batch",
		gaveUp(arn, shard, "x", last):                                            "not about a failed batch",
		gaveUp(arn, shard, "-1", last):                                           "not about a failed batch",
		gaveUp(arn, shard, all[0], strings.Repeat("9", 41)):                      "not about a failed batch",
		gaveUp(arn, shard, last, all[0]):                                         "not about a failed batch",
		gaveUp(arn, shard, last, strings.Repeat("9", len(last))):                 "no record at the batch's end",
		gaveUp(arn, "shardId-00000001000000000000-00000000", all[0], all[0]):     "have expired",
		gaveUp(strings.Replace(arn, "notes", "other", 1), shard, all[0], all[0]): `no worker follows table "other"`,
	} {
		if _, err := h.Invoke(t.Context(), messages(body)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", body, err, want)
		}
	}
	none := lambdahttp.New(nil, []system.Stream{{Name: "one", Table: "notes"}})
	if _, err := none.Invoke(t.Context(), messages(gaveUp(arn, shard, all[0], all[0]))); err == nil || !strings.Contains(err.Error(), "no client") {
		t.Errorf("without a client: %v", err)
	}
}

// TestOldRecordsStayInQueue: if the first records of a batch are older than a day, the others are handled, and the message stays in the
// queue for an operator.
func TestOldRecordsStayInQueue(t *testing.T) {
	t.Parallel()
	if os.Getenv(monotabletest.StoreVariable) != "" {
		t.Skip("the store has a clock of its own, which cannot be set forward")
	}
	n := openNotes(t)
	_, before := n.write(t, 0, 30, 10)
	n.advance(25 * time.Hour)
	shard, after := n.write(t, 30, 60, 10)
	if len(before) == 0 || len(after) == 0 || slices.Contains(numbers(after), numbers(before)[0]) {
		t.Fatalf("%d records before, %d after", len(before), len(after))
	}
	var got []string
	h := lambdahttp.New(nil, []system.Stream{{Name: "one", Table: "notes", Handle: func(_ context.Context, b consumer.Batch) error {
		got = append(got, numbers(b.Records)...)
		return nil
	}}}).Redriving(n.db.StreamsClient())
	left := numbers(after)
	if _, err := h.Invoke(t.Context(), messages(gaveUp(n.arn, shard, numbers(before)[0], left[2]))); err == nil || !strings.Contains(err.Error(), "have expired") {
		t.Errorf("%v, want that records have expired", err)
	}
	if !slices.Equal(got, left[:3]) {
		t.Errorf("handled %v, want the remaining %v", got, left[:3])
	}
}
