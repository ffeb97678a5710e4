package source

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"syscall"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a table at an endpoint.
type Table struct {
	Description *types.TableDescription
	// TTLAttr is the attribute by which items expire; "" if they do not, or where the caller may not ask.
	TTLAttr string

	// Consumed hears what each page of a scan has consumed, from several goroutines at once, and may wait before the next
	// is read; nil for no one.
	Consumed func(context.Context, types.ConsumedCapacity) error

	client   *dynamodb.Client
	segments int
}

// maxSegments is the most that a Scan can be divided into.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
const maxSegments = 1000000

// OpenTable asks for a table's description. It will be scanned in that many segments at once.
func OpenTable(ctx context.Context, client *dynamodb.Client, name string, segments int) (*Table, error) {
	if segments < 1 || segments > maxSegments {
		return nil, fmt.Errorf("a Scan has 1 to %d segments, not %d", maxSegments, segments)
	}
	out, err := client.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	var absent *types.ResourceNotFoundException
	switch {
	case errors.As(err, &absent):
		return nil, fmt.Errorf("table %s does not exist at this endpoint", name)
	case errors.Is(err, syscall.ECONNREFUSED):
		return nil, fmt.Errorf("no server is listening there: start the database with \"monotable serve\", or use another --endpoint (%w)", err)
	case err != nil:
		return nil, err
	}
	t := &Table{Description: out.Table, client: client, segments: segments}
	// That items expire is one more thing to tell, not worth failing for: a policy may allow reading and not this.
	ttl, err := client.DescribeTimeToLive(ctx, &dynamodb.DescribeTimeToLiveInput{TableName: &name})
	if err == nil && ttl.TimeToLiveDescription != nil {
		t.TTLAttr = aws.ToString(ttl.TimeToLiveDescription.AttributeName)
	}
	return t, nil
}

// Count is what DescribeTable says, which AWS brings up to date every six hours or so.
func (t *Table) Count() int64 { return aws.ToInt64(t.Description.ItemCount) }

// Items scans the table.
func (t *Table) Items(ctx context.Context) iter.Seq2[Item, error] { return t.scan(ctx, 0) }

// Sample scans the beginning of each of the segments, which are parts of the partition keys' hashes.
func (t *Table) Sample(ctx context.Context, n int) iter.Seq2[Item, error] {
	return t.scan(ctx, max(1, (n+t.segments-1)/t.segments))
}

// page is what a segment has read.
type page struct {
	items []map[string]types.AttributeValue
	err   error
}

// scan reads all segments at once, of each at most limit items; 0 is all.
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
		defer func() { // whether all was read or not, the segments end before this returns
			cancel()
			for range pages { // lets them send what nobody wants any more
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
			in.Limit = aws.Int32(int32(left)) //nolint:gosec // what the user asks for, divided by segments
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
