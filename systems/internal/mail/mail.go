// Package mail sends a system's e-mail: codes, receipts, and everything else that users must find in their inbox.
//
// # Model
//
//	system ──Letter──▶ Sender: SMTP, a server of the deployment (FromURL), or Outbox, which stores and shows messages
//
// A Sender returns when the message has been handed over for delivery. A message may have been sent even if Send failed, so
// whatever it enables must be harmless if sent twice.
//
// The package is safe for concurrent use.
package mail

import (
	"context"
	"errors"
)

// Letter is a message in plain text, which every mail program can display and in which nothing can be hidden.
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
