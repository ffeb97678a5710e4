package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/system"
)

// CheckpointTable keeps how far the streams of all systems have been followed.
const CheckpointTable = "stream-checkpoints"

// errReturned is for a worker that returned though nobody asked it to.
var errReturned = errors.New("returned before the end")

// followers are workers that follow a system's streams.
func followers(d *Database, name string, streams []system.Stream, create bool, logger *slog.Logger) []system.Worker {
	var workers []system.Worker
	for _, stream := range streams {
		worker := name + "/" + stream.Name
		own := consumer.NewMemory() // for all runs: one that failed goes on where it was
		workers = append(workers, system.Worker{Name: worker, Run: func(ctx context.Context) error {
			return follow(ctx, d, worker, stream, own, create, logger)
		}})
	}
	return workers
}

// ofEveryProcess are the streams that processes follow which leave the work to others.
func ofEveryProcess(streams []system.Stream) []system.Stream {
	return slices.DeleteFunc(slices.Clone(streams), func(s system.Stream) bool { return !s.EveryProcess })
}

// follow follows a stream. Checkpoints of its own are for one that every process follows.
func follow(ctx context.Context, d *Database, worker string, stream system.Stream, own consumer.Checkpoints, create bool, logger *slog.Logger) error {
	described, err := d.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &stream.Table})
	if err != nil {
		return err
	}
	arn := aws.ToString(described.Table.LatestStreamArn)
	if arn == "" {
		return fmt.Errorf("table %s has no stream: switch it on with NEW_AND_OLD_IMAGES", stream.Table)
	}
	options := consumer.Options{PollInterval: d.Poll, SkipTrimmed: true, Begun: stream.Begun, Logger: logger.With("worker", worker)}
	if stream.EveryProcess {
		options.From, options.Checkpoints = consumer.Latest, own
	} else {
		shared := consumer.NewTable(d.DynamoDB, CheckpointTable, worker)
		if create {
			if err := shared.Create(ctx); err != nil {
				return err
			}
		}
		options.Checkpoints = shared
	}
	run := func(ctx context.Context) error {
		c, err := consumer.New(d.Streams, arn, recovered(stream.Handle), options)
		if err != nil {
			return err
		}
		return c.Run(ctx)
	}
	if stream.EveryProcess {
		return run(ctx)
	}
	l := newLeader(d.DynamoDB, worker)
	for {
		err := l.lead(ctx, run)
		if !errors.Is(err, errNotLeading) && !errors.Is(err, consumer.ErrTakenOver) {
			return err
		}
		logger.InfoContext(ctx, "another process follows the stream", "worker", worker)
	}
}

// recovered is a handler whose panics are errors: a record that finds a bug fails with its batch, and not the process, which
// would meet it again after each start.
func recovered(handle consumer.Handler) consumer.Handler {
	return func(ctx context.Context, b consumer.Batch) (err error) {
		defer func() {
			if fault := recover(); fault != nil {
				err = panicked(fault)
			}
		}()
		return handle(ctx, b)
	}
}
