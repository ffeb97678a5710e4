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

// CheckpointTable stores the stream checkpoints of all systems.
const CheckpointTable = "stream-checkpoints"

// errReturned is for a worker that returned before its context ended.
var errReturned = errors.New("returned before the end")

// followers returns workers that consume a system's streams.
func followers(d *Database, name string, streams []system.Stream, create bool, logger *slog.Logger) []system.Worker {
	var workers []system.Worker
	for _, stream := range streams {
		worker := name + "/" + stream.Name
		own := consumer.NewMemory() // shared by all runs: after a failure the worker resumes where it stopped
		workers = append(workers, system.Worker{Name: worker, Run: func(ctx context.Context) error {
			return follow(ctx, d, worker, stream, own, create, logger)
		}})
	}
	return workers
}

// ofEveryProcess returns the streams that even processes without workers consume.
func ofEveryProcess(streams []system.Stream) []system.Stream {
	return slices.DeleteFunc(slices.Clone(streams), func(s system.Stream) bool { return !s.EveryProcess })
}

// follow consumes a stream. A stream that every process consumes has its own checkpoints in each process.
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

// recovered turns a handler's panics into errors. A record that triggers a bug then fails its batch rather than the process,
// which would hit the same record after every restart.
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
