// Command batch-poller calls a function with batches of a table's changes, like AWS Lambda: it follows the table's stream,
// turns each batch into the event that Lambda would send, and stores checkpoints in a table, so that it can resume. The
// function is in handler.go.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/monotable/monotable/consumer"
)

func main() {
	table := flag.String("table", "orders", "table to follow; it needs a stream")
	checkpoints := flag.String("checkpoints", "checkpoints", "table that keeps the checkpoints; created if it is not there")
	name := flag.String("name", "batch-poller", "name of this consumer in the table of checkpoints")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	tables, streams := clients(os.Getenv)
	store := consumer.NewTable(tables, *checkpoints, *name)
	if err := poll(ctx, tables, streams, *table, store, handle, logger); err != nil {
		logger.Error("stopped", "error", err)
		os.Exit(1) //nolint:gocritic // nothing left to clean up
	}
}

// clients use the endpoint, Region and keys of the environment, as printed by "monotable env".
func clients(getenv func(string) string) (*dynamodb.Client, *dynamodbstreams.Client) {
	endpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_DYNAMODB"), "http://127.0.0.1:8000")
	streamsEndpoint := cmp.Or(getenv("AWS_ENDPOINT_URL_DYNAMODB_STREAMS"), endpoint)
	region := cmp.Or(getenv("AWS_REGION"), "us-east-1")
	keys := credentials.NewStaticCredentialsProvider(
		cmp.Or(getenv("AWS_ACCESS_KEY_ID"), "local"), cmp.Or(getenv("AWS_SECRET_ACCESS_KEY"), "local"), getenv("AWS_SESSION_TOKEN"))
	return dynamodb.New(dynamodb.Options{Region: region, BaseEndpoint: &endpoint, Credentials: keys}),
		dynamodbstreams.New(dynamodbstreams.Options{Region: region, BaseEndpoint: &streamsEndpoint, Credentials: keys})
}

// function is a Lambda function.
type function func(ctx context.Context, event []byte) error

// poll calls f with the changes of a table until ctx ends.
func poll(ctx context.Context, tables *dynamodb.Client, streams consumer.Streams, table string, store *consumer.TableCheckpoints, f function, logger *slog.Logger) error {
	described, err := tables.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return err
	}
	if described.Table.LatestStreamArn == nil {
		return fmt.Errorf("table %s has no stream", table)
	}
	if err := store.Create(ctx); err != nil {
		return err
	}
	c, err := consumer.New(streams, *described.Table.LatestStreamArn, call(f), consumer.Options{
		Checkpoints: store,
		BatchSize:   100, // Lambda's default
		Bisect:      true,
		MaxAttempts: 5,
		OnFailure:   deadLetter(logger),
		Logger:      logger,
	})
	if err != nil {
		return err
	}
	logger.Info("following", "stream", *described.Table.LatestStreamArn)
	if err := c.Run(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// call adapts a function to a batch handler.
func call(f function) consumer.Handler {
	return func(ctx context.Context, batch consumer.Batch) error {
		event, err := consumer.MarshalEvent(batch)
		if err != nil {
			return err
		}
		return f(ctx, event)
	}
}

// deadLetter receives batches that are given up. It logs them with the information needed to find them again.
func deadLetter(logger *slog.Logger) func(context.Context, consumer.Failure) error {
	return func(_ context.Context, f consumer.Failure) error {
		logger.Error("gave up a batch", "shard", f.Shard, "attempts", f.Attempts, "error", f.Err,
			"first", *f.Records[0].Dynamodb.SequenceNumber, "last", *f.Records[len(f.Records)-1].Dynamodb.SequenceNumber)
		return nil
	}
}
