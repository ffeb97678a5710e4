package lambdahttp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/internal/system"
)

// follow passes records to the streams' handlers as a consumer.Consumer would.
func (h *Handler) follow(ctx context.Context, event events.DynamoDBEvent) error {
	if len(event.Records) == 0 {
		return nil
	}
	batch := consumer.Batch{Stream: event.Records[0].EventSourceArn}
	for _, r := range event.Records {
		if r.EventSourceArn != batch.Stream {
			return errors.New("lambdahttp: records of several streams in one event")
		}
		record, err := recordOf(r)
		if err != nil {
			return err
		}
		batch.Records = append(batch.Records, record)
	}
	return h.handle(ctx, batch)
}

// handle passes a batch to all handlers of its table.
func (h *Handler) handle(ctx context.Context, batch consumer.Batch) error {
	followers, err := h.followers(batch.Stream)
	if err != nil {
		return err
	}
	for _, stream := range followers {
		if stream.EveryProcess {
			continue // it notifies connected clients, of which a function has none
		}
		if err := stream.Handle(ctx, batch); err != nil {
			return fmt.Errorf("%s: %w", stream.Name, err)
		}
	}
	return nil
}

// followers returns the consumers of a stream's table.
func (h *Handler) followers(stream string) (list []system.Stream, err error) {
	table := tableOf(stream)
	for _, s := range h.streams {
		if s.Table == table {
			list = append(list, s)
		}
	}
	if list == nil {
		return nil, fmt.Errorf("lambdahttp: no worker follows table %q", table)
	}
	return list, nil
}

// tableOf returns the table in a stream's ARN: arn:aws:dynamodb:region:account:table/NAME/stream/time.
func tableOf(arn string) string {
	_, rest, _ := strings.Cut(arn, ":table/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}

func recordOf(r events.DynamoDBEventRecord) (types.Record, error) {
	record := types.Record{
		AwsRegion: aws.String(r.AWSRegion), EventID: aws.String(r.EventID), EventName: types.OperationType(r.EventName),
		EventSource: aws.String(r.EventSource), EventVersion: aws.String(r.EventVersion),
		Dynamodb: &types.StreamRecord{
			ApproximateCreationDateTime: aws.Time(r.Change.ApproximateCreationDateTime.Time),
			SequenceNumber:              aws.String(r.Change.SequenceNumber),
			SizeBytes:                   aws.Int64(r.Change.SizeBytes),
			StreamViewType:              types.StreamViewType(r.Change.StreamViewType),
		},
	}
	if r.UserIdentity != nil {
		record.UserIdentity = &types.Identity{Type: aws.String(r.UserIdentity.Type), PrincipalId: aws.String(r.UserIdentity.PrincipalID)}
	}
	for _, image := range []struct {
		from map[string]events.DynamoDBAttributeValue
		to   *map[string]types.AttributeValue
	}{{r.Change.Keys, &record.Dynamodb.Keys}, {r.Change.NewImage, &record.Dynamodb.NewImage}, {r.Change.OldImage, &record.Dynamodb.OldImage}} {
		item, err := itemOf(image.from)
		if err != nil {
			return types.Record{}, fmt.Errorf("lambdahttp: record %s: %w", r.Change.SequenceNumber, err)
		}
		*image.to = item
	}
	return record, nil
}

// itemOf converts an image, and returns nil for an absent one.
func itemOf(from map[string]events.DynamoDBAttributeValue) (map[string]types.AttributeValue, error) {
	if from == nil {
		return nil, nil //nolint:nilnil // no image is a valid answer
	}
	item := make(map[string]types.AttributeValue, len(from))
	for name, value := range from {
		converted, err := valueOf(value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		item[name] = converted
	}
	return item, nil
}

func valueOf(v events.DynamoDBAttributeValue) (types.AttributeValue, error) {
	switch v.DataType() {
	case events.DataTypeString:
		return &types.AttributeValueMemberS{Value: v.String()}, nil
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}, nil
	case events.DataTypeBinary:
		return &types.AttributeValueMemberB{Value: v.Binary()}, nil
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}, nil
	case events.DataTypeNull:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case events.DataTypeStringSet:
		return &types.AttributeValueMemberSS{Value: v.StringSet()}, nil
	case events.DataTypeNumberSet:
		return &types.AttributeValueMemberNS{Value: v.NumberSet()}, nil
	case events.DataTypeBinarySet:
		return &types.AttributeValueMemberBS{Value: v.BinarySet()}, nil
	case events.DataTypeMap:
		item, err := itemOf(v.Map())
		return &types.AttributeValueMemberM{Value: item}, err
	case events.DataTypeList:
		list := make([]types.AttributeValue, 0, len(v.List()))
		for _, element := range v.List() {
			converted, err := valueOf(element)
			if err != nil {
				return nil, err
			}
			list = append(list, converted)
		}
		return &types.AttributeValueMemberL{Value: list}, nil
	default:
		return nil, fmt.Errorf("unknown type %v", v.DataType())
	}
}
