package table

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/query"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// Count runs a read of many and returns the number of items. If the request selects exactly these items, DynamoDB counts them;
// otherwise the items are read and filtered. Both cost the same.
func (db *DB) Count(ctx context.Context, r *Read, in Input) (n int, err error) {
	c := db.begin(r.Pattern)
	defer func() { c.end(ctx, err) }()
	n, err = db.countItems(ctx, c, r, in)
	return n, schema.Named(r.Pattern, err)
}

func (db *DB) countItems(ctx context.Context, c *call, r *Read, in Input) (int, error) {
	q, err := query.NewQuestion(r, in, db.now())
	if err != nil {
		return 0, err
	}
	reading, err := db.query(c, q, query.OfRead(r), position{})
	if reading == nil || err != nil {
		return 0, err
	}
	if r.Select && !q.Here {
		return reading.count(ctx)
	}
	n := 0
	for !reading.done() {
		found, err := db.results(ctx, q, reading, MaxPage)
		if err != nil {
			return 0, err
		}
		n += len(found)
	}
	return n, nil
}

// count asks for the number of items, to the end of the list.
func (r *reading) count(ctx context.Context) (int, error) {
	var total atomic.Int64
	lanes, err := r.groups(math.MaxInt32)
	if err != nil {
		return 0, err
	}
	err = concurrently(ctx, len(lanes), r.db.atOnce(maxConcurrentQueries), func(ctx context.Context, i int) error {
		request := lanes[i].request
		request.Select = types.SelectCount
		for {
			response, err := r.db.client.Query(ctx, &request)
			if err != nil {
				return err
			}
			r.call.read(response.ConsumedCapacity)
			total.Add(int64(response.Count))
			if request.ExclusiveStartKey = response.LastEvaluatedKey; len(request.ExclusiveStartKey) == 0 {
				return nil
			}
		}
	})
	return int(total.Load()), err
}
