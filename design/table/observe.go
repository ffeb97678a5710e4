package table

import (
	"context"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// call counts the cost of one call of a pattern. Requests may be counted from several goroutines.
type call struct {
	observe func(context.Context, Call)
	start   time.Time

	mu   sync.Mutex
	seen Call
}

// begin starts counting for a pattern; end must follow.
func (db *DB) begin(pattern string) *call {
	return &call{observe: db.observe, start: time.Now(), seen: Call{Pattern: pattern, Attempts: 1}}
}

// capacity is the ReturnConsumedCapacity of requests: it is only requested if there is an observer.
func (c *call) capacity() types.ReturnConsumedCapacity {
	if c.observe == nil {
		return ""
	}
	return types.ReturnConsumedCapacityTotal
}

// read counts a read request, with the consumed capacity of each table in its response.
func (c *call) read(consumed ...*types.ConsumedCapacity) { c.count(consumed, &c.seen.ReadUnits) }

// wrote counts a write request, with the consumed capacity of each table in its response.
func (c *call) wrote(consumed ...*types.ConsumedCapacity) { c.count(consumed, &c.seen.WriteUnits) }

// count counts a request. Only responses of transactions distinguish read and write units; units in other responses are of the
// request's own kind.
func (c *call) count(consumed []*types.ConsumedCapacity, own *float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Requests++
	for _, units := range consumed {
		switch {
		case units == nil:
		case units.ReadCapacityUnits == nil && units.WriteCapacityUnits == nil:
			*own += aws.ToFloat64(units.CapacityUnits)
		default:
			c.seen.ReadUnits += aws.ToFloat64(units.ReadCapacityUnits)
			c.seen.WriteUnits += aws.ToFloat64(units.WriteCapacityUnits)
		}
	}
}

// end reports the call to the observer.
func (c *call) end(ctx context.Context, err error) {
	if c.observe == nil {
		return
	}
	c.mu.Lock()
	c.seen.Duration, c.seen.Err = time.Since(c.start), err
	seen := c.seen
	c.mu.Unlock()
	c.observe(ctx, seen)
}
