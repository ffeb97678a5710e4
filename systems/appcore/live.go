package appcore

import (
	"context"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/danielgtaylor/huma/v2"

	"github.com/monotable/monotable/consumer"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/live"
)

// topic is what a page subscribes to: one user's data or, for operators, all transactions.
type topic struct {
	operators bool
	userID    string
}

// notify publishes created and changed items. It ignores copies; settlement logs unreadable items.
func (s *service) notify(_ context.Context, b consumer.Batch) error {
	for _, r := range b.Records {
		if r.Dynamodb == nil || r.EventName == streams.OperationTypeRemove {
			continue
		}
		item, place, err := appcoredb.Decode(table.FromStream(r.Dynamodb.NewImage))
		if err != nil || place.Kind != table.KeyPlace {
			continue
		}
		switch x := item.(type) {
		case appcoredb.Transaction:
			s.hub.Publish("transaction", showTransaction(x), topic{userID: x.UserID})
			s.hub.Publish("transaction", showOperated(s.operated(x)), topic{operators: true})
		case appcoredb.Notification:
			s.hub.Publish("notification", showNotification(withRef(x)), topic{userID: x.UserID})
		}
	}
	return nil
}

// liveRoutes registers the event streams.
func (s *service) liveRoutes(a huma.API, operators api.Option) {
	live.Register(a, s.hub, huma.Operation{
		OperationID: "watchOwn", Path: "/events", Summary: "Changes to your transactions and notifications", Tags: []string{"Transactions"},
		Description: "transaction, when one is created or settled; notification, when one is created or marked.",
	}, map[string]any{"transaction": Transaction{}, "notification": Notification{}}, func(_ context.Context, who auth.Principal) (live.Feed[topic], error) {
		return live.Feed[topic]{Topics: []topic{{userID: who.Sub}}}, nil
	})
	live.Register(a, s.hub, huma.Operation{
		OperationID: "watchQueue", Path: "/queue/events", Summary: "Changes to all transactions", Tags: []string{"Operation"},
		Description: "transaction, when one is created or settled.",
	}, map[string]any{"transaction": OperatedTransaction{}}, func(context.Context, auth.Principal) (live.Feed[topic], error) {
		return live.Feed[topic]{Topics: []topic{{operators: true}}}, nil
	}, operators)
}
