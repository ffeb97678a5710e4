package catfecito

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/catfecito/catfecitodb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

const (
	// refundTries is how often a refund is tried before it is left to staff.
	refundTries = 10
	// refundEvery is the interval between tries.
	refundEvery = time.Hour
	// refundsAtOnce is how many of an order's refunds staff try again at once.
	refundsAtOnce = 20
)

var errRefundFailed = problem.Conflict("refund_failed", "the payment provider has not made the refund: try again later, or make it at the provider")

// refund refunds the payments of orders that were cancelled after payment. A provider refunds a payment only once, however often
// it is requested. A refund that fails is set aside, so that it does not hold back later records of the stream.
func (s *service) refund(ctx context.Context, changes []change) error {
	var faults []error
	for _, c := range changes {
		before, was := c.before.(catfecitodb.Order)
		after, is := c.after.(catfecitodb.Order)
		if !was || !is || before.Status == after.Status || after.Status != catfecitodb.OrderStatusCancelled || after.PaymentID == nil {
			continue
		}
		faults = append(faults, s.refundOrSetAside(ctx, catfecitodb.SetRefundAsideInput{OrderID: after.OrderID, PaymentID: *after.PaymentID, Amount: after.Total}))
	}
	return errors.Join(faults...)
}

// refundOrSetAside refunds a payment. If that fails, it is left to retryRefunds and staff; a redelivery does not count as a try.
func (s *service) refundOrSetAside(ctx context.Context, due catfecitodb.SetRefundAsideInput) error {
	because := s.refundPayment(ctx, due.PaymentID)
	if because == nil {
		return nil
	}
	s.refundFailed(ctx, due.OrderID, due.PaymentID, because)
	if _, err := s.db.SetRefundAside(ctx, due); err != nil && !errors.Is(err, catfecitodb.ErrFailedRefundExists) {
		return fmt.Errorf("refund %s of order %s: %w", due.PaymentID, due.OrderID, err)
	}
	return nil
}

func (s *service) refundFailed(ctx context.Context, orderID, paymentID string, because error) {
	s.logger.ErrorContext(ctx, "a payment has not been refunded", "order", orderID, "payment", paymentID, "error", because)
}

// refundPayment asks the provider for a refund.
func (s *service) refundPayment(ctx context.Context, paymentID string) error {
	if s.provider == nil {
		return errNoProvider
	}
	return s.provider.Refund(ctx, paymentID)
}

// retryRefunds tries failed refunds again, unless they have been tried too often.
func (s *service) retryRefunds(ctx context.Context) error {
	var faults []error
	for f, err := range s.db.FailedRefundsAll(ctx) {
		switch {
		case err != nil:
			return errors.Join(append(faults, err)...)
		case f.Tries >= refundTries:
			continue
		}
		if err := s.refundPayment(ctx, f.PaymentID); err != nil {
			s.refundFailed(ctx, f.OrderID, f.PaymentID, err)
			if _, err := s.db.CountRefundTry(ctx, catfecitodb.CountRefundTryInput{OrderID: f.OrderID, PaymentID: f.PaymentID}); !errors.Is(err, catfecitodb.ErrFailedRefundNotFound) {
				faults = append(faults, err) // otherwise staff have refunded it in the meantime
			}
			continue
		}
		faults = append(faults, s.db.DropFailedRefunds(ctx, catfecitodb.DropFailedRefundsInput{Lines: []catfecitodb.DropFailedRefundsLine{{OrderID: f.OrderID, PaymentID: f.PaymentID}}}))
	}
	return errors.Join(faults...)
}

// retryRefund tries an order's failed refunds again, on behalf of staff.
func (s *service) retryRefund(ctx context.Context, _ auth.Principal, in OrderPath) error {
	due, err := s.db.FailedRefundsOfOrder(ctx, catfecitodb.FailedRefundsOfOrderInput{OrderID: in.OrderID}, table.PageOptions{Limit: refundsAtOnce})
	if err == nil && len(due.Items) == 0 {
		err = table.ErrNotFound
	}
	if err != nil {
		return err
	}
	var made catfecitodb.DropFailedRefundsInput
	var failed error
	for _, f := range due.Items {
		if err := s.refundPayment(ctx, f.PaymentID); err != nil {
			refused := *errRefundFailed
			refused.Err = err
			failed = &refused
			continue
		}
		made.Lines = append(made.Lines, catfecitodb.DropFailedRefundsLine{OrderID: f.OrderID, PaymentID: f.PaymentID})
	}
	if len(made.Lines) > 0 { // in one write, because an act may make only one
		if err := s.db.DropFailedRefunds(ctx, made); err != nil {
			return err
		}
	}
	return failed
}
