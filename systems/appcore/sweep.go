package appcore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
)

const (
	// sweepEvery is how often transactions are looked for that nobody has settled.
	sweepEvery = time.Minute
	// settledWithin is how long the stream's follower is given.
	settledWithin = 5 * time.Minute
	// failedAfter is when a transaction fails of which the rule still cannot decide.
	failedAfter = 24 * time.Hour
)

// sweep settles the transactions that are pending for too long: their records were lost with a queue that nobody looked at, or
// given up while the rule could not decide. The stream's follower may settle them at the same time, and other processes may
// sweep: the transaction's own condition lets one of them through. One that cannot be settled does not hold up the others; it is
// an error, for somebody to look at, and the next run tries again.
func (s *service) sweep(ctx context.Context) error {
	var first error
	due := s.now().Add(-settledWithin)
	for page := (table.PageOptions{}); ; {
		found, err := s.db.QueuedTransactions(ctx, appcoredb.QueuedTransactionsInput{Status: appcoredb.TxStatusPending, CreatedAtTo: &due}, page)
		if err != nil {
			return cmp.Or(first, err)
		}
		err = settleAll(found.Items, func(left appcoredb.QueuedTransactionsItem) (string, error) {
			return left.TxID, s.sweepOne(ctx, left.TxID)
		})
		first = cmp.Or(first, err)
		if page.After = found.Next; found.Next == "" {
			return first
		}
	}
}

// sweepOne settles a transaction, unless it is not pending any more: the index may still have it.
func (s *service) sweepOne(ctx context.Context, txID string) error {
	tx, err := s.db.AnyTransaction(ctx, appcoredb.AnyTransactionInput{TxID: txID})
	if errors.Is(err, table.ErrNotFound) || err == nil && tx.Status != appcoredb.TxStatusPending {
		return nil
	}
	if err != nil {
		return err
	}
	approved, err := s.approve(ctx, tx)
	if err != nil {
		if ctx.Err() != nil || s.now().Before(tx.CreatedAt.Add(failedAfter)) {
			return err
		}
		s.logger.ErrorContext(ctx, "a transaction fails: it could not be decided for a day", "txId", txID, "error", err)
	}
	if err := s.end(ctx, tx, approved && err == nil); !errors.Is(err, table.ErrConflict) {
		return err
	}
	return nil // those that it meets again and again settle it, or the next run does
}
