// Package payments is what a shop and a provider of payments say to each other.
//
// # Model
//
//	shop ── Begin ──▶ provider's page, where the customer pays or cancels
//	                      │ an Event, signed, sent again until it is answered with 2xx
//	shop ◀── webhook ─────╯
//	shop ── Refund ─▶ provider, where a payment pays nothing any more
//
// Test is a provider without money, with a page of its own, for development.
//
// # Invariants
//
//	P1  An event counts only if it is signed, and was signed not long ago: an old one that somebody has recorded does not.
//	P2  No two payments have one id.
//
// Providers may be used from any number of goroutines.
package payments

import (
	"context"
	"errors"
	"net/http"
)

// Provider takes payments.
type Provider interface {
	// Begin opens a payment and returns the address of the page at which the customer pays.
	Begin(ctx context.Context, p Payment) (url string, err error)
	// Event reads the request of a webhook. Its error is ErrSignature where the provider has not sent it, or not now, and
	// ErrEvent where it cannot be read.
	Event(header http.Header, body []byte) (Event, error)
	// Refund gives a payment back. Done again, it changes nothing.
	Refund(ctx context.Context, paymentID string) error
}

// The errors of an event.
var (
	ErrSignature = errors.New("payments: the event is not signed by the provider, or was signed too long ago")
	ErrEvent     = errors.New("payments: the event cannot be read")
)

// Payment is what a customer is asked to pay.
type Payment struct {
	OrderID string
	// Amount is in the smallest unit of the shop's currency.
	Amount int64
}

// Kind is what has become of a payment.
type Kind string

// The kinds that a shop knows; others are none of its business.
const (
	Succeeded Kind = "payment.succeeded"
	Cancelled Kind = "payment.cancelled"
)

// Event is what a provider tells of a payment.
type Event struct {
	// ID is the event's own: the same if it is sent again.
	ID        string `json:"id"`
	Kind      Kind   `json:"type"`
	PaymentID string `json:"paymentId"`
	OrderID   string `json:"orderId"`
	Amount    int64  `json:"amount"`
}
