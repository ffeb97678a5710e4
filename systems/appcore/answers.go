package appcore

import (
	"time"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

// Profile is what a user has said of himself.
type Profile struct {
	UserID    string    `json:"userId" doc:"The sub of your access token"`
	Email     string    `json:"email" format:"email" doc:"Where you can be written to"`
	Name      string    `json:"name" doc:"What you are called"`
	CreatedAt time.Time `json:"createdAt" doc:"When the profile was made"`
}

func profileOf(u appcoredb.User) Profile {
	return Profile{UserID: u.UserID, Email: u.Email, Name: u.Name, CreatedAt: u.CreatedAt}
}

// Transaction is a user's own.
type Transaction struct {
	TxID      string             `json:"txId" doc:"The transaction's id, a ULID"`
	UserID    string             `json:"userId" doc:"Whose it is"`
	Amount    int64              `json:"amount" doc:"How much, in the currency's smallest unit"`
	Currency  appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
	Status    appcoredb.TxStatus `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"PENDING until it is settled"`
	CreatedAt time.Time          `json:"createdAt" doc:"When it was made"`
}

func transactionOf(tx appcoredb.Transaction) Transaction {
	return Transaction{
		TxID: tx.TxID, UserID: tx.UserID, Amount: tx.Amount, Currency: tx.Currency, Status: tx.Status, CreatedAt: tx.CreatedAt,
	}
}

// LatestTransaction is anybody's, without whose.
type LatestTransaction struct {
	TxID      string             `json:"txId" doc:"The transaction's id, a ULID"`
	Amount    int64              `json:"amount" doc:"How much, in the currency's smallest unit"`
	Currency  appcoredb.Currency `json:"currency" enum:"ARS,BRL,USD" doc:"The currency"`
	Status    appcoredb.TxStatus `json:"status" enum:"PENDING,COMPLETED,FAILED" doc:"PENDING until it is settled"`
	CreatedAt time.Time          `json:"createdAt" doc:"When it was made"`
}

func latestOf(tx appcoredb.LatestTransactionsItem) LatestTransaction {
	return LatestTransaction{TxID: tx.TxID, Amount: tx.Amount, Currency: tx.Currency, Status: tx.Status, CreatedAt: tx.CreatedAt}
}

// Notification is a user's own.
type Notification struct {
	NotifID   string    `json:"notifId" doc:"The notification's id"`
	TxID      string    `json:"txId" doc:"The transaction that it is about"`
	Message   string    `json:"message" doc:"What became of it"`
	Read      bool      `json:"read" doc:"Whether you have read it"`
	CreatedAt time.Time `json:"createdAt" doc:"When it was made"`
}

func notificationOf(n appcoredb.Notification) Notification {
	return Notification{
		NotifID: notificationRef{at: n.NotifiedAt, id: n.NotifID}.String(), TxID: n.TxID, Message: n.Message, Read: n.Read,
		CreatedAt: n.NotifiedAt,
	}
}
