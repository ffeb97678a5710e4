package engine_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine"
)

// consumer reads a stream like clients: only shards whose parents it has read to the end.
type consumer struct {
	t         *testing.T
	e         *engine.Engine
	arn       *string
	iterators map[string]*string // by shard; nil once it has been read to its end
	counts    map[string]int     // by item
	events    map[string]bool
}

func newConsumer(t *testing.T, e *engine.Engine) *consumer {
	t.Helper()
	out, err := e.ListStreams(t.Context(), &api.ListStreamsInput{TableName: new("Music")})
	if err != nil || len(out.Streams) == 0 {
		t.Fatal(out, err)
	}
	return &consumer{
		t: t, e: e, arn: out.Streams[len(out.Streams)-1].StreamArn,
		iterators: map[string]*string{}, counts: map[string]int{}, events: map[string]bool{},
	}
}

// shards returns all shards, a page at a time.
func (c *consumer) shards() (shards []api.Shard) {
	c.t.Helper()
	in := &api.DescribeStreamInput{StreamArn: c.arn, Limit: new(int64(7))}
	for {
		out, err := c.e.DescribeStream(context.Background(), in)
		if err != nil {
			c.t.Error(err)
			return shards
		}
		shards = append(shards, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			return shards
		}
	}
}

// read reads every available shard to its current end once.
func (c *consumer) read() {
	c.t.Helper()
	for _, shard := range c.shards() {
		if shard.ParentShardId != nil {
			if it, begun := c.iterators[*shard.ParentShardId]; !begun || it != nil {
				continue
			}
		}
		it, begun := c.iterators[*shard.ShardId]
		if !begun {
			out, err := c.e.GetShardIterator(context.Background(), &api.GetShardIteratorInput{
				StreamArn: c.arn, ShardId: shard.ShardId, ShardIteratorType: new("TRIM_HORIZON"),
			})
			if err != nil {
				c.t.Error(err)
				return
			}
			it = out.ShardIterator
		}
		c.iterators[*shard.ShardId] = c.readShard(it)
	}
}

func (c *consumer) readShard(it *string) *string {
	c.t.Helper()
	for it != nil {
		out, err := c.e.GetRecords(context.Background(), &api.GetRecordsInput{ShardIterator: it, Limit: new(int64(11))})
		if err != nil {
			c.t.Error(err)
			return it
		}
		for i := range out.Records {
			c.take(&out.Records[i])
		}
		if it = out.NextShardIterator; len(out.Records) == 0 {
			break
		}
	}
	return it
}

func (c *consumer) take(r *api.Record) {
	c.t.Helper()
	image, err := r.Dynamodb.NewImage.Decode()
	if err != nil {
		c.t.Error(err)
		return
	}
	pk, _ := image.Get("pk")
	n, _ := image.Get("n")
	c.counts[pk.Text()]++
	if n.Text() != strconv.Itoa(c.counts[pk.Text()]) {
		c.t.Errorf("%s: %s is change %d", pk.Text(), n.Text(), c.counts[pk.Text()])
	}
	if c.events[*r.EventID] {
		c.t.Errorf("event %s was delivered twice", *r.EventID)
	}
	c.events[*r.EventID] = true
}

// check reads the rest, until as many records have arrived as were written.
func (c *consumer) check(want int) {
	c.t.Helper()
	for range 1000 {
		if len(c.events) >= want {
			break
		}
		c.read()
	}
	if len(c.events) != want {
		c.t.Errorf("%d records were delivered, want %d", len(c.events), want)
	}
}
