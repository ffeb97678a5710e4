package appcore

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/api"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// errAnothers is the error for another user's transaction.
var errAnothers = errors.New("the transaction belongs to another user")

// create creates a transaction. For a retry it returns the first response and sets replayed.
func (s *service) create(ctx context.Context, who auth.Principal, in api.KeyedBody[TransactionInput]) (tx appcoredb.Transaction, replayed bool, err error) {
	result, err := s.db.CreateTransaction(ctx, appcoredb.CreateTransactionInput{
		RequestKey: in.RequestKey, UserID: who.Sub, Amount: in.Body.Amount, Currency: in.Body.Currency,
	})
	if errors.Is(err, table.ErrNotFound) { // the caller's data has been erased since the first request
		err = appcoredb.ErrIdempotencyReused
	}
	tx = result.Transaction
	if result.Replayed {
		// The current transaction is read, of which only the status can have changed.
		tx.Status = appcoredb.TxStatusPending
	}
	return tx, result.Replayed, err
}

// transaction returns a user's own transaction.
func (s *service) transaction(ctx context.Context, who auth.Principal, in transactionPath) (appcoredb.Transaction, error) {
	tx, err := s.db.TransactionByID(ctx, appcoredb.TransactionByIDInput{TxID: in.TxID, UserID: who.Sub})
	if !errors.Is(err, table.ErrNotFound) {
		return tx, err
	}
	switch _, known := s.db.TransactionExists(ctx, appcoredb.TransactionExistsInput{TxID: in.TxID}); {
	case known == nil:
		return appcoredb.Transaction{}, errAnothers
	case errors.Is(known, table.ErrNotFound):
		return appcoredb.Transaction{}, err
	default:
		return appcoredb.Transaction{}, known
	}
}

// transactions returns a page of a user's transactions, newest first.
func (s *service) transactions(ctx context.Context, who auth.Principal, in transactionQuery) (page table.Page[appcoredb.Transaction], err error) {
	asked := appcoredb.UserTransactionsInput{UserID: who.Sub}
	if asked.CreatedAtFrom, err = moment("query.from", in.From); err != nil {
		return page, err
	}
	if asked.CreatedAtTo, err = moment("query.to", in.To); err != nil {
		return page, err
	}
	if from, to := asked.CreatedAtFrom, asked.CreatedAtTo; from != nil && to != nil && from.After(*to) {
		return page, invalidPeriod("query.to", "is before from")
	}
	return s.db.UserTransactions(ctx, asked, in.Options())
}

// moment parses a time of a query, and returns nil if there is none.
func moment(field, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // no bound is a valid answer
	}
	at, err := time.Parse(time.RFC3339, text)
	if at = at.UTC(); err != nil || at.Year() < 0 || at.Year() > lastYear {
		return nil, invalidPeriod(field, "is not a time in the years 0 to 9999, such as 2006-01-02T15:04:05Z")
	}
	return &at, nil
}

func invalidPeriod(field, message string) error {
	return problem.BadRequest(problem.CodeInvalidParameter, "the period is not valid", problem.Field{Field: field, Message: message})
}

type latest struct {
	Items []appcoredb.LatestTransactionsItem
}

// latest returns the ten latest transactions of all users.
func (s *service) latest(ctx context.Context, _ auth.Principal, _ api.None) (latest, error) {
	items, err := s.db.LatestTransactions(ctx)
	return latest{items}, err
}
