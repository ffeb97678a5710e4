package catfecito

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
)

// errAnothersOrder is for an order that is there and is another user's.
var errAnothersOrder = errors.New("the order is another user's")

// orders are a page of a user's own, newest first.
func (s *service) orders(ctx context.Context, userID string, page table.PageOptions) (table.Page[catfecitodb.Order], error) {
	return s.db.UserOrders(ctx, catfecitodb.UserOrdersInput{UserID: userID}, page)
}

// order is a user's own with its lines; anybody's for staff.
func (s *service) order(ctx context.Context, who auth.Principal, orderID string) (order, error) {
	if who.In(AdminGroup) {
		found, err := s.db.OrderForStaff(ctx, catfecitodb.OrderForStaffInput{OrderID: orderID})
		return order{found.Order, found.OrderItem}, err
	}
	found, err := s.db.OrderWithItems(ctx, catfecitodb.OrderWithItemsInput{OrderID: orderID, UserID: who.Sub})
	if !errors.Is(err, table.ErrNotFound) {
		return order{found.Order, found.OrderItem}, err
	}
	return order{}, s.missingOrAnothers(ctx, orderID, err)
}

// missingOrAnothers is why an order is not a user's own: missing, or errAnothersOrder.
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

// payCash marks an order as paid, for staff who have the money, once for each request key.
func (s *service) payCash(ctx context.Context, userID, requestKey, orderID string) (catfecitodb.Order, error) {
	result, err := s.db.PayOrder(ctx, catfecitodb.PayOrderInput{
		RequestKey: requestKey, Operation: catfecitodb.OperationPayOrder, UserID: userID, OrderID: orderID,
	})
	if err != nil {
		return catfecitodb.Order{}, err
	}
	paid := valueOf(result.Order)
	if result.Replayed {
		found, err := s.db.OrderForStaff(ctx, catfecitodb.OrderForStaffInput{OrderID: orderID})
		if err != nil {
			return catfecitodb.Order{}, err
		}
		paid = found.Order
	}
	paid.Status = catfecitodb.OrderStatusPaid // as it was then, where the request was made before
	return paid, nil
}

// cancel cancels an order that is not on its way, and its goods go back, once for each request key. It is the user's own, or
// anybody's for staff.
func (s *service) cancel(ctx context.Context, who auth.Principal, requestKey, orderID string) (catfecitodb.Order, error) {
	cancelled, err := s.order(ctx, who, orderID)
	if err != nil {
		return catfecitodb.Order{}, err
	}
	in := catfecitodb.CancelOrderInput{
		RequestKey: requestKey, Operation: catfecitodb.OperationCancelOrder, UserID: who.Sub, OwnerID: cancelled.UserID, OrderID: orderID,
	}
	for _, l := range cancelled.lines {
		in.Lines = append(in.Lines, catfecitodb.CancelOrderLine{ProductID: l.ProductID, Quantity: l.Quantity})
	}
	if _, err := s.db.CancelOrder(ctx, in); err != nil {
		return catfecitodb.Order{}, err
	}
	cancelled.Status = catfecitodb.OrderStatusCancelled
	return cancelled.Order, nil
}

// ship sends an order that is paid.
func (s *service) ship(ctx context.Context, orderID string) (catfecitodb.Order, error) {
	result, err := s.db.ShipOrder(ctx, catfecitodb.ShipOrderInput{OrderID: orderID})
	return valueOf(result.Order), err
}

// deliver hands over an order that was sent.
func (s *service) deliver(ctx context.Context, orderID string) (catfecitodb.Order, error) {
	result, err := s.db.DeliverOrder(ctx, catfecitodb.DeliverOrderInput{OrderID: orderID})
	return valueOf(result.Order), err
}
