// Package mail sends the letters of a system: codes, receipts, whatever a user has to find in an inbox.
//
// # Model
//
//	system ──Letter──▶ Sender: SMTP, a server of the deployment's (FromURL), or Outbox, which keeps what it gets and shows it
//
// A Sender returns when the letter is in the hands of whoever delivers it, not when it is read. A letter whose sending failed
// may have been sent: what a letter makes possible must be harmless twice.
//
// All of the package may be used from any number of goroutines.
package mail

import (
	"context"
	"errors"
)

// Letter is what somebody gets: plain text, which every reader shows and nothing can hide in.
type Letter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Sender sends letters.
type Sender interface {
	Send(ctx context.Context, l Letter) error
}

// ErrRecipient is for a letter to an address that is none.
var ErrRecipient = errors.New("mail: the recipient's address is not valid")
