package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/pacing"
)

// outcome is the result for an item.
type outcome int

const (
	unchanged outcome = iota
	written
	skipped // it cannot be converted; verify will report it
)

// worker converts the items of a page.
type worker interface {
	page(ctx context.Context, t *table.Table, items []table.Item, report func(outcome)) error
}

// walk reads all items, in segments, and passes their pages to a worker. Progress is recorded page by page: a walk
// that was stopped resumes after the last recorded page, and processing a page twice is harmless.
func (r *run) walk(ctx context.Context, kind string, tables []*table.Table, w worker) error {
	tables = slices.DeleteFunc(tables, func(t *table.Table) bool { return r.o.Tables[t.Name] == "" }) // only in the old design: it stays
	if err := r.record.save(ctx, func(s *State) { s.begin(kind, r.o.Segments, tables) }); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, t := range tables {
		for i, c := range r.record.snapshot().Pass.Tables[t.Name] {
			if !c.Done {
				group.Go(func() error { return r.segment(ctx, t, i, c, w) })
			}
		}
	}
	return group.Wait()
}

// begin starts a pass, unless one of the kind is under way.
func (s *State) begin(kind string, segments int, tables []*table.Table) {
	number := 1
	if p := s.Pass; p != nil && p.Kind == kind {
		if !p.done() {
			return
		}
		number = p.Number + 1
	}
	s.Pass = &Pass{Kind: kind, Number: number, Segments: segments, Tables: map[string][]cursor{}}
	for _, t := range tables {
		s.Pass.Tables[t.Name] = make([]cursor, segments)
	}
}

func (p *Pass) done() bool {
	for _, list := range p.Tables {
		if slices.ContainsFunc(list, func(c cursor) bool { return !c.Done }) {
			return false
		}
	}
	return true
}

func (r *run) segment(ctx context.Context, t *table.Table, number int, c cursor, w worker) error {
	after, err := c.key()
	if err != nil {
		return err
	}
	for {
		in := &dynamodb.ScanInput{
			TableName: r.table(t), ExclusiveStartKey: after, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			Limit: aws.Int32(pageItems),
		}
		if segments := r.record.segments(); segments > 1 {
			in.Segment, in.TotalSegments = aws.Int32(int32(number)), aws.Int32(int32(segments)) //nolint:gosec // at most a million
		}
		var out *dynamodb.ScanOutput
		if err := r.again(ctx, func() (err error) { out, err = r.o.Client.Scan(ctx, in); return err }); err != nil {
			return err
		}
		if err := r.meter.Spend(ctx, true, pointed(out.ConsumedCapacity)...); err != nil {
			return err
		}
		var counts [3]int64
		if err := w.page(ctx, t, out.Items, func(o outcome) { counts[o]++ }); err != nil {
			return err
		}
		after = out.LastEvaluatedKey
		if err := r.record.save(ctx, func(s *State) {
			p := s.Pass
			p.Tables[t.Name][number] = keyToCursor(after)
			p.Seen, p.Written, p.Skipped, s.Written = p.Seen+int64(len(out.Items)), p.Written+counts[written], p.Skipped+counts[skipped], s.Written+counts[written]
			r.account(s)
		}); err != nil {
			return err
		}
		r.progress()
		if len(after) == 0 {
			return nil
		}
	}
}

// pageItems bounds the work repeated after a crash, and the number of keys read at once.
const pageItems = 50

func pointed[T any](p *T) []T {
	if p == nil {
		return nil
	}
	return []T{*p}
}

// fetch reads items by their keys with strong consistency; missing items are missing in the result, which is by
// identity.
func (r *run) fetch(ctx context.Context, t *table.Table, keys []table.Item) (map[string]table.Item, error) {
	found := map[string]table.Item{}
	met := map[string]bool{}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k table.Item) bool {
		id := identity(t, k)
		twice := met[id]
		met[id] = true
		return twice
	})
	for attempt := 0; len(keys) > 0; attempt++ {
		n := min(len(keys), 100)
		ask := types.KeysAndAttributes{ConsistentRead: aws.Bool(true)}
		ask.Keys = append(ask.Keys, keys[:n]...)
		var out *dynamodb.BatchGetItemOutput
		if err := r.again(ctx, func() (err error) {
			out, err = r.o.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems: map[string]types.KeysAndAttributes{*r.table(t): ask}, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			return err
		}); err != nil {
			return nil, err
		}
		if err := r.meter.Spend(ctx, true, out.ConsumedCapacity...); err != nil {
			return nil, err
		}
		for _, item := range out.Responses[*r.table(t)] {
			found[identity(t, item)] = item
		}
		left := out.UnprocessedKeys[*r.table(t)].Keys
		keys = append(keys[n:], left...)
		if len(left) > 0 {
			if err := pacing.Pause(ctx, attempt); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// errStale means that a write's conditions no longer hold: items have changed since they were read.
var errStale = errors.New("items have changed since they were read")

// refusedError is DynamoDB's reason for rejecting an item, usually its size.
type refusedError struct{ message string }

func (e *refusedError) Error() string { return e.message }

func refused(err error) error {
	var coded interface {
		error
		ErrorCode() string
		ErrorMessage() string
	}
	if errors.As(err, &coded) && coded.ErrorCode() == "ValidationException" {
		return &refusedError{coded.ErrorMessage()}
	}
	return err
}

// write makes one write, or a transaction of several. errStale means that the items must be read again.
func (r *run) write(ctx context.Context, actions []types.TransactWriteItem) error {
	if len(actions) == 1 {
		if single, err := r.single(ctx, &actions[0]); single {
			return err
		}
	}
	var out *dynamodb.TransactWriteItemsOutput
	err := r.again(ctx, func() (err error) {
		out, err = r.o.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: actions, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
		return err
	})
	if canceled, is := errors.AsType[*types.TransactionCanceledException](err); is {
		for _, reason := range canceled.CancellationReasons {
			switch code := aws.ToString(reason.Code); code {
			case "None":
			case "ConditionalCheckFailed", "TransactionConflict":
				return errStale
			case "ValidationError":
				return &refusedError{aws.ToString(reason.Message)}
			default:
				return fmt.Errorf("a transaction was rejected: %s: %s", code, aws.ToString(reason.Message))
			}
		}
	}
	if err != nil {
		return refused(err)
	}
	return r.meter.Spend(ctx, false, out.ConsumedCapacity...)
}

func (r *run) single(ctx context.Context, a *types.TransactWriteItem) (bool, error) {
	var consumed *types.ConsumedCapacity
	var call func() error
	switch {
	case a.Update != nil:
		u := a.Update
		call = func() error {
			out, err := r.o.Client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
				TableName: u.TableName, Key: u.Key, UpdateExpression: u.UpdateExpression, ConditionExpression: u.ConditionExpression,
				ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			if err == nil {
				consumed = out.ConsumedCapacity
			}
			return err
		}
	case a.Delete != nil:
		d := a.Delete
		call = func() error {
			out, err := r.o.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
				TableName: d.TableName, Key: d.Key, ConditionExpression: d.ConditionExpression,
				ExpressionAttributeNames: d.ExpressionAttributeNames, ExpressionAttributeValues: d.ExpressionAttributeValues,
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			if err == nil {
				consumed = out.ConsumedCapacity
			}
			return err
		}
	default:
		return false, nil
	}
	err := r.again(ctx, call)
	if _, stale := errors.AsType[*types.ConditionalCheckFailedException](err); stale {
		return true, errStale
	}
	if err != nil {
		return true, refused(err)
	}
	return true, r.meter.Spend(ctx, false, pointed(consumed)...)
}

// maxThrottled is the maximum number of attempts of a throttled request.
const maxThrottled = 100

// again retries a request while it is throttled or conflicts with another.
func (r *run) again(ctx context.Context, request func() error) error {
	for attempt := 0; ; attempt++ {
		err := request()
		if err == nil || attempt == maxThrottled || !throttled(err) {
			return err
		}
		if err := pacing.Pause(ctx, attempt); err != nil {
			return err
		}
	}
}

func throttled(err error) bool {
	var capacity *types.ProvisionedThroughputExceededException
	var limit *types.RequestLimitExceeded
	var throttling *types.ThrottlingException
	var conflict *types.TransactionConflictException
	if errors.As(err, &capacity) || errors.As(err, &limit) || errors.As(err, &throttling) || errors.As(err, &conflict) {
		return true
	}
	canceled, is := errors.AsType[*types.TransactionCanceledException](err)
	if !is {
		return false
	}
	slow := false
	for _, reason := range canceled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			return false
		case "TransactionConflict", "ProvisionedThroughputExceeded", "ThrottlingError":
			slow = true
		}
	}
	return slow
}
