package appcore

import (
	"time"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/byname"
)

// Response types. Fields are filled from the stored fields of the same name, so a type lists everything that callers can see.

// Profile is a user's profile.
type Profile struct {
	UserID    string    `json:"userId" doc:"The sub of your access token"`
	Email     string    `json:"email" format:"email" doc:"Your e-mail address"`
	Name      string    `json:"name" doc:"Your name"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was created"`
}

// Transaction is a user's own transaction.
type Transaction struct {
	TxID      string             `json:"txId" doc:"The transaction's id, a ULID"`
	UserID    string             `json:"userId" doc:"Its owner"`
	Amount    int64              `json:"amount" doc:"The amount, in the currency's smallest unit"`
	Currency  appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
	Status    appcoredb.TxStatus `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"PENDING until it is settled"`
	CreatedAt time.Time          `json:"createdAt" doc:"When it was created"`
}

// OperatedTransaction is any user's transaction, for operators.
type OperatedTransaction struct {
	Transaction
	Overdue bool `json:"overdue" doc:"Whether it should have been settled by now"`
}

// Conversions of stored items for events, which do not go through a route.
//
//nolint:gochecknoglobals // made once, never changed
var (
	showTransaction  = byname.Copy[appcoredb.Transaction, Transaction]()
	showOperated     = byname.Copy[operated, OperatedTransaction]()
	showNotification = byname.Copy[notification, Notification]()
)

// LatestTransaction is any user's transaction, without its owner.
type LatestTransaction struct {
	TxID      string             `json:"txId" doc:"The transaction's id, a ULID"`
	Amount    int64              `json:"amount" doc:"The amount, in the currency's smallest unit"`
	Currency  appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
	Status    appcoredb.TxStatus `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"PENDING until it is settled"`
	CreatedAt time.Time          `json:"createdAt" doc:"When it was created"`
}

// LatestTransactions is a list of transactions without their owners.
type LatestTransactions struct {
	Items []LatestTransaction `json:"items" nullable:"false" doc:"At most ten, newest first"`
}

// Notification is a user's own notification.
type Notification struct {
	NotifID   string    `json:"notifId" from:"Ref" doc:"The notification's id"`
	TxID      string    `json:"txId" doc:"The transaction that it is about"`
	Message   string    `json:"message" doc:"The outcome"`
	Read      bool      `json:"read" doc:"Whether it has been read"`
	CreatedAt time.Time `json:"createdAt" from:"NotifiedAt" doc:"When it was created"`
}
