// Package consumer follows a DynamoDB stream, on monotable or on AWS: it finds the shards, reads parents to
// their end before their children and several lineages at once, hands batches of records to a handler, and
// keeps checkpoints, so that a later run goes on where an earlier one ended.
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
// children take over; the changes of one item stand in one shard at a time. One goroutine reads a shard,
// page after page, and hands each page to the handler before it reads the next.
//
// # What is promised
//
//	C1  The records of a shard are handed over in its order, and those of a child after all of its parent's;
//	    so the changes of one item come in the order in which they were made.
//	C2  A checkpoint moves only when the handler has returned nil for all records up to it, or OnFailure has
//	    taken them over. Records are handed over at least once: again where the handler failed, or the process
//	    ended before the checkpoint was saved; never once the checkpoint is behind them.
//	C3  Nothing is left out without a word: where records were trimmed before they were read, Run ends with
//	    ErrTrimmed, unless Options.SkipTrimmed says otherwise.
//
// One process at a time may follow a stream with the same checkpoints. TableCheckpoints notices a second
// one: the first to have been overtaken gets ErrTakenOver.
//
// # What is borne
//
// Throttling, faults of the server and of the network are waited out, with growing rests, for as long as the
// context lives. Iterators, which expire after 15 minutes, are renewed from the checkpoint. A stream that was
// disabled is read to its end. Anything else, a stream that is not there, say, ends the run.
//
// The rules are those of [AWS's guide to DynamoDB Streams]; retries follow what AWS Lambda does with the
// [batches of a stream].
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

// Streams is what a Consumer calls of a *dynamodbstreams.Client.
type Streams interface {
	DescribeStream(context.Context, *dynamodbstreams.DescribeStreamInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.DescribeStreamOutput, error)
	GetShardIterator(context.Context, *dynamodbstreams.GetShardIteratorInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error)
	GetRecords(context.Context, *dynamodbstreams.GetRecordsInput, ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetRecordsOutput, error)
}

// Batch is what a handler is called with: records of one shard, at least one, in the shard's order.
type Batch struct {
	Stream  string // ARN
	Shard   string
	Records []types.Record
}

// Handler deals with a batch. It is called with batches of several shards at once, and with those of one shard
// one after the other. On an error the batch comes again, see Options.
type Handler func(ctx context.Context, batch Batch) error

// Failure is a batch that was given up.
type Failure struct {
	Batch
	Err      error // the handler's last
	Attempts int
}

// Position is where a consumer without checkpoints begins: TrimHorizon, Latest, or the sequence number of a
// record, after which it goes on.
type Position string

// The positions beside sequence numbers.
const (
	TrimHorizon Position = "TRIM_HORIZON" // the oldest record that the stream has: up to 24 hours
	Latest      Position = "LATEST"       // what is written from now on
)

// Errors that end a run, to be tested for with errors.Is.
var (
	// ErrTrimmed: records after the checkpoint were trimmed, being older than 24 hours, before they were read.
	ErrTrimmed = errors.New("consumer: records were trimmed before they were read")
	// ErrTakenOver: another consumer uses the same checkpoints.
	ErrTakenOver = errors.New("consumer: another consumer has taken over the checkpoints")
)

// Options of a Consumer; the zero value works.
type Options struct {
	// From is where to begin when there are no checkpoints of the stream yet. Default TrimHorizon.
	From Position
	// Checkpoints keeps how far each shard has been handled. Default: in memory, which forgets.
	Checkpoints Checkpoints
	// BatchSize is the largest number of records in a batch, 1 to 1000, the default.
	BatchSize int
	// Concurrency is how many batches, each of a different shard, are handled at once. Default 8.
	Concurrency int
	// PollInterval is how long an open shard rests after a page without records. Default 1 s. AWS allows five
	// reads a second and shard.
	PollInterval time.Duration
	// DiscoverInterval is how often new shards are looked for, beside each time that a shard ends. Default 10 s.
	DiscoverInterval time.Duration

	// RetryMin and RetryMax bound the rests between attempts, which double from one to the other, of the
	// handler and of requests. Defaults 100 ms and 30 s.
	RetryMin, RetryMax time.Duration
	// MaxAttempts is how often the handler is tried with a batch before it is given up. Default 0: for ever.
	MaxAttempts int
	// Bisect splits a batch that failed in two and tries each half by itself, down to the record that cannot be
	// handled. A split is not an attempt.
	Bisect bool
	// OnFailure is told of a batch that is given up; when it returns nil, the shard goes on behind it. Without
	// OnFailure, or when it returns an error, the run ends.
	OnFailure func(context.Context, Failure) error

	// SkipTrimmed goes on with the oldest record there is where others were trimmed before they were read. By
	// default that is ErrTrimmed.
	SkipTrimmed bool

	// Begun is called once in a run, as soon as reading has begun in all shards that could be read at its start: from
	// then on nothing that is written is missed, with Latest either. It must not block. Default: nobody is told.
	Begun func()

	// Sleep waits for a time to pass, or for the end of the context, whose error it then returns. Default:
	// real time.
	Sleep func(context.Context, time.Duration) error
	// Logger hears of retries and of records that were skipped. Default: nothing is logged.
	Logger *slog.Logger
}

// Consumer follows one stream.
type Consumer struct {
	streams Streams
	stream  string
	handler Handler
	options Options // defaults filled
	running atomic.Bool
	// positions are those of the run.
	positions positions
}

// New returns a consumer of a stream, named by its ARN. It tells all that is wrong with the options at once.
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

// errRunning: a consumer is for one run at a time.
var errRunning = errors.New("consumer: is running already")

// Run follows the stream until the context ends, whose error it then returns, or something ends it for good. It
// returns nil when the stream has been disabled and read to its end. When it returns, no handler is running.
func (c *Consumer) Run(ctx context.Context) error { return c.run(ctx, false) }

// CatchUp is Run up to the present: it returns nil when every open shard has given several pages without
// records in a row. DynamoDB does not tell how far behind a reader is, and may give empty pages before the end;
// those are taken for the end when there are five of them.
func (c *Consumer) CatchUp(ctx context.Context) error { return c.run(ctx, true) }

func (c *Consumer) run(ctx context.Context, catchUp bool) error {
	if !c.running.CompareAndSwap(false, true) {
		return errRunning
	}
	defer c.running.Store(false)
	var saved map[string]Checkpoint
	err := c.patiently(ctx, "load checkpoints", func(ctx context.Context) (err error) {
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

// batchMax is how many records GetRecords returns at most.
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
