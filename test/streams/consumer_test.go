package streams

import (
	"context"
	"errors"
	"math/big"
	"strconv"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// consumer reads a stream of counters like AWS's client libraries: each shard from its beginning, after its parent has
// been read to its end. It checks that each count of each item comes once, in order.
type consumer struct {
	*database
	t         *testing.T
	arn       *string
	iterators map[string]*string // by shard; nil once it has been read to its end
	last      map[string]*big.Int
	counts    map[string]int
	total     int
}

func (d *database) consume(t *testing.T, arn *string) *consumer {
	t.Helper()
	return &consumer{
		database: d, t: t, arn: arn, iterators: map[string]*string{}, last: map[string]*big.Int{}, counts: map[string]int{},
	}
}

// read reads each shard that is ready to its current end.
func (c *consumer) read() {
	c.t.Helper()
	for _, shard := range c.shards(c.t, c.arn, 3) {
		if parent := shard.ParentShardId; parent != nil {
			if it, begun := c.iterators[*parent]; !begun || it != nil {
				continue
			}
		}
		it, begun := c.iterators[*shard.ShardId]
		if !begun {
			out, err := c.streams.GetShardIterator(context.WithoutCancel(c.t.Context()), &dynamodbstreams.GetShardIteratorInput{
				StreamArn: c.arn, ShardId: shard.ShardId, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
			})
			if err != nil {
				c.t.Fatal(err)
			}
			it = out.ShardIterator
		}
		c.iterators[*shard.ShardId] = c.readShard(&shard, it)
	}
}

func (c *consumer) readShard(shard *streamtypes.Shard, it *string) *string {
	c.t.Helper()
	for it != nil {
		records, next := c.records(c.t, it)
		for _, r := range records {
			if err := c.take(shard, &r); err != nil {
				c.t.Errorf("%s: record %s: %v", *shard.ShardId, *r.Dynamodb.SequenceNumber, err)
			}
		}
		if it = next; len(records) == 0 {
			break
		}
	}
	return it
}

func (c *consumer) take(shard *streamtypes.Shard, r *streamtypes.Record) error {
	number, ok := new(big.Int).SetString(*r.Dynamodb.SequenceNumber, 10)
	first, _ := new(big.Int).SetString(*shard.SequenceNumberRange.StartingSequenceNumber, 10)
	if !ok || number.Cmp(first) < 0 {
		return errors.New("its number is before the shard's first")
	}
	if end := shard.SequenceNumberRange.EndingSequenceNumber; end != nil {
		if last, _ := new(big.Int).SetString(*end, 10); number.Cmp(last) > 0 {
			return errors.New("its number is behind the shard's last")
		}
	}
	key, ok := r.Dynamodb.Keys["id"].(*streamtypes.AttributeValueMemberS)
	if !ok {
		return errors.New("it has no key")
	}
	if last := c.last[key.Value]; last != nil && number.Cmp(last) <= 0 {
		return errors.New("its number is not behind the one before it")
	}
	c.last[key.Value] = number
	c.total++
	c.counts[key.Value]++
	n, ok := r.Dynamodb.NewImage["n"].(*streamtypes.AttributeValueMemberN)
	if !ok || n.Value != strconv.Itoa(c.counts[key.Value]) {
		return errors.New("its count does not follow the one before it")
	}
	return nil
}

// writers increment items from several goroutines until stop is called, which returns the number of increments.
func (d *database) writers(t *testing.T, table string) (stop func() int) {
	t.Helper()
	const writers, items = 4, 10
	done := make(chan struct{})
	var wg sync.WaitGroup
	var counts [writers]int
	for w := range writers {
		wg.Go(func() {
			for i := w; ; i++ {
				select {
				case <-done:
					return
				default:
					d.countUp(t, table, "item"+strconv.Itoa(i%items))
					counts[w]++
				}
			}
		})
	}
	return func() int {
		close(done)
		wg.Wait()
		total := 0
		for _, n := range counts {
			total += n
		}
		return total
	}
}
