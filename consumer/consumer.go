// Package consumer follows a DynamoDB stream, on monotable or on AWS. It finds the shards, reads parents to their
// end before their children and independent shards concurrently, passes batches of records to a handler, and
// saves checkpoints so that a later run resumes where an earlier one ended.
//
//	store, err := consumer.OpenFile("checkpoints.json")
//	…
//	c, err := consumer.New(client, streamARN, handle, consumer.Options{Checkpoints: store})
//	…
//	err = c.Run(ctx)
//
// # Model
//
// A stream is a tree of shards. A shard is open until DynamoDB closes it, for a split or a rotation, and its
// children take over; at any time, the changes of one item go to one shard. One goroutine reads a shard page by
// page, and passes each page to the handler before it reads the next.
//
// # Guarantees
//
//	C1  The records of a shard are delivered in order, and a child's after all of its parent's, so the changes
//	    of one item are delivered in the order in which they were made.
//	C2  A checkpoint advances only when the handler has returned nil for all records up to it, or OnFailure has
//	    taken them over. Records are delivered at least once: again if the handler failed or the process ended
//	    before the checkpoint was saved, never once the checkpoint is past them.
//	C3  There are no silent gaps: if records were trimmed before they were read, Run ends with ErrTrimmed,
//	    unless Options.SkipTrimmed is set.
//
// One process at a time may follow a stream with the same checkpoints. TableCheckpoints detects a second one:
// the earlier one gets ErrTakenOver.
//
// # Retries
//
// Throttling, server errors and network errors are retried with backoff until the context ends. Iterators, which
// expire after 15 minutes, are renewed from the checkpoint. A stream that was disabled is read to its end. Any
// other error, such as a missing stream, ends the run.
//
// The rules follow [AWS's guide to DynamoDB Streams]; retries work like AWS Lambda's for [batches of a stream].
//
// [AWS's guide to DynamoDB Streams]: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Streams.html
// [batches of a stream]: https://docs.aws.amazon.com/lambda/latest/dg/services-dynamodb-errors.html
package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// Streams is the part of *dynamodbstreams.Client that a Consumer calls.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Batch is the argument of a handler: one or more records of one shard, in order.
type Batch struct {
	Stream  string // ARN
	Shard   string
	Records []types.Record
}

// Handler processes a batch. It is called concurrently for different shards, and sequentially for one shard. If it
// returns an error, the batch is retried as Options say.
type Handler func(ctx context.Context, batch Batch) error

// Failure is a batch whose attempts are exhausted.
type Failure struct {
	Batch
	Err      error // of the last attempt
	Attempts int
}

// Position is where a consumer without checkpoints starts: TrimHorizon, Latest, or after the record with the given
// sequence number.
type Position string

// Positions other than sequence numbers.
const (
	TrimHorizon Position = "TRIM_HORIZON" // the oldest record in the stream, up to 24 hours ago
	Latest      Position = "LATEST"       // only new records
)

// Errors that end a run; test for them with errors.Is.
var (
	// ErrTrimmed: records after the checkpoint were trimmed, after 24 hours, before they were read.
	ErrTrimmed = errors.New("consumer: records were trimmed before they were read")
	// ErrTakenOver: another consumer uses the same checkpoints.
	ErrTakenOver = errors.New("consumer: another consumer has taken over the checkpoints")
)

// Options of a Consumer; the zero value works.
type Options struct {
	// From is where to start if the stream has no checkpoints yet. Default TrimHorizon.
	From Position
	// Checkpoints stores the progress in each shard. Default: in memory, lost when the process ends.
	Checkpoints Checkpoints
	// BatchSize is the maximum number of records in a batch, 1 to 1000. Default 1000.
	BatchSize int
	// Concurrency is the maximum number of batches, each of a different shard, handled concurrently. Default 8.
	Concurrency int
	// PollInterval is the pause of an open shard after a page without records. Default 1 s. AWS allows five reads
	// per second and shard.
	PollInterval time.Duration
	// DiscoverInterval is how often to look for new shards, in addition to each time a shard ends. Default 10 s.
	DiscoverInterval time.Duration

	// RetryMin and RetryMax bound the pauses between attempts of the handler and of requests, which double each time.
	// Defaults 100 ms and 30 s.
	RetryMin, RetryMax time.Duration
	// MaxAttempts is how often a batch is tried before it is given up. Default 0: forever.
	MaxAttempts int
	// Bisect splits a failed batch in two and tries each half separately, down to the record that cannot be handled.
	// A split does not count as an attempt.
	Bisect bool
	// OnFailure is called with a batch that is given up; if it returns nil, the shard continues after it. Without
	// OnFailure, or if it returns an error, the run ends.
	OnFailure func(context.Context, Failure) error

	// SkipTrimmed continues with the oldest available record if others were trimmed before they were read. By default
	// the run ends with ErrTrimmed.
	SkipTrimmed bool

	// Begun is called once per run, as soon as reading has begun in all shards that were readable at its start. From
	// then on no write is missed, even with Latest. It must not block.
	Begun func()

	// Sleep waits for a duration, or until the context ends and then returns its error. Default: real time.
	Sleep func(context.Context, time.Duration) error
	// Logger receives retries and skipped records. Default: nothing is logged.
	Logger *slog.Logger
}

// Consumer follows one stream.
type Consumer struct {
	streams   Streams
	stream    string
	handler   Handler
	options   Options // defaults filled
	running   atomic.Bool
	positions positions // of the current run
}

// New returns a consumer of the stream with the given ARN. Its error reports all invalid options.
func New(streams Streams, streamARN string, handler Handler, o Options) (*Consumer, error) {
	o = o.withDefaults()
	err := o.validate()
	if handler == nil {
		err = errors.Join(errors.New("consumer: no handler"), err)
	}
	if err != nil {
		return nil, err
	}
	return &Consumer{streams: streams, stream: streamARN, handler: handler, options: o}, nil
}

// errRunning: a consumer can only run once at a time.
var errRunning = errors.New("consumer: already running")

// Run follows the stream until the context ends, whose error it then returns, or until a permanent error. It returns
// nil when the stream has been disabled and read to its end. When it returns, no handler is running.
func (c *Consumer) Run(ctx context.Context) error { return c.run(ctx, false) }

// CatchUp is Run up to the present: it returns nil when every open shard has returned five pages without records in a
// row. DynamoDB does not report a reader's lag, and can also return empty pages before the end.
func (c *Consumer) CatchUp(ctx context.Context) error { return c.run(ctx, true) }

func (c *Consumer) run(ctx context.Context, catchUp bool) error {
	if !c.running.CompareAndSwap(false, true) {
		return errRunning
	}
	defer c.running.Store(false)
	var saved map[string]Checkpoint
	err := c.withRetry(ctx, "load checkpoints", func(ctx context.Context) (err error) {
		saved, err = c.options.Checkpoints.Load(ctx, c.stream)
		return err
	})
	if err != nil {
		return err
	}
	return newLineage(c, saved, catchUp).follow(ctx)
}

func (o Options) withDefaults() Options {
	setDefault(&o.From, TrimHorizon)
	setDefault(&o.BatchSize, batchMax)
	setDefault(&o.Concurrency, 8)
	setDefault(&o.PollInterval, time.Second)
	setDefault(&o.DiscoverInterval, 10*time.Second)
	setDefault(&o.RetryMin, 100*time.Millisecond)
	setDefault(&o.RetryMax, 30*time.Second)
	if o.Checkpoints == nil {
		o.Checkpoints = NewMemory()
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

// batchMax is the maximum number of records that GetRecords returns.
const batchMax = 1000

func (o Options) validate() error {
	var faults []error
	fault := func(wrong bool, format string, args ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("consumer: "+format, args...))
		}
	}
	fault(o.From != TrimHorizon && o.From != Latest && !isSequence(string(o.From)), "From %q: want TRIM_HORIZON, LATEST or a sequence number", o.From)
	fault(o.BatchSize < 1 || o.BatchSize > batchMax, "BatchSize %d: want 1 to %d", o.BatchSize, batchMax)
	fault(o.Concurrency < 1, "Concurrency %d: want 1 or more", o.Concurrency)
	fault(o.PollInterval < 0 || o.DiscoverInterval < 0 || o.RetryMin < 0, "intervals cannot be negative")
	fault(o.RetryMax < o.RetryMin, "RetryMax %v is below RetryMin %v", o.RetryMax, o.RetryMin)
	fault(o.MaxAttempts < 0, "MaxAttempts cannot be negative")
	return errors.Join(faults...)
}

// sleep waits in real time.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
