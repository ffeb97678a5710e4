package appcore

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

// errAnothers is for a transaction that is there and is another user's.
var errAnothers = errors.New("the transaction is another user's")

// create makes a user's transaction. A request that was made before is answered as it was then, and replayed is set.
func (s *service) create(ctx context.Context, userID, requestKey string, amount int64, currency appcoredb.Currency) (tx appcoredb.Transaction, replayed bool, err error) {
	result, err := s.db.CreateTransaction(ctx, appcoredb.CreateTransactionInput{
		RequestKey: requestKey, UserID: userID, Amount: amount, Currency: currency,
	})
	if err != nil {
		return appcoredb.Transaction{}, false, err
	}
	tx = result.Transaction
	if result.Replayed {
		// The transaction is found as it is now; all but the status is as it was.
		tx.Status = appcoredb.TxStatusPending
	}
	return tx, result.Replayed, nil
}

// transaction is a user's own.
func (s *service) transaction(ctx context.Context, userID, txID string) (appcoredb.Transaction, error) {
	tx, err := s.db.TransactionByID(ctx, appcoredb.TransactionByIDInput{TxID: txID, UserID: userID})
	if !errors.Is(err, table.ErrNotFound) {
		return tx, err
	}
	switch _, known := s.db.TransactionExists(ctx, appcoredb.TransactionExistsInput{TxID: txID}); {
	case known == nil:
		return appcoredb.Transaction{}, errAnothers
	case errors.Is(known, table.ErrNotFound):
		return appcoredb.Transaction{}, err
	default:
		return appcoredb.Transaction{}, known
	}
}

// period bounds transactions by the time at which they were made; a nil end does not bound.
type period struct{ from, to *time.Time }

// transactions are a page of a user's own, newest first.
func (s *service) transactions(ctx context.Context, userID string, made period, page table.PageOptions) (table.Page[appcoredb.Transaction], error) {
	return s.db.UserTransactions(ctx, appcoredb.UserTransactionsInput{
		UserID: userID, CreatedAtFrom: made.from, CreatedAtTo: made.to,
	}, page)
}

// latest are the last ten transactions of all users.
func (s *service) latest(ctx context.Context) ([]appcoredb.LatestTransactionsItem, error) {
	return s.db.LatestTransactions(ctx)
}
