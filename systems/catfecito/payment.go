package catfecito

import (
	"context"
	"errors"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/catfecito/payments"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// PaymentSecret is the environment variable that enables the test payment provider; its value is the signing secret. Without it,
// and without a provider in Options, customers can only pay cash.
const PaymentSecret = "CATFECITO_TEST_PAYMENT_SECRET"

// errNoProvider is the error for a payment without a provider.
var errNoProvider = problem.NotFound("payments_off", "this shop accepts cash only: pay at the counter within 30 minutes")

// beginPayment returns the address at which users pay their own order.
func (s *service) beginPayment(ctx context.Context, who auth.Principal, in OrderPath) (PaymentPage, error) {
	if s.provider == nil {
		return PaymentPage{}, errNoProvider
	}
	o, err := s.ownOrder(ctx, who.Sub, in.OrderID)
	if err != nil {
		return PaymentPage{}, err
	}
	if o.Status != catfecitodb.OrderStatusPending {
		return PaymentPage{}, catfecitodb.ErrOrderNotPending
	}
	url, err := s.provider.Begin(ctx, payments.Payment{OrderID: in.OrderID, Amount: o.Total})
	return PaymentPage{url}, err
}

// paymentIgnored is the outcome of an event that changes nothing here.
const paymentIgnored = "ignored"

// paymentEvent handles a provider's event, once. A payment that does not pay an order is refunded, because it came too late, the
// order was already paid, or the amount differs. Its record is stored first, so that a redelivered event completes the refund. A
// refund that fails is set aside, because a provider does not redeliver an event forever.
func (s *service) paymentEvent(ctx context.Context, _ auth.Principal, in signedEvent) (PaymentResult, error) {
	if s.provider == nil {
		return PaymentResult{}, errNoProvider
	}
	e, err := s.provider.Event(in.header, in.RawBody)
	if err != nil {
		return PaymentResult{}, err
	}
	if e.Kind != payments.Succeeded {
		return PaymentResult{paymentIgnored}, nil
	}
	done, err := s.settlePayment(ctx, e)
	if err == nil && done == catfecitodb.PaymentOutcomeRefunded {
		err = s.refundOrSetAside(ctx, catfecitodb.SetRefundAsideInput{OrderID: e.OrderID, PaymentID: e.PaymentID, Amount: e.Amount})
	}
	return PaymentResult{string(done)}, err
}

// settlePayment pays an order, or records that a payment must be refunded. For a retry it returns the first outcome.
func (s *service) settlePayment(ctx context.Context, e payments.Event) (catfecitodb.PaymentOutcome, error) {
	_, refusal := s.db.ApplyPayment(ctx, catfecitodb.ApplyPaymentInput{PaymentID: e.PaymentID, EventID: e.ID, OrderID: e.OrderID, Amount: e.Amount})
	switch {
	case refusal == nil:
		return catfecitodb.PaymentOutcomeApplied, nil
	case errors.Is(refusal, catfecitodb.ErrPaymentExists):
		return s.paymentDone(ctx, e.PaymentID)
	case !errors.Is(refusal, catfecitodb.ErrOrderNotPending) && !errors.Is(refusal, catfecitodb.ErrWrongAmount) && !errors.Is(refusal, catfecitodb.ErrOrderNotFound):
		return "", refusal
	}
	// An order never becomes pending again, so no other delivery of the event can still pay it.
	_, err := s.db.RefusePayment(ctx, catfecitodb.RefusePaymentInput{PaymentID: e.PaymentID, EventID: e.ID, OrderID: e.OrderID, Amount: e.Amount})
	switch {
	case errors.Is(err, catfecitodb.ErrPaymentExists):
		return s.paymentDone(ctx, e.PaymentID)
	case err != nil:
		return "", err
	}
	s.logger.WarnContext(ctx, "a payment has no payable order and is refunded", "payment", e.PaymentID, "order", e.OrderID, "because", refusal)
	return catfecitodb.PaymentOutcomeRefunded, nil
}

// paymentDone returns the outcome of a payment.
func (s *service) paymentDone(ctx context.Context, paymentID string) (catfecitodb.PaymentOutcome, error) {
	p, err := s.db.PaymentByID(ctx, catfecitodb.PaymentByIDInput{PaymentID: paymentID})
	return p.Outcome, err
}

// ownOrder returns a user's own order, without its lines.
func (s *service) ownOrder(ctx context.Context, userID, orderID string) (catfecitodb.Order, error) {
	o, err := s.db.OrderByID(ctx, catfecitodb.OrderByIDInput{OrderID: orderID, UserID: userID})
	if errors.Is(err, table.ErrNotFound) {
		return o, s.missingOrAnothers(ctx, orderID, err)
	}
	return o, err
}
