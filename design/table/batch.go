package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

const (
	// maxBatchKeys is the maximum number of keys in a BatchGetItem.
	maxBatchKeys = 100
	// maxConcurrentBatches is the maximum number of concurrent BatchGetItem requests.
	maxConcurrentBatches = 2

	// Unprocessed keys are requested again with exponential backoff, for about ten seconds in total.
	maxIdleBatches = 10
	shortestPause  = 25 * time.Millisecond
	longestPause   = 3 * time.Second
)

// Batch runs a read of one item by its primary key for several inputs. Results are in the order of the inputs, nil for an
// item that does not exist or has another owner. An item requested by several inputs is read once.
func (db *DB) Batch(ctx context.Context, r *Read, in []Input) (v []Values, err error) {
	c := db.begin(r.Pattern)
	defer func() { c.end(ctx, err) }()
	v, err = db.batch(ctx, c, r, in)
	return v, schema.Named(r.Pattern, err)
}

func (db *DB) batch(ctx context.Context, c *call, r *Read, in []Input) ([]Values, error) {
	if r.Key == nil {
		return nil, errors.New("it is served by a Query, which cannot be batched: read one item at a time")
	}
	if r.MaxKeys > 0 && len(in) > r.MaxKeys {
		return nil, fmt.Errorf("%w: there are %d, but the maximum is %d", ErrLines, len(in), r.MaxKeys)
	}
	candidates := make([]*candidate, len(in))
	keys := make([]Item, len(in))
	for i := range in {
		q, err := query.NewQuestion(r, in[i], db.now())
		if err != nil {
			return nil, err
		}
		q.Here = true // BatchGetItem has no filter
		candidates[i] = &candidate{question: q}
		if keys[i], err = r.Entity.KeyOf(r.Key, in[i].Values); err != nil {
			return nil, err
		}
	}
	items, err := db.fetch(ctx, c, r.Entity.Table, keys, r.Consistent)
	if err != nil {
		return nil, err
	}
	for i := range items {
		candidates[i].item = items[i]
	}
	if err := db.judge(ctx, c, r, r.Consistent, candidates...); err != nil {
		return nil, err
	}
	return schema.Each(candidates, func(c *candidate) Values { return c.values }), nil
}

// fetch reads items by their primary keys; missing items are nil. Equal keys are requested once.
func (db *DB) fetch(ctx context.Context, c *call, t *Table, keys []Item, consistent bool) ([]Item, error) {
	var distinct []Item
	numbers := map[string]int{} // of distinct keys
	for _, key := range keys {
		id := t.Identity(key)
		if _, met := numbers[id]; !met {
			numbers[id] = len(distinct)
			distinct = append(distinct, key)
		}
	}
	var chunks [][]Item
	for chunk := range slices.Chunk(distinct, maxBatchKeys) {
		chunks = append(chunks, chunk)
	}
	found := make([]Item, len(distinct))
	err := concurrently(ctx, len(chunks), db.atOnce(maxConcurrentBatches), func(ctx context.Context, i int) error {
		items, err := db.fetchChunk(ctx, c, t, chunks[i], consistent)
		for _, it := range items {
			if at, asked := numbers[t.Identity(it)]; asked {
				found[at] = it
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return schema.Each(keys, func(key Item) Item { return found[numbers[t.Identity(key)]] }), nil
}

// fetchChunk reads the keys of one BatchGetItem, repeating the request until all keys are processed.
func (db *DB) fetchChunk(ctx context.Context, c *call, t *Table, keys []Item, consistent bool) ([]Item, error) {
	var out []Item
	rest := map[string]types.KeysAndAttributes{*db.tableName(t): {Keys: keys, ConsistentRead: aws.Bool(consistent)}}
	for idle := 0; ; {
		response, err := db.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: rest, ReturnConsumedCapacity: c.capacity()})
		if err != nil {
			return nil, err
		}
		c.read(schema.Each(response.ConsumedCapacity, func(u types.ConsumedCapacity) *types.ConsumedCapacity { return &u })...)
		idle++
		for _, items := range response.Responses {
			out = append(out, items...)
			if len(items) > 0 {
				idle = 1
			}
		}
		if rest = response.UnprocessedKeys; len(rest) == 0 {
			return out, nil
		}
		if idle == maxIdleBatches {
			return nil, &types.ProvisionedThroughputExceededException{
				Message: aws.String(fmt.Sprintf("BatchGetItem processed none of its keys, %d times in a row", idle)),
			}
		}
		if err := pause(ctx, idle); err != nil {
			return nil, err
		}
	}
}

// pause waits before the next attempt, for a random time up to a maximum that doubles with each failed attempt.
func pause(ctx context.Context, attempts int) error {
	longest := min(shortestPause<<(attempts-1), longestPause)
	return wait(ctx, rand.N(longest)+1)
}
