package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/spf13/cobra"

	"github.com/monotable/monotable/consumer"
)

// The intervals at which tail reads records, and lists shards. AWS allows five reads per second and
// shard.
const (
	tailInterval         = 250 * time.Millisecond
	tailDiscoverInterval = 2 * time.Second
)

// tailFlags are the flags of the stream tail command.
type tailFlags struct {
	streamsFlags
	from          string
	untilCaughtUp bool
	json          bool
}

func newStreamTail(env Environment) *cobra.Command {
	var flags tailFlags
	cmd := &cobra.Command{
		Use:   "tail TABLE|ARN",
		Short: "Print the changes of a table as they happen",
		Long: `Print the changes of a table from its stream, until interrupted or until the stream is disabled: the time, the event,
the key, and what changed, as old value → new value. Changes to the same item are printed in order.

With --json, each line is a stream record in DynamoDB JSON. --from is "latest" for changes from now on, "trim-horizon"
for everything in the stream, or a sequence number for the changes after it. --until-caught-up stops when there are no
more changes.`,
		Example: `  monotable stream tail orders
  monotable stream tail orders --from trim-horizon --until-caught-up
  monotable stream tail orders --json | jq -c '[.eventName, .dynamodb.Keys]'`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tail(cmd.Context(), env, &flags, args[0])
		},
	}
	flags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.from, "from", "latest", "where to start: latest, trim-horizon or a sequence number")
	f.BoolVar(&flags.untilCaughtUp, "until-caught-up", false, "stop when there are no more changes")
	f.BoolVar(&flags.json, "json", false, "print records as DynamoDB JSON, one per line")
	return cmd
}

func tail(ctx context.Context, env Environment, flags *tailFlags, tableOrARN string) error {
	from, err := flags.position()
	if err != nil {
		return err
	}
	client, err := flags.client(ctx, env)
	if err != nil {
		return err
	}
	arn, err := client.find(ctx, tableOrARN)
	if err != nil {
		return err
	}
	d, err := client.describe(ctx, arn)
	if err != nil {
		return err
	}
	if arn != tableOrARN && d.StreamStatus == types.StreamStatusDisabled {
		return fmt.Errorf("the stream of table %q is disabled; read its remaining records by its ARN, %s, or enable a new one with: %s",
			tableOrARN, arn, client.enable(tableOrARN))
	}
	line := consumer.MarshalRecord
	if !flags.json {
		line = changeLine(d.KeySchema)
	}
	c, err := consumer.New(client, arn, printRecords(env, line), consumer.Options{
		From: from, PollInterval: tailInterval, DiscoverInterval: tailDiscoverInterval,
		Concurrency: 1, // lines are printed whole
		MaxAttempts: 1, // an output that failed stays closed
		Logger:      slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	follow := c.Run
	if flags.untilCaughtUp {
		follow = c.CatchUp
	}
	err = follow(ctx)
	if errors.Is(err, context.Canceled) {
		return nil // interrupted, as intended
	}
	return err
}

func (f *tailFlags) position() (consumer.Position, error) {
	switch {
	case f.from == "latest":
		return consumer.Latest, nil
	case f.from == "trim-horizon":
		return consumer.TrimHorizon, nil
	case f.from != "" && strings.Trim(f.from, "0123456789") == "":
		return consumer.Position(f.from), nil
	default:
		return "", fmt.Errorf("--from %q: want latest, trim-horizon or a sequence number", f.from)
	}
}

// printRecords is a handler that prints each record as a line.
func printRecords(env Environment, line func(types.Record) ([]byte, error)) consumer.Handler {
	return func(_ context.Context, batch consumer.Batch) error {
		for _, r := range batch.Records {
			text, err := line(r)
			if err != nil {
				return err
			}
			if _, err := env.Stdout.Write(append(text, '\n')); err != nil {
				return err
			}
		}
		return nil
	}
}
