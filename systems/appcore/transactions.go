package appcore

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/problem"
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

// period bounds transactions by the time at which they were made; a zero time does not bound.
type period struct{ from, to time.Time }

// transactions are a page of a user's own, newest first.
func (s *service) transactions(ctx context.Context, userID string, p period, page table.PageOptions) (table.Page[appcoredb.Transaction], error) {
	in := appcoredb.UserTransactionsInput{UserID: userID}
	if !p.from.IsZero() {
		in.CreatedAtFrom = &p.from
	}
	if !p.to.IsZero() {
		in.CreatedAtTo = &p.to
	}
	if in.CreatedAtFrom != nil && in.CreatedAtTo != nil && p.from.After(p.to) {
		return table.Page[appcoredb.Transaction]{}, problem.BadRequest(
			problem.CodeInvalidParameter, "the period ends before it begins",
			problem.Field{Field: "query.to", Message: "is before from"},
		)
	}
	return s.db.UserTransactions(ctx, in, page)
}

// latest are the last ten transactions of all users.
func (s *service) latest(ctx context.Context) ([]appcoredb.LatestTransactionsItem, error) {
	return s.db.LatestTransactions(ctx)
}
