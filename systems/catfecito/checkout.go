package catfecito

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/once"
	"github.com/monotable/monotable/systems/internal/problem"
)

// order is an order with its lines.
type order struct {
	catfecitodb.Order
	Lines []catfecitodb.OrderItem
}

// withLines returns an order with its lines. The lines of a new order are in the cart's order.
func withLines(o catfecitodb.Order, lines []catfecitodb.OrderItem) order {
	slices.SortFunc(lines, func(a, b catfecitodb.OrderItem) int { return strings.Compare(a.ProductID, b.ProductID) })
	return order{o, lines}
}

// checkout turns the current contents of a user's cart into an order, if the total is the one that they have agreed to. For a
// retry it returns the first response and sets replayed.
func (s *service) checkout(ctx context.Context, who auth.Principal, in api.KeyedBody[OrderInput]) (created order, replayed bool, err error) {
	delivery, err := deliveryOf(in.Body.Delivery)
	if err != nil {
		return order{}, false, err
	}
	return once.Do(func() (order, bool, error) {
		lines, err := s.orderLines(ctx, who.Sub, in.Body.Total)
		if err != nil {
			return order{}, false, err // the first attempt may have emptied the cart
		}
		result, err := s.db.PlaceOrder(ctx, catfecitodb.PlaceOrderInput{
			RequestKey: in.RequestKey, Agreed: int64(in.Body.Total), OrderID: uuid.NewString(), UserID: who.Sub, Lines: lines,
			Summary: summaryOf(lines), Delivery: delivery,
		})
		return withLines(pending(result.Order), result.OrderItem), result.Replayed, refusedLine(err, lines)
	}, func() (order, error) { return s.checkedOut(ctx, who.Sub, in, delivery) })
}

// orderLines returns the order lines for a user's cart. The transaction checks that products and cart still match them.
func (s *service) orderLines(ctx context.Context, userID string, agreed Money) ([]catfecitodb.PlaceOrderLine, error) {
	cart, err := s.cart(ctx, userID)
	if err != nil {
		return nil, err
	}
	switch {
	case len(cart) == 0:
		return nil, errCartEmpty
	case len(cart) > cartLines:
		return nil, errCartFull
	}
	var lines []catfecitodb.PlaceOrderLine
	var total int64
	for _, l := range cart {
		switch {
		case l.product == nil || !l.product.IsActive:
			return nil, lineProblem(codeUnavailable, "a product in the cart is no longer on sale", l.ProductID)
		case l.product.Stock < l.Quantity:
			return nil, lineProblem(codeOutOfStock, "not enough of a product in the cart are left in stock", l.ProductID)
		}
		lines = append(lines, catfecitodb.PlaceOrderLine{
			ProductID: l.ProductID, ProductName: l.product.Name, Price: l.product.Price, Quantity: l.Quantity, Subtotal: l.subtotal(),
		})
		total += l.subtotal()
	}
	if Money(total) != agreed {
		return nil, errTotalChanged.With(fmt.Sprintf("the cart's total is now %s: review it", Money(total)))
	}
	return lines, nil
}

var errTotalChanged = problem.Conflict("total_changed", "the cart's total has changed: review it")

// checkedOut returns the order that a checkout with this key has created, if it was this request.
func (s *service) checkedOut(ctx context.Context, userID string, in api.KeyedBody[OrderInput], delivery *catfecitodb.Delivery) (order, error) {
	record, err := s.db.CheckoutByKey(ctx, catfecitodb.CheckoutByKeyInput{UserID: userID, RequestKey: in.RequestKey})
	if err != nil {
		return order{}, err
	}
	found, err := s.db.OrderWithItems(ctx, catfecitodb.OrderWithItemsInput{OrderID: record.OrderID, UserID: userID})
	switch {
	case err != nil:
		return order{}, err
	case record.Total != int64(in.Body.Total), !reflect.DeepEqual(found.Order.Delivery, delivery):
		return order{}, catfecitodb.ErrCheckoutReused
	}
	return withLines(pending(found.Order), found.OrderItem), nil
}

// pending returns an order as it was created; only its status and payment can have changed since.
func pending(o catfecitodb.Order) catfecitodb.Order {
	o.Status, o.PaidAt, o.PaidWith, o.PaymentID = catfecitodb.OrderStatusPending, nil, nil, nil
	return o
}

// refusedLine adds the product concerned to the error for a rejected order.
func refusedLine(err error, lines []catfecitodb.PlaceOrderLine) error {
	refusal, ok := errors.AsType[*table.Refusal](err)
	if !ok || refusal.Line < 0 || refusal.Line >= len(lines) {
		return err
	}
	for _, rule := range rules() {
		if errors.Is(err, rule.Err) {
			refused := lineProblem(rule.Code, rule.Detail, lines[refusal.Line].ProductID)
			refused.Err = err
			return refused
		}
	}
	return err
}

// lineProblem says why a product in a cart cannot be ordered.
func lineProblem(code, detail, productID string) *problem.Error {
	return &problem.Error{
		Status: http.StatusConflict, Code: code, Detail: detail, Fields: []problem.Field{{Field: "cart." + productID, Message: detail}},
	}
}
