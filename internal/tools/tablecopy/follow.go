package tablecopy

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/smithy-go"

	"github.com/monotable/monotable/consumer"
)

const (
	// lagInterval is how often to check the lag of the copy.
	lagInterval = 2 * time.Second
	// lagSmall is the maximum lag of a copy that counts as caught up.
	lagSmall = 5 * time.Second
	// sureKept is how long a stream is guaranteed to keep changes.
	sureKept = 23 * time.Hour
)

// position records the position in the source's stream, before the first item is read.
func (c *copier) position(ctx context.Context, t *tableState) error {
	if t.Stream != "" {
		return nil
	}
	arn, err := c.streamOf(ctx, t)
	if err != nil {
		return err
	}
	// A consumer that starts at the end of the stream saves that position, and is then stopped.
	reading, stop := context.WithCancel(ctx)
	defer stop()
	wait := func(ctx context.Context, _ consumer.Batch) error {
		<-ctx.Done()
		return ctx.Err()
	}
	follower, err := c.consumer(arn, wait, consumer.Options{From: consumer.Latest, Begun: stop})
	if err != nil {
		return err
	}
	if err := follower.Run(reading); err != nil && (ctx.Err() != nil || !errors.Is(err, context.Canceled)) {
		return fmt.Errorf("find the end of the stream: %w", err)
	}
	t.Stream = arn
	return c.state.save()
}

// streamOf returns the ARN of the table's stream, which it turns on if permitted.
func (c *copier) streamOf(ctx context.Context, t *tableState) (string, error) {
	d, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return "", err
	}
	if d == nil {
		return "", errSourceDeleted
	}
	if streaming(d) {
		return aws.ToString(d.LatestStreamArn), nil
	}
	if !c.o.EnableStream {
		return "", errNoStream
	}
	if err := c.state.update(func() { t.EnabledStream = true }); err != nil {
		return "", err
	}
	if _, err := c.o.From.Client.UpdateTable(ctx, &dynamodb.UpdateTableInput{
		TableName: &t.Source, StreamSpecification: &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeKeysOnly},
	}); err != nil {
		return "", fmt.Errorf("turn the stream on: %w", err)
	}
	c.logf("%s: turned the stream of the source on", t.Source)
	d, err = c.waitActive(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return "", err
	}
	return aws.ToString(d.LatestStreamArn), nil
}

// streaming reports whether a table's stream is on.
func streaming(d *types.TableDescription) bool {
	return d.StreamSpecification != nil && aws.ToBool(d.StreamSpecification.StreamEnabled)
}

func (c *copier) consumer(arn string, handle consumer.Handler, o consumer.Options) (*consumer.Consumer, error) {
	checkpoints, err := c.state.streams()
	if err != nil {
		return nil, err
	}
	o.Checkpoints, o.Logger = checkpoints, c.o.Logger
	return consumer.New(streams{c.o.From.Streams}, arn, handle, o)
}

// streams reads a shard from its beginning if the server has no iterators by time, like DynamoDB Local: earlier changes are
// then applied again, with the same result.
type streams struct{ *dynamodbstreams.Client }

// GetShardIterator implements consumer.Streams.
func (s streams) GetShardIterator(ctx context.Context, in *dynamodbstreams.GetShardIteratorInput, o ...func(*dynamodbstreams.Options)) (*dynamodbstreams.GetShardIteratorOutput, error) {
	out, err := s.Client.GetShardIterator(ctx, in, o...)
	coded, is := errors.AsType[smithy.APIError](err)
	if !is || in.ShardIteratorType != streamtypes.ShardIteratorTypeAtTimestamp || time.Since(aws.ToTime(in.Timestamp)) > sureKept {
		return out, err
	}
	switch coded.ErrorCode() {
	case "InternalFailure", "ValidationException":
		begin := *in
		begin.ShardIteratorType, begin.Timestamp = streamtypes.ShardIteratorTypeTrimHorizon, nil
		return s.Client.GetShardIterator(ctx, &begin, o...)
	default:
		return out, err
	}
}

// follow applies changes until ctx ends, and reports the lag.
func (c *copier) follow(ctx context.Context, t *tableState) error {
	follower, err := c.consumer(t.Stream, c.applier(t), consumer.Options{})
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		c.watch(watching, t, follower)
	}()
	err = follower.Run(ctx)
	stop()
	<-watched
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return fmt.Errorf("table %s: its stream was turned off; all changes up to then are copied", t.Source)
	default:
		return fmt.Errorf("table %s: %w", t.Source, trimmed(err))
	}
}

// watch reports when the copy catches up or falls behind.
func (c *copier) watch(ctx context.Context, t *tableState, follower *consumer.Consumer) {
	c.logf("%s: following its changes", t.Source)
	tick := time.NewTicker(lagInterval)
	defer tick.Stop()
	for caughtUp := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lags := follower.Lag()
		worst := time.Duration(0)
		for _, lag := range lags {
			worst = max(worst, lag)
		}
		switch {
		case len(lags) > 0 && worst <= lagSmall && !caughtUp:
			caughtUp = true
			c.logf("%s: caught up; new changes are copied as they arrive", t.Source)
		case worst > 6*lagSmall && caughtUp:
			caughtUp = false
			c.logf("%s: is %v behind", t.Source, worst.Round(time.Second))
		}
	}
}

// catchUp applies the remaining changes.
func (c *copier) catchUp(ctx context.Context, t *tableState) error {
	follower, err := c.consumer(t.Stream, c.applier(t), consumer.Options{})
	if err != nil {
		return err
	}
	if err := follower.CatchUp(ctx); err != nil {
		return trimmed(err)
	}
	source, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return err
	}
	if source == nil {
		return errSourceDeleted
	}
	on := source.StreamSpecification != nil && aws.ToBool(source.StreamSpecification.StreamEnabled)
	if aws.ToString(source.LatestStreamArn) != t.Stream || !on && !t.EnabledStream { // this copy turns its own off at the end
		return errors.New("its stream was turned off, so changes after that are unknown: delete the target table and the state file and start over")
	}
	c.logf("%s: caught up with its changes", t.Source)
	return nil
}

func trimmed(err error) error {
	if errors.Is(err, consumer.ErrTrimmed) {
		return fmt.Errorf("the copy is too far behind: DynamoDB keeps changes for 24 hours, and some are no longer available; "+
			"delete the target table and the state file and start over, with more --segments or --units (%w)", err)
	}
	return err
}

// applier copies the current state of the changed items from the source. It does not use the stream's images: an item read
// from the table is never older than the target's, streams with only keys are enough, and DynamoDB Local's images lose
// empty maps.
func (c *copier) applier(t *tableState) consumer.Handler {
	return func(ctx context.Context, batch consumer.Batch) error {
		changed := map[string]Item{} // keys
		for i := range batch.Records {
			if batch.Records[i].Dynamodb == nil {
				continue
			}
			key, err := attributevalue.FromDynamoDBStreamsMap(batch.Records[i].Dynamodb.Keys)
			if err != nil {
				return err
			}
			changed[identity(key)] = key
		}
		found, err := c.read(ctx, &c.o.From, t.Source, slices.Collect(maps.Values(changed)))
		if err != nil {
			return err
		}
		writes := make([]types.WriteRequest, 0, len(changed))
		for id, key := range changed {
			if item, there := found[id]; there {
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: item}})
			} else {
				writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: key}})
			}
		}
		return c.write(ctx, t.Target, writes)
	}
}
