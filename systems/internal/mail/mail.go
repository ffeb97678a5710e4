// Package mail sends a system's e-mail: codes, receipts, whatever a user must find in their inbox.
//
// # Model
//
//	system ──Letter──▶ Sender: SMTP, a server of the deployment (FromURL), or Outbox, which stores and shows messages
//
// A Sender returns when the message has been handed over for delivery. A message may have been sent even if sending failed:
// whatever it enables must be harmless twice.
//
// The package is safe for concurrent use.
package mail

import (
	"context"
	"errors"
)

// Letter is a message in plain text, which every reader can show and nothing can hide in.
type Letter struct {
	To      string `json:"to"`
	Subject string `json:"subject"`
	Text    string `json:"text"`
}

// Sender sends messages.
type Sender interface {
	Send(ctx context.Context, l Letter) error
}

// ErrRecipient is for an invalid recipient address.
var ErrRecipient = errors.New("mail: the recipient's address is not valid")
