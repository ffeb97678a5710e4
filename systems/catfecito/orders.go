package catfecito

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
)

// errAnothersOrder is the error for another user's order.
var errAnothersOrder = errors.New("the order belongs to another user")

// order returns a user's own order with its lines; staff can get any order.
func (s *service) order(ctx context.Context, who auth.Principal, in OrderPath) (order, error) {
	if who.In(AdminGroup) {
		found, err := s.db.OrderForStaff(ctx, catfecitodb.OrderForStaffInput{OrderID: in.OrderID})
		return withLines(found.Order, found.OrderItem), err
	}
	found, err := s.db.OrderWithItems(ctx, catfecitodb.OrderWithItemsInput{OrderID: in.OrderID, UserID: who.Sub})
	if !errors.Is(err, table.ErrNotFound) {
		return withLines(found.Order, found.OrderItem), err
	}
	return order{}, s.missingOrAnothers(ctx, in.OrderID, err)
}

// missingOrAnothers returns why an order is not a user's own: missing, or errAnothersOrder.
func (s *service) missingOrAnothers(ctx context.Context, orderID string, missing error) error {
	switch _, err := s.db.OrderExists(ctx, catfecitodb.OrderExistsInput{OrderID: orderID}); {
	case err == nil:
		return errAnothersOrder
	case errors.Is(err, table.ErrNotFound):
		return missing
	default:
		return err
	}
}

// payCash marks an order as paid in cash, on behalf of staff and once per request key.
func (s *service) payCash(ctx context.Context, who auth.Principal, in keyedOrder) (catfecitodb.Order, error) {
	result, err := s.db.PayOrder(ctx, catfecitodb.PayOrderInput{
		RequestKey: in.RequestKey, Operation: catfecitodb.OperationPayOrder, UserID: who.Sub, OrderID: in.OrderID,
	})
	if err != nil {
		return catfecitodb.Order{}, err
	}
	paid := valueOf(result.Order)
	if result.Replayed {
		found, err := s.db.OrderForStaff(ctx, catfecitodb.OrderForStaffInput{OrderID: in.OrderID})
		if err != nil {
			return catfecitodb.Order{}, err
		}
		paid = found.Order
	}
	paid.Status = catfecitodb.OrderStatusPaid // as in the first response, in case of a retry
	return paid, nil
}

// cancel cancels an order that has not been shipped and returns its stock, once per request key. Customers can cancel their own
// orders, staff all orders.
func (s *service) cancel(ctx context.Context, who auth.Principal, in keyedOrder) (catfecitodb.Order, error) {
	cancelled, err := s.order(ctx, who, in.OrderPath)
	if err != nil {
		return catfecitodb.Order{}, err
	}
	write := catfecitodb.CancelOrderInput{
		RequestKey: in.RequestKey, Operation: catfecitodb.OperationCancelOrder, UserID: who.Sub, OwnerID: cancelled.UserID, OrderID: in.OrderID,
	}
	for _, l := range cancelled.Lines {
		write.Lines = append(write.Lines, catfecitodb.CancelOrderLine{ProductID: l.ProductID, Quantity: l.Quantity})
	}
	if _, err := s.db.CancelOrder(ctx, write); err != nil {
		return catfecitodb.Order{}, err
	}
	cancelled.Status = catfecitodb.OrderStatusCancelled
	return cancelled.Order, nil
}
