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
	// sweepEvery is the interval between sweeps.
	sweepEvery = time.Minute
	// settledWithin is the time that the stream consumer has.
	settledWithin = 5 * time.Minute
	// failedAfter is when a transaction fails if the rule still cannot decide it.
	failedAfter = 24 * time.Hour
)

// sweep settles transactions that have been pending for too long, because their records are in a dead-letter queue or were given
// up while the rule could not decide. The stream consumer and other processes may settle them concurrently, but the transaction's
// condition lets only one succeed. A transaction that cannot be settled does not block the others; it causes an error, and the
// next run retries it.
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

// sweepOne settles a transaction unless it is no longer pending, because the index may be stale.
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
		s.logger.ErrorContext(ctx, "a transaction fails: it could not be decided within a day", "txId", txID, "error", err)
	}
	if err := s.end(ctx, tx, approved && err == nil); !errors.Is(err, table.ErrConflict) {
		return err
	}
	return nil // a conflicting write settles it, or the next run does
}
