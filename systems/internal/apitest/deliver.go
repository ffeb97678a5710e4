package apitest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/system"
)

// Deliver passes all stream records, from the beginning, to the system's consumers, except those that run in every process, as a
// worker or as Lambda events would. Another call delivers them again.
func (v *Server) Deliver(tb testing.TB) {
	tb.Helper()
	if v.Built() {
		v.deliverEvents(tb)
		return
	}
	for _, follower := range v.Host.Service(v.system.Name).Streams {
		if follower.EveryProcess {
			continue // it notifies connected clients, of which there are none
		}
		for _, batch := range v.Batches(tb, follower.Table) {
			if v.transport == Lambda {
				v.deliver(tb, batch)
				continue
			}
			err := follower.Handle(tb.Context(), batch)
			for errors.Is(err, table.ErrConflict) { // concurrent deliveries on a busy machine; a worker repeats the batch, too
				err = follower.Handle(tb.Context(), batch)
			}
			if err != nil {
				tb.Fatalf("%s: %v", follower.Name, err)
			}
		}
	}
}

// Tick runs the system's schedules once, as a worker or as Lambda events would.
func (v *Server) Tick(tb testing.TB) {
	tb.Helper()
	for _, s := range v.Host.Service(v.system.Name).Schedules {
		var err error
		if v.transport == Lambda {
			_, err = v.lambda.Invoke(tb.Context(), fmt.Appendf(nil, `{"schedule":%q}`, s.Name))
		} else {
			err = s.Run(tb.Context())
		}
		if err != nil {
			tb.Fatalf("%s: %v", s.Name, err)
		}
	}
}

// deliverEvents passes the records of every table with a stream to the binary, which knows their consumers.
func (v *Server) deliverEvents(tb testing.TB) {
	tb.Helper()
	if !deployed.follows() {
		return // all consumers run in every process, for its connected clients
	}
	for _, t := range v.system.Tables(stage) {
		if t.Create.StreamSpecification == nil {
			continue
		}
		for _, batch := range v.Batches(tb, *t.Create.TableName) {
			v.deliver(tb, batch)
		}
	}
}

// deliver sends a batch as an event, and then its location, as a dead-letter queue does.
func (v *Server) deliver(tb testing.TB, batch consumer.Batch) {
	tb.Helper()
	event, err := consumer.MarshalEvent(batch)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := v.lambda.Invoke(tb.Context(), event); err != nil {
		tb.Fatalf("%s: %v", batch.Shard, err)
	}
	if err := v.Redrive(tb.Context(), tb, batch); err != nil {
		tb.Fatalf("%s, redriven: %v", batch.Shard, err)
	}
}

// Redrive sends the location of a failed batch to Lambda's handler. After an error the message stays in its queue.
func (v *Server) Redrive(ctx context.Context, tb testing.TB, batch consumer.Batch) error {
	tb.Helper()
	if !v.Built() {
		streams := v.Host.Service(v.system.Name).Streams
		i := slices.IndexFunc(streams, func(s system.Stream) bool {
			return !s.EveryProcess && strings.Contains(batch.Stream, ":table/"+s.Table+"/")
		})
		if i >= 0 {
			ctx = context.WithValue(ctx, functionKey{}, redriving+streams[i].Name)
		}
	}
	_, err := v.lambda.Invoke(ctx, givenUp(tb, batch))
	return err
}

// givenUp returns a queue event with Lambda's message about a failed batch.
func givenUp(tb testing.TB, batch consumer.Batch) []byte {
	tb.Helper()
	type object = map[string]any
	encode := func(of any) []byte {
		text, err := json.Marshal(of)
		if err != nil {
			tb.Fatal(err)
		}
		return text
	}
	first, last := batch.Records[0].Dynamodb, batch.Records[len(batch.Records)-1].Dynamodb
	message := encode(object{
		"requestContext": object{
			"requestId": "b1", "functionArn": "arn:aws:lambda:us-east-1:000000000000:function:test", "condition": "RetryAttemptsExhausted",
			"approximateInvokeCount": 11,
		},
		"responseContext": object{"statusCode": http.StatusOK, "executedVersion": "1", "functionError": "Unhandled"},
		"version":         "1.0", "timestamp": first.ApproximateCreationDateTime,
		"DDBStreamBatchInfo": object{
			"shardId": batch.Shard, "startSequenceNumber": first.SequenceNumber, "endSequenceNumber": last.SequenceNumber,
			"approximateArrivalOfFirstRecord": first.ApproximateCreationDateTime, "approximateArrivalOfLastRecord": last.ApproximateCreationDateTime,
			"batchSize": len(batch.Records), "streamArn": batch.Stream,
		},
	})
	return encode(object{"Records": []object{{
		"messageId": "m1", "receiptHandle": "r1", "body": string(message), "eventSource": "aws:sqs",
		"eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:failures", "awsRegion": "us-east-1",
	}}})
}

// Batches returns all records of a table's stream, one batch per non-empty shard.
func (v *Server) Batches(tb testing.TB, table string) []consumer.Batch {
	tb.Helper()
	described, err := v.Database.DynamoDB.DescribeTable(tb.Context(), &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		tb.Fatal(err)
	}
	stream := described.Table.LatestStreamArn
	if stream == nil {
		tb.Fatalf("table %s has no stream", table)
	}
	var batches []consumer.Batch
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: stream}
	for {
		out, err := v.Database.Streams.DescribeStream(tb.Context(), in)
		if err != nil {
			tb.Fatal(err)
		}
		for _, shard := range out.StreamDescription.Shards {
			if records := v.records(tb, *stream, *shard.ShardId); len(records) > 0 {
				batches = append(batches, consumer.Batch{Stream: *stream, Shard: *shard.ShardId, Records: records})
			}
		}
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return batches
		}
	}
}

// records returns a shard's records up to the first empty page.
func (v *Server) records(tb testing.TB, stream, shard string) []types.Record {
	tb.Helper()
	iterator, err := v.Database.Streams.GetShardIterator(tb.Context(), &dynamodbstreams.GetShardIteratorInput{
		StreamArn: &stream, ShardId: &shard, ShardIteratorType: types.ShardIteratorTypeTrimHorizon,
	})
	if err != nil {
		tb.Fatal(err)
	}
	var records []types.Record
	for next := iterator.ShardIterator; next != nil; {
		page, err := v.Database.Streams.GetRecords(tb.Context(), &dynamodbstreams.GetRecordsInput{ShardIterator: next})
		if err != nil {
			tb.Fatal(err)
		}
		if len(page.Records) == 0 {
			break
		}
		records = append(records, page.Records...)
		next = page.NextShardIterator
	}
	return records
}

// eventually is how long Eventually waits, which is more than any worker needs.
const eventually = 30 * time.Second

// Eventually waits for a condition that a worker will bring about.
func Eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	deadline, tick := time.NewTimer(eventually), time.NewTicker(2*time.Millisecond)
	defer deadline.Stop()
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline.C:
			tb.Fatalf("not done within %v: %s", eventually, what)
		}
	}
}
