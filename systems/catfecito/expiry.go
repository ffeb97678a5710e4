package catfecito

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
)

const (
	// payWithin is how long an unpaid order reserves its stock.
	payWithin = 30 * time.Minute
	// expiryEvery is the interval between checks for overdue orders.
	expiryEvery = time.Minute
)

// expireOrders cancels orders that were not paid in time, and returns their stock. Several processes may run it concurrently
// while customers pay, because a transaction checks that the order is still pending. An order that cannot be cancelled does not
// block the others.
func (s *service) expireOrders(ctx context.Context) error {
	due := s.now().Add(-payWithin)
	var faults []error
	for unpaid, err := range s.db.OpenOrdersAll(ctx, catfecitodb.OpenOrdersInput{Status: catfecitodb.OrderStatusPending, CreatedAtTo: &due}) {
		if err != nil {
			return errors.Join(append(faults, err)...)
		}
		if err := s.expireOrder(ctx, unpaid.OrderID); err != nil {
			faults = append(faults, fmt.Errorf("expire order %s: %w", unpaid.OrderID, err))
		}
	}
	return errors.Join(faults...)
}

// expireOrder cancels an order unless it is no longer pending, because the index may be stale.
func (s *service) expireOrder(ctx context.Context, orderID string) error {
	found, err := s.db.OrderForStaff(ctx, catfecitodb.OrderForStaffInput{OrderID: orderID})
	if errors.Is(err, table.ErrNotFound) || err == nil && found.Order.Status != catfecitodb.OrderStatusPending {
		return nil
	}
	if err != nil {
		return err
	}
	in := catfecitodb.ExpireOrderInput{OrderID: orderID}
	for _, l := range found.OrderItem {
		in.Lines = append(in.Lines, catfecitodb.ExpireOrderLine{ProductID: l.ProductID, Quantity: l.Quantity})
	}
	if _, err = s.db.ExpireOrder(ctx, in); errors.Is(err, catfecitodb.ErrOrderNotPending) {
		return nil
	}
	return err
}
