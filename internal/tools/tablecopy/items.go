package tablecopy

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/tools/pacing"
)

const (
	// batchMax is BatchWriteItem's limit of items, readMax is BatchGetItem's.
	batchMax = 25
	readMax  = 100
	// batchesAtOnce is the number of batches of a page written in parallel.
	batchesAtOnce = 4
	// throttledMax is the number of retries of a throttled request, in addition to the SDK's.
	throttledMax = 100
)

// items copies all items, continuing at the position of each segment of the scan.
func (c *copier) items(ctx context.Context, t *tableState) error {
	source, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return err
	}
	if source == nil {
		return errSourceDeleted
	}
	if len(t.Segments) == 0 {
		for range c.o.Segments {
			t.Segments = append(t.Segments, &segment{})
		}
	}
	segments, ctx := errgroup.WithContext(ctx)
	for i, s := range t.Segments {
		if !s.Done {
			segments.Go(func() error { return c.segment(ctx, t, source, i) })
		}
	}
	return segments.Wait()
}

func (c *copier) segment(ctx context.Context, t *tableState, source *types.TableDescription, number int) error {
	s := t.Segments[number]
	scan := &scan{client: c.o.From.Client, meter: c.meter, table: t.Source, segment: number, segments: len(t.Segments), after: s.After.attributes()}
	for {
		page, err := scan.next(ctx)
		if err != nil {
			return err
		}
		if err := c.writePage(ctx, t, page); err != nil {
			return err
		}
		done := int64(0)
		err = c.state.update(func() {
			s.After, s.Items, s.Done = keyOf(scan.after), s.Items+int64(len(page)), scan.after == nil
			done = t.items()
		})
		if err != nil {
			return err
		}
		c.progress("copy "+t.Source, done, aws.ToInt64(source.ItemCount))
		if s.Done {
			return nil
		}
	}
}

// scan reads a segment of a table page by page, with strong consistency.
type scan struct {
	client            *dynamodb.Client
	meter             *pacing.Meter
	table             string
	segment, segments int
	after             Item // the last key read; nil at the beginning and at the end
}

func (s *scan) next(ctx context.Context) ([]Item, error) {
	in := &dynamodb.ScanInput{
		TableName: &s.table, ConsistentRead: aws.Bool(true), ExclusiveStartKey: s.after, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		Segment: aws.Int32(int32(s.segment)), TotalSegments: aws.Int32(int32(s.segments)), //nolint:gosec // at most a million
	}
	var out *dynamodb.ScanOutput
	err := again(ctx, func() (err error) {
		out, err = s.client.Scan(ctx, in)
		return err
	})
	if err != nil {
		return nil, err
	}
	if s.after = out.LastEvaluatedKey; len(s.after) == 0 {
		s.after = nil
	}
	if out.ConsumedCapacity == nil {
		return out.Items, nil
	}
	return out.Items, s.meter.Spend(ctx, true, *out.ConsumedCapacity)
}

// writePage puts transformed items into the target.
func (c *copier) writePage(ctx context.Context, t *tableState, items []Item) error {
	writes := make([]types.WriteRequest, len(items))
	for i, item := range items {
		item, err := c.transformed(t, item)
		if err != nil {
			return err
		}
		writes[i].PutRequest = &types.PutRequest{Item: item}
	}
	return c.write(ctx, t.Target, writes)
}

func (c *copier) transformed(t *tableState, item Item) (Item, error) {
	if c.o.Transform == nil {
		return item, nil
	}
	return c.o.Transform(c.state.Seed, t.Source, item)
}

// write executes writes of different keys, several batches in parallel.
func (c *copier) write(ctx context.Context, table string, writes []types.WriteRequest) error {
	batches, ctx := errgroup.WithContext(ctx)
	batches.SetLimit(batchesAtOnce)
	for len(writes) > 0 {
		batch := writes[:min(len(writes), batchMax)]
		writes = writes[len(batch):]
		batches.Go(func() error { return c.writeBatch(ctx, table, batch) })
	}
	return batches.Wait()
}

func (c *copier) writeBatch(ctx context.Context, table string, batch []types.WriteRequest) error {
	for attempt := 0; ; attempt++ {
		var out *dynamodb.BatchWriteItemOutput
		err := again(ctx, func() (err error) {
			out, err = c.o.To.Client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: batch}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			return err
		})
		if err != nil {
			return c.split(ctx, table, batch, err)
		}
		if err := c.meter.Spend(ctx, false, out.ConsumedCapacity...); err != nil {
			return err
		}
		if batch = out.UnprocessedItems[table]; len(batch) == 0 {
			return nil
		}
		if err := pacing.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// split writes the halves of a rejected batch, because it may be too large or contain a key twice. An item that is rejected alone is
// named in the error.
func (c *copier) split(ctx context.Context, table string, batch []types.WriteRequest, rejection error) error {
	if !rejected(rejection) {
		return rejection
	}
	if half := len(batch) / 2; half > 0 {
		if err := c.writeBatch(ctx, table, batch[:half]); err != nil {
			return err
		}
		return c.writeBatch(ctx, table, batch[half:])
	}
	target, err := describe(ctx, c.o.To.Client, table)
	if err != nil || target == nil || batch[0].PutRequest == nil {
		return rejection
	}
	return fmt.Errorf("%s rejects the item %s: %w", c.o.To.Name, identity(primary(target.KeySchema, batch[0].PutRequest.Item)), rejection)
}

// rejected reports whether a request was rejected for what it contains. A request is limited to 16 MB, which items with many small
// values exceed as JSON.
func rejected(err error) bool {
	coded, is := errors.AsType[smithy.APIError](err)
	response, responded := errors.AsType[*smithyhttp.ResponseError](err)
	return is && coded.ErrorCode() == "ValidationException" || responded && response.HTTPStatusCode() == http.StatusRequestEntityTooLarge
}

// again retries a request while the table is throttled.
func again(ctx context.Context, request func() error) error {
	for attempt := 0; ; attempt++ {
		err := request()
		if err == nil || attempt == throttledMax || !throttled(err) {
			return err
		}
		if err := pacing.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

func throttled(err error) bool {
	coded, is := errors.AsType[smithy.APIError](err)
	if !is {
		return false
	}
	switch coded.ErrorCode() {
	case "ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded":
		return true
	default:
		return false
	}
}
