package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a table at an endpoint.
type Table struct {
	Description *types.TableDescription
	// TTLAttr is the TTL attribute; "" if there is none, or if the caller is not allowed to ask.
	TTLAttr string

	// Consumed is called with the consumed capacity of each page of a scan, concurrently, and may wait before the next
	// page is read; nil for none.
	Consumed func(context.Context, types.ConsumedCapacity) error

	client   *dynamodb.Client
	segments int
}

// maxSegments is the maximum number of segments of a Scan.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
const maxSegments = 1000000

// OpenTable describes a table, to be scanned in that many parallel segments.
func OpenTable(ctx context.Context, client *dynamodb.Client, name string, segments int) (*Table, error) {
	if segments < 1 || segments > maxSegments {
		return nil, fmt.Errorf("--segments %d: want 1 to %d", segments, maxSegments)
	}
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var absent *types.ResourceNotFoundException
	switch {
	case errors.As(err, &absent):
		return nil, fmt.Errorf("table %s does not exist at this endpoint", name)
	case err != nil:
		return nil, err
	}
	t := &Table{Description: out.Table, client: client, segments: segments}
	// The TTL attribute is an extra and not worth failing for: a policy may allow reading items but not this.
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err == nil && ttl.TimeToLiveDescription != nil {
		t.TTLAttr = aws.ToString(ttl.TimeToLiveDescription.AttributeName)
	}
	return t, nil
}

// Count is the item count of DescribeTable, which AWS updates about every six hours.
func (t *Table) Count() int64 { return aws.ToInt64(t.Description.ItemCount) }

// Items scans the table.
func (t *Table) Items(ctx context.Context) iter.Seq2[Item, error] { return t.scan(ctx, 0) }

// Sample scans the start of each segment; each segment is a part of the partition keys' hash range.
func (t *Table) Sample(ctx context.Context, n int) iter.Seq2[Item, error] {
	return t.scan(ctx, max(1, (n+t.segments-1)/t.segments))
}

// page is a page that a segment has read.
type page struct {
	items []map[string]types.AttributeValue
	err   error
}

// scan reads all segments in parallel, at most limit items from each; 0 means no limit.
func (t *Table) scan(ctx context.Context, limit int) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages := make(chan page)
		var segments sync.WaitGroup
		for i := range t.segments {
			segments.Go(func() { t.segment(ctx, i, limit, pages) })
		}
		go func() {
			segments.Wait()
			close(pages)
		}()
		defer func() { // the segments end before this returns, whether everything was read or not
			cancel()
			for range pages { // lets them send pages that are no longer wanted
				continue
			}
		}()
		for p := range pages {
			if p.err != nil {
				yield(nil, p.err)
				return
			}
			for _, item := range p.items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}

func (t *Table) segment(ctx context.Context, segment, limit int, pages chan<- page) {
	in := &dynamodb.ScanInput{TableName: t.Description.TableName}
	if t.segments > 1 {
		in.Segment, in.TotalSegments = aws.Int32(int32(segment)), aws.Int32(int32(t.segments)) //nolint:gosec // at most a million
	}
	if t.Consumed != nil {
		in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	}
	left := limit
	for {
		if limit > 0 {
			in.Limit = aws.Int32(int32(left)) //nolint:gosec // the user's number, divided by segments
		}
		out, err := t.client.Scan(ctx, in)
		if err != nil {
			pages <- page{err: err}
			return
		}
		pages <- page{items: out.Items}
		if t.Consumed != nil && out.ConsumedCapacity != nil {
			if err := t.Consumed(ctx, *out.ConsumedCapacity); err != nil {
				pages <- page{err: err}
				return
			}
		}
		left -= len(out.Items)
		if len(out.LastEvaluatedKey) == 0 || limit > 0 && left <= 0 || ctx.Err() != nil {
			return
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
