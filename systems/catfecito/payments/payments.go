// Package payments is the interface between a shop and a payment provider.
//
// # Model
//
//	shop ── Begin ──▶ provider's page, where the customer pays or cancels
//
//	                      │ a signed Event, sent again until the response is 2xx
//	shop ◀── webhook ─────╯
//	shop ── Refund ─▶ provider, if a payment no longer pays for anything
//
// Test is a provider without real money, with its own page, for development.
//
// # Invariants
//
//	P1  An event is valid only if it was signed recently, so a recorded event cannot be replayed later.
//	P2  Payment ids are unique.
//
// Providers are safe for concurrent use.
package payments

import (
	"context"
	"errors"
	"net/http"
)

// Provider is a payment provider.
type Provider interface {
	// Begin opens a payment and returns the address of its page for the customer.
	Begin(ctx context.Context, p Payment) (url string, err error)
	// Event reads a webhook request. It returns ErrSignature if the provider did not sign the request, or not recently, and
	// ErrEvent if it cannot be read.
	Event(header http.Header, body []byte) (Event, error)
	// Refund refunds a payment. It is idempotent.
	Refund(ctx context.Context, paymentID string) error
}

// The errors of an event.
var (
	ErrSignature = errors.New("payments: the event is not signed by the provider, or was signed too long ago")
	ErrEvent     = errors.New("payments: the event cannot be read")
)

// Payment is a requested payment.
type Payment struct {
	OrderID string
	// Amount is in the smallest unit of the shop's currency.
	Amount int64
}

// Kind is a payment's outcome.
type Kind string

// The kinds that a shop handles; it ignores others.
const (
	Succeeded Kind = "payment.succeeded"
	Cancelled Kind = "payment.cancelled"
)

// Event is a provider's message about a payment.
type Event struct {
	// ID identifies the event, and stays the same if the event is sent again.
	ID        string `json:"id"`
	Kind      Kind   `json:"type"`
	PaymentID string `json:"paymentId"`
	OrderID   string `json:"orderId"`
	Amount    int64  `json:"amount"`
}
