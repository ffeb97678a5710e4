package catfecito

import (
	"context"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/problem"
)

var errOpenOrders = problem.Conflict("open_orders", "you have orders that are not delivered yet: cancel them, or wait until they are delivered")

// openOrders refuses to erase a user with open orders, which cannot be delivered without their address.
func (s *service) openOrders(ctx context.Context, userID string) error {
	for o, err := range s.db.UserOrdersAll(ctx, catfecitodb.UserOrdersInput{UserID: userID}) {
		if err != nil {
			return err
		}
		if o.Status != catfecitodb.OrderStatusDelivered && o.Status != catfecitodb.OrderStatusCancelled {
			return errOpenOrders
		}
	}
	return nil
}
