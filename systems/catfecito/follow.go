package catfecito

import (
	"context"
	"errors"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

// change is a record of the table's stream. Before and after are nil if there is no item, if it is a copy or marker, or if it
// cannot be read.
type change struct {
	record        streams.Record
	before, after any
}

// follow does everything that follows a change; each part tolerates redelivered records. There is only one consumer, because each
// of a table's stream functions in Lambda calls all handlers.
func (s *service) follow(ctx context.Context, b consumer.Batch) error {
	var changes []change
	for _, r := range b.Records {
		if r.Dynamodb == nil {
			continue
		}
		before, unreadBefore := stored(r.Dynamodb.OldImage)
		after, unreadAfter := stored(r.Dynamodb.NewImage)
		if err := errors.Join(unreadBefore, unreadAfter); err != nil { // a retry would not help
			s.logger.ErrorContext(ctx, "a record of the stream cannot be read", "error", err)
		}
		changes = append(changes, change{r, before, after})
	}
	for _, part := range []func(context.Context, []change) error{s.audit, s.keepLists, s.refund} {
		if err := part(ctx, changes); err != nil {
			return err
		}
	}
	return nil
}

// stored returns an image's item, or nil for copies and markers.
func stored(image map[string]streams.AttributeValue) (any, error) {
	if image == nil {
		return nil, nil
	}
	item, place, err := catfecitodb.Decode(table.FromStream(image))
	if err != nil || place.Kind != table.KeyPlace {
		return nil, err
	}
	return item, nil
}
