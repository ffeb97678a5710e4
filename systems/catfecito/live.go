package catfecito

import (
	"context"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
)

// allOrders is the topic of all orders, for staff; customers subscribe to their own id.
const allOrders = ""

// errLessNow ends the event stream of a caller who has lost the staff role.
var errLessNow = errors.New("the caller now has fewer permissions than when the stream started")

// publishOrders publishes changes of orders to pages.
func (s *service) publishOrders(_ context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.Dynamodb == nil {
			continue
		}
		item, _ := stored(r.Dynamodb.NewImage) // follow logs unreadable items
		if o, ok := item.(catfecitodb.Order); ok {
			s.hub.Publish("order", openOrderOf(o), allOrders, o.UserID)
		}
	}
	return nil
}

// orderEvents describes the order stream.
func orderEvents() (huma.Operation, map[string]any) {
	return huma.Operation{
		OperationID: "watchOrders", Path: "/orders/events", Summary: "Changes to your orders; for staff, to all", Tags: []string{"Orders"},
		Description: "order, when an order is created or changed.",
	}, map[string]any{"order": OpenOrder{}}
}

// watchOrders returns a caller's subscription.
func (s *service) watchOrders(_ context.Context, who auth.Principal) (live.Feed[string], error) {
	of := who.Sub
	if who.In(AdminGroup) {
		of = allOrders
	}
	return live.Feed[string]{Topics: []string{of}, Still: func(ctx context.Context) error {
		if now, err := s.admit(ctx, who); err != nil || of == allOrders && !now.In(AdminGroup) {
			return errors.Join(errLessNow, err)
		}
		return nil
	}}, nil
}
