package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

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
		workers = append(workers, system.Worker{Name: worker, Run: func(ctx context.Context) error {
			return follow(ctx, d, worker, stream, create, logger)
		}})
	}
	return workers
}

func follow(ctx context.Context, d *Database, worker string, stream system.Stream, create bool, logger *slog.Logger) error {
	described, err := d.DynamoDB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &stream.Table})
	if err != nil {
		return err
	}
	arn := aws.ToString(described.Table.LatestStreamArn)
	if arn == "" {
		return fmt.Errorf("table %s has no stream: switch it on with NEW_AND_OLD_IMAGES", stream.Table)
	}
	checkpoints := consumer.NewTable(d.DynamoDB, CheckpointTable, worker)
	if create {
		if err := checkpoints.Create(ctx); err != nil {
			return err
		}
	}
	c, err := consumer.New(d.Streams, arn, stream.Handle, consumer.Options{
		Checkpoints: checkpoints, PollInterval: d.Poll, SkipTrimmed: true, Logger: logger.With("worker", worker),
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}
