package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

const (
	// caughtUpPages is the number of consecutive pages without records after which an open shard counts as caught up.
	caughtUpPages = 5
	// drainInterval is the pause of a shard whose end is near: a closed one already has all of its records, and
	// CatchUp does not wait for more.
	drainInterval = 50 * time.Millisecond
	// retention is how long a record stays in a stream.
	retention = 24 * time.Hour
	// saveWait is the time limit for saving a checkpoint after the run has ended.
	saveWait = 10 * time.Second
)

// reader reads one shard.
type reader struct {
	*Consumer
	shard      string
	checkpoint Checkpoint
	latest     bool   // begin after the newest record
	first      string // the number from which on every record has to be read, of a shard whose parent was read to its end
	closed     bool   // when reading began
	catchUp    bool
	slots      chan struct{}
	begun      func() // called when reading has begun
}

// read reads the shard until it is drained or, with catchUp, caught up with. An error other than the context's ends the
// run.
func (r *reader) read(ctx context.Context) (state, error) {
	iterator, err := r.begin(ctx)
	if err != nil {
		return waiting, err
	}
	r.begun()
	defer r.positions.remove(r.shard)
	for empty := 0; ; {
		page, err := r.page(ctx, &iterator)
		if err != nil {
			return waiting, err
		}
		empty++
		if n := len(page.Records); n > 0 {
			empty = 0
			r.positions.begin(r.shard, &page.Records[0])
			if err := r.deliver(ctx, page.Records); err != nil {
				return waiting, err
			}
			r.positions.set(r.shard, writtenAt(&page.Records[n-1]))
		} else {
			r.positions.set(r.shard, time.Now())
		}
		if aws.ToString(page.NextShardIterator) == "" {
			r.checkpoint.Done = true
			return done, r.save(ctx)
		}
		iterator = page.NextShardIterator
		if empty == 0 {
			continue
		}
		if r.catchUp && !r.closed && empty == caughtUpPages {
			return caughtUp, nil
		}
		if err := r.idle(ctx); err != nil {
			return waiting, err
		}
	}
}

func (r *reader) idle(ctx context.Context) error {
	interval := r.options.PollInterval
	if r.closed || r.catchUp {
		interval = min(interval, drainInterval)
	}
	return r.options.Sleep(ctx, interval)
}

// begin returns the first iterator and saves a checkpoint, so that a later run also reads the records written in
// between.
func (r *reader) begin(ctx context.Context) (*string, error) {
	iterator, err := r.iterator(ctx)
	if err != nil {
		return nil, err
	}
	return iterator, r.save(ctx)
}

// iterator returns an iterator for the records after the checkpoint.
func (r *reader) iterator(ctx context.Context) (*string, error) {
	for {
		in := &dynamodbstreams.GetShardIteratorInput{StreamArn: &r.stream, ShardId: &r.shard}
		switch {
		case r.checkpoint.Sequence != "":
			in.ShardIteratorType, in.SequenceNumber = types.ShardIteratorTypeAfterSequenceNumber, &r.checkpoint.Sequence
		case !r.checkpoint.Since.IsZero():
			in.ShardIteratorType, in.Timestamp = types.ShardIteratorTypeAtTimestamp, &r.checkpoint.Since
		case r.latest:
			in.ShardIteratorType = types.ShardIteratorTypeLatest
		default:
			in.ShardIteratorType = types.ShardIteratorTypeTrimHorizon
		}
		var out *dynamodbstreams.GetShardIteratorOutput
		err := r.withRetry(ctx, "get shard iterator", func(ctx context.Context) (err error) {
			out, err = r.streams.GetShardIterator(ctx, in)
			return err
		})
		switch {
		case err != nil:
		case in.ShardIteratorType == types.ShardIteratorTypeTrimHorizon:
			err = r.checkFirst(ctx)
		case in.ShardIteratorType == types.ShardIteratorTypeAtTimestamp && r.closed && serverTime(out).Sub(r.checkpoint.Since) > retention:
			// AT_TIMESTAMP does not tell either. A shard that is still open is one of an idle stream without rotation.
			err = &types.TrimmedDataAccessException{Message: aws.String("reading began more than 24 hours ago")}
		}
		if err == nil {
			if in.ShardIteratorType == types.ShardIteratorTypeLatest {
				r.checkpoint.Since = serverTime(out)
			}
			return out.ShardIterator, nil
		}
		if err := r.recoverFrom(ctx, err); err != nil {
			return nil, err
		}
	}
}

// checkFirst returns a TrimmedDataAccessException if the first records of the shard have been trimmed, which TRIM_HORIZON does not
// tell. Any other error is ignored: the iterator is only a question.
func (r *reader) checkFirst(ctx context.Context) error {
	if r.first == "" {
		return nil
	}
	err := r.withRetry(ctx, "check first record", func(ctx context.Context) error {
		_, err := r.streams.GetShardIterator(ctx, &dynamodbstreams.GetShardIteratorInput{
			StreamArn: &r.stream, ShardId: &r.shard, ShardIteratorType: types.ShardIteratorTypeAtSequenceNumber, SequenceNumber: &r.first,
		})
		return err
	})
	if _, trimmed := errors.AsType[*types.TrimmedDataAccessException](err); trimmed {
		return err
	}
	return ctx.Err()
}

// serverTime is the time at which an iterator was issued, by the server's clock if available, in whole seconds like the
// times of records.
func serverTime(out *dynamodbstreams.GetShardIteratorOutput) time.Time {
	t, found := awsmiddleware.GetServerTime(out.ResultMetadata)
	if !found {
		t = time.Now()
	}
	return t.Truncate(time.Second)
}

// page returns the records at the iterator, which it renews if necessary.
func (r *reader) page(ctx context.Context, iterator **string) (*dynamodbstreams.GetRecordsOutput, error) {
	for {
		var page *dynamodbstreams.GetRecordsOutput
		err := r.withRetry(ctx, "get records", func(ctx context.Context) (err error) {
			page, err = r.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{
				ShardIterator: *iterator, Limit: aws.Int32(int32(r.options.BatchSize)), //nolint:gosec // at most 1000
			})
			return err
		})
		if err == nil {
			return page, nil
		}
		if _, expired := errors.AsType[*types.ExpiredIteratorException](err); !expired {
			if err := r.recoverFrom(ctx, err); err != nil {
				return nil, err
			}
		}
		if *iterator, err = r.iterator(ctx); err != nil {
			return nil, err
		}
	}
}

// recoverFrom returns nil if a new iterator resolves the error, and sets the checkpoint for it.
func (r *reader) recoverFrom(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, gone := errors.AsType[*types.ResourceNotFoundException](err); gone {
		return fmt.Errorf("%w: %s: %w", errShardGone, r.shard, err)
	}
	if _, trimmed := errors.AsType[*types.TrimmedDataAccessException](err); !trimmed {
		return fmt.Errorf("consumer: shard %s: %w", r.shard, err)
	}
	if r.checkpoint != (Checkpoint{}) || r.first != "" {
		if !r.options.SkipTrimmed {
			return fmt.Errorf("%w: shard %s, after %s: %w", ErrTrimmed, r.shard, r.checkpoint.position(), err)
		}
		r.options.Logger.Warn("records were trimmed before they were read", "stream", r.stream, "shard", r.shard, "after", r.checkpoint.Sequence)
	}
	// Continue with the oldest available record. That horizon also moves, so wait before the next attempt.
	r.checkpoint, r.latest, r.first = Checkpoint{}, false, ""
	return r.backoff(ctx, 1)
}

// deliver passes records to the handler until they are handled or given up.
func (r *reader) deliver(ctx context.Context, records []types.Record) error {
	for attempt := 1; ; attempt++ {
		err := r.handle(ctx, records)
		switch {
		case err == nil:
			return r.advance(ctx, records)
		case ctx.Err() != nil:
			return ctx.Err()
		case r.options.Bisect && len(records) > 1:
			half := len(records) / 2
			if err := r.deliver(ctx, records[:half]); err != nil {
				return err
			}
			records, attempt = records[half:], 0
			continue
		case attempt == r.options.MaxAttempts:
			return r.giveUp(ctx, records, attempt, err)
		}
		r.options.Logger.Warn("handler failed and will be retried",
			"stream", r.stream, "shard", r.shard, "records", len(records), "attempt", attempt, "error", err)
		if err := r.backoff(ctx, attempt); err != nil {
			return err
		}
	}
}

// handle calls the handler once a slot is free.
func (r *reader) handle(ctx context.Context, records []types.Record) error {
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return r.handler(ctx, r.batch(records))
}

func (r *reader) batch(records []types.Record) Batch {
	return Batch{Stream: r.stream, Shard: r.shard, Records: records}
}

func (r *reader) giveUp(ctx context.Context, records []types.Record, attempts int, err error) error {
	if r.options.OnFailure == nil {
		return fmt.Errorf("consumer: shard %s: handler failed %d times: %w", r.shard, attempts, err)
	}
	if err := r.options.OnFailure(ctx, Failure{Batch: r.batch(records), Err: err, Attempts: attempts}); err != nil {
		return fmt.Errorf("consumer: shard %s: OnFailure: %w", r.shard, err)
	}
	return r.advance(ctx, records)
}

// advance moves the checkpoint past handled records.
func (r *reader) advance(ctx context.Context, records []types.Record) error {
	last := records[len(records)-1]
	if last.Dynamodb == nil || last.Dynamodb.SequenceNumber == nil {
		return fmt.Errorf("consumer: shard %s: record %s has no sequence number", r.shard, aws.ToString(last.EventID))
	}
	r.checkpoint = Checkpoint{Sequence: *last.Dynamodb.SequenceNumber}
	return r.save(ctx)
}

// save saves the checkpoint. Progress is saved even after the run has ended, if the store responds in time.
func (r *reader) save(ctx context.Context) error {
	save := func(ctx context.Context) error {
		return r.options.Checkpoints.Save(ctx, r.stream, r.shard, r.checkpoint)
	}
	err := r.withRetry(ctx, "save checkpoint", save)
	if err == nil || ctx.Err() == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWait)
	defer cancel()
	return save(ctx)
}
