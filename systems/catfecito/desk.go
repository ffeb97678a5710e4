package catfecito

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// takingsMost is the longest period for takings: a day on which the clocks change.
const takingsMost = 25 * time.Hour

// takings sums up the payments between two points in time. An order that was cancelled after payment was refunded.
func (s *service) takings(ctx context.Context, _ auth.Principal, in takingsQuery) (Takings, error) {
	if span := in.To.Sub(in.From); span <= 0 || span > takingsMost {
		return Takings{}, problem.BadRequest(problem.CodeInvalidParameter, "the takings of at most 25 hours can be requested",
			problem.Field{Field: "query.to", Message: "must be at most 25 hours after from"})
	}
	until := in.To.Add(-time.Millisecond)
	t := Takings{From: in.From, To: in.To, Hours: make([]Money, (in.To.Sub(in.From)+time.Hour-1)/time.Hour)}
	for o, err := range s.db.PaidOrdersAll(ctx, catfecitodb.PaidOrdersInput{PaidAtFrom: &in.From, PaidAtTo: &until}) {
		if err != nil {
			return Takings{}, err
		}
		amount := Money(o.Total)
		if o.Status == catfecitodb.OrderStatusCancelled {
			t.Refunds++
			t.Refunded += amount
			continue
		}
		t.Orders++
		t.Total += amount
		if o.PaidWith != nil && *o.PaidWith == catfecitodb.PaymentMethodCash {
			t.Cash += amount
		} else {
			t.Online += amount
		}
		if hour := int(valueOf(o.PaidAt).Sub(in.From) / time.Hour); hour >= 0 && hour < len(t.Hours) {
			t.Hours[hour] += amount
		}
	}
	return t, nil
}

// userByEmail finds the user with an address, on behalf of staff.
func (s *service) userByEmail(ctx context.Context, _ auth.Principal, in emailQuery) (catfecitodb.User, error) {
	return s.db.UserByEmail(ctx, catfecitodb.UserByEmailInput{Email: in.Email})
}

var errAddressMissing = problem.BadRequest("address_missing", "the delivery address is missing",
	problem.Field{Field: "body.delivery.address", Message: "is required for a delivery"})

// summaryMost is the maximum length of a summary, in bytes.
const summaryMost = 200

// summaryOf summarises an order's lines.
func summaryOf(lines []catfecitodb.PlaceOrderLine) *string {
	parts := make([]string, len(lines))
	for i, l := range lines {
		parts[i] = fmt.Sprintf("%d × %s", l.Quantity, l.ProductName)
	}
	text := strings.Join(parts, ", ")
	if len(text) > summaryMost {
		text = cut(text, summaryMost-len("…")) + "…"
	}
	return &text
}

// deliveryOf returns an order's delivery address, or nil if the customer gave none.
func deliveryOf(in *Delivery) (*catfecitodb.Delivery, error) {
	if in == nil {
		return nil, nil //nolint:nilnil // an order may say nothing
	}
	if in.Way == catfecitodb.DeliveryWayDelivery && (in.Address == nil || strings.TrimSpace(*in.Address) == "") {
		return nil, errAddressMissing
	}
	return &catfecitodb.Delivery{Way: in.Way, Name: in.Name, Phone: in.Phone, Address: in.Address, Note: in.Note}, nil
}
