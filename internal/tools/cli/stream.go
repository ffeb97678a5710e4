package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/spf13/cobra"
)

func newStream(env Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stream",
		Short: "Inspect the streams of tables and follow their changes",
		Long: `Inspect the streams of a running database's tables, and follow their changes. The commands use DynamoDB's API, so they
work with any endpoint that supports streams.

Without --endpoint, they use AWS_ENDPOINT_URL_DYNAMODB_STREAMS, or else, in this order,
` + endpointDefaults + `.
They sign with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY if these are set, and otherwise with placeholders.`,
		Example: `  monotable stream list
  monotable stream describe orders
  monotable stream tail orders`,
		RunE: group,
	}
	cmd.AddCommand(newStreamList(env), newStreamDescribe(env), newStreamTail(env))
	return cmd
}

// streamsFlags identify the streams of a command.
type streamsFlags struct {
	endpoint string
	region   string
}

func (f *streamsFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.endpoint, "endpoint", "", "URL of the server, or aws (default see monotable stream --help)")
	cmd.Flags().StringVar(&f.region, "region", "", "region to sign for (default "+regionDefaults+")")
}

// streamsClient is a client of an endpoint's streams, with the endpoint's name for messages.
type streamsClient struct {
	*dynamodbstreams.Client
	endpoint string
}

func (f *streamsFlags) client(ctx context.Context, env Environment) (streamsClient, error) {
	endpoint := endpointOf(env, f.endpoint, "AWS_ENDPOINT_URL_DYNAMODB_STREAMS")
	c, err := connect(ctx, env, connectionFlags{flag: "endpoint", endpoint: endpoint, region: f.region})
	return streamsClient{c.streams(), c.endpoint}, err
}

// list returns the streams of a table, or of all if it is "".
func (c streamsClient) list(ctx context.Context, table string) ([]types.Stream, error) {
	in := &dynamodbstreams.ListStreamsInput{}
	if table != "" {
		in.TableName = &table
	}
	var all []types.Stream
	for {
		out, err := c.ListStreams(ctx, in)
		if err != nil {
			return nil, c.explain(err)
		}
		all = append(all, out.Streams...)
		if in.ExclusiveStartStreamArn = out.LastEvaluatedStreamArn; aws.ToString(in.ExclusiveStartStreamArn) == "" {
			return all, nil
		}
	}
}

// find returns the ARN of a table's newest stream; an ARN is returned as it is.
func (c streamsClient) find(ctx context.Context, tableOrARN string) (string, error) {
	if strings.HasPrefix(tableOrARN, "arn:") && strings.Contains(tableOrARN, "/stream/") {
		return tableOrARN, nil
	}
	streams, err := c.list(ctx, tableOrARN)
	if err != nil && !isNoStream(err) {
		return "", err
	}
	var newest types.Stream
	for _, s := range streams {
		if aws.ToString(s.StreamLabel) >= aws.ToString(newest.StreamLabel) {
			newest = s
		}
	}
	if newest.StreamArn == nil {
		return "", fmt.Errorf("table %q does not exist or has no stream; enable one with: %s", tableOrARN, c.enable(tableOrARN))
	}
	return *newest.StreamArn, nil
}

// enable is the command that enables a table's stream.
func (c streamsClient) enable(table string) string {
	return fmt.Sprintf("aws dynamodb update-table --table-name %s --stream-specification StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES --endpoint-url %s",
		shellQuote(table), shellQuote(c.endpoint))
}

// describe returns a stream with all its shards.
func (c streamsClient) describe(ctx context.Context, arn string) (*types.StreamDescription, error) {
	in := &dynamodbstreams.DescribeStreamInput{StreamArn: &arn}
	var shards []types.Shard
	for {
		out, err := c.DescribeStream(ctx, in)
		if err != nil {
			return nil, c.explain(err)
		}
		description := out.StreamDescription
		shards = append(shards, description.Shards...)
		if in.ExclusiveStartShardId = description.LastEvaluatedShardId; aws.ToString(in.ExclusiveStartShardId) == "" {
			description.Shards = shards
			return description, nil
		}
	}
}

// explain turns the SDK's errors into what the user can act on.
func (c streamsClient) explain(err error) error {
	var coded interface{ ErrorCode() string }
	if errors.As(err, &coded) && coded.ErrorCode() == "UnknownOperationException" {
		return fmt.Errorf("%s does not serve DynamoDB Streams: %w", c.endpoint, err)
	}
	return err
}

func isNoStream(err error) bool {
	_, ok := errors.AsType[*types.ResourceNotFoundException](err)
	return ok
}
