package streams

import (
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable"
)

// TestShards writes while shards are rotated three times, and split because a burst of writes exceeds 1000 records per
// second; a consumer that follows the lineage sees every change once, in order for each item.
func TestShards(t *testing.T) {
	d := inMemory(t, monotable.Options{StreamShards: 2, StreamShardRotation: 10 * time.Minute})
	arn := d.create(t, "Counters")
	c := d.consume(t, arn)
	stop := d.writers(t, "Counters")
	known := 2
	for range 3 {
		d.clock.advance(10 * time.Minute)
		eventually(t, func() bool { c.read(); return len(d.shards(t, arn, 100)) == known+2 })
		known += 2
	}
	// Within ten seconds of the database's clock, which measures the load.
	for i := range 1000 {
		d.putMany(t, "Counters", i)
	}
	d.clock.advance(10 * time.Second)
	eventually(t, func() bool { c.read(); return len(d.shards(t, arn, 100)) >= known+2 })
	written := stop() + 1000*itemsTogether
	eventually(t, func() bool { c.read(); return c.total >= written })
	if c.total != written {
		t.Errorf("%d records were delivered, %d were written", c.total, written)
	}
	d.checkLineage(t, arn)
}

const itemsTogether = 25

// putMany writes items that no other write touches.
func (d *database) putMany(t *testing.T, table string, batch int) {
	t.Helper()
	requests := make([]types.WriteRequest, itemsTogether)
	for i := range requests {
		requests[i].PutRequest = &types.PutRequest{Item: map[string]types.AttributeValue{
			"id": &types.AttributeValueMemberS{Value: "burst" + strconv.Itoa(batch*itemsTogether+i)},
			"n":  &types.AttributeValueMemberN{Value: "1"},
		}}
	}
	_, err := d.BatchWriteItem(t.Context(), &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: requests}})
	if err != nil {
		t.Fatal(err)
	}
}

// checkLineage looks at each shard's parent, and asks for its children.
func (d *database) checkLineage(t *testing.T, arn *string) {
	t.Helper()
	byID, children := map[string]streamtypes.Shard{}, map[string]int{}
	for _, x := range d.shards(t, arn, 4) {
		if x.ParentShardId != nil {
			parent, ok := byID[*x.ParentShardId]
			if !ok {
				t.Errorf("%s stands before its parent", *x.ShardId)
				continue
			}
			if end := parent.SequenceNumberRange.EndingSequenceNumber; end == nil || *end >= *x.SequenceNumberRange.StartingSequenceNumber {
				t.Errorf("%s begins before its parent has ended", *x.ShardId)
			}
			children[*x.ParentShardId]++
		}
		byID[*x.ShardId] = x
	}
	split := 0
	for id, x := range byID {
		out, err := d.streams.DescribeStream(t.Context(), &dynamodbstreams.DescribeStreamInput{
			StreamArn: arn, ShardFilter: &streamtypes.ShardFilter{Type: streamtypes.ShardFilterTypeChildShards, ShardId: &id},
		})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(out.StreamDescription.Shards); n != children[id] || (n == 0) != (x.SequenceNumberRange.EndingSequenceNumber == nil) {
			t.Errorf("%s: %d children, %d name it, %+v", id, n, children[id], x.SequenceNumberRange)
		}
		if children[id] == 2 {
			split++
		}
	}
	if split == 0 {
		t.Error("no shard was split")
	}
}

// TestRestart resumes with an iterator, and with a sequence number, after a restart of the server.
func TestRestart(t *testing.T) {
	dir, clock := t.TempDir(), newClock()
	d := onDisk(t, dir, clock)
	arn := d.create(t, "Counters")
	d.countUp(t, "Counters", "a")
	d.countUp(t, "Counters", "a")
	it, err := d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeTrimHorizon)
	if err != nil {
		t.Fatal(err)
	}
	before, it := d.records(t, it)
	d.countUp(t, "Counters", "a")
	d.stop()

	d = onDisk(t, dir, clock)
	defer d.stop()
	d.countUp(t, "Counters", "a")
	after, _ := d.records(t, it)
	if len(before) != 2 || len(after) != 2 || *before[1].Dynamodb.SequenceNumber >= *after[0].Dynamodb.SequenceNumber {
		t.Errorf("%d records before the restart, %d after it", len(before), len(after))
	}
	it, err = d.iterator(t, arn, 0, streamtypes.ShardIteratorTypeAfterSequenceNumber, func(in *dynamodbstreams.GetShardIteratorInput) {
		in.SequenceNumber = before[0].Dynamodb.SequenceNumber
	})
	if err != nil {
		t.Fatal(err)
	}
	again, _ := d.records(t, it)
	if len(again) != 3 || *again[0].EventID != *before[1].EventID || *again[2].EventID != *after[1].EventID {
		t.Errorf("after the first record %d come, or others than before", len(again))
	}
}
