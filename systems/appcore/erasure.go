package appcore

import (
	"context"
	"time"

	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/problem"
)

var errUnsettled = problem.Conflict("transactions_pending", "a transaction of yours is being settled; try again in a moment")

// unsettled refuses to erase a user while one of their transactions is being settled, because its owner must be notified. The rule
// may take a day to decide, and sweeps an hour at most to notice that; older transactions are not read.
func (s *service) unsettled(ctx context.Context, userID string) error {
	decided := s.now().Add(-failedAfter - time.Hour)
	for tx, err := range s.db.UserTransactionsAll(ctx, appcoredb.UserTransactionsInput{UserID: userID}) {
		switch {
		case err != nil:
			return err
		case tx.Status == appcoredb.TxStatusPending:
			return errUnsettled
		case tx.CreatedAt.Before(decided):
			return nil
		}
	}
	return nil
}
