package appcore

import (
	"context"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/problem"
)

var errUnsettled = problem.Conflict("transactions_pending", "a transaction of yours is being settled; try again in a moment")

// unsettled refuses to erase a user while one of their transactions is being settled, because its owner must be notified.
// Settlement takes seconds, so checking the newest transactions is enough.
func (s *service) unsettled(ctx context.Context, userID string) error {
	page, err := s.db.UserTransactions(ctx, appcoredb.UserTransactionsInput{UserID: userID}, table.PageOptions{Limit: 100})
	if err != nil {
		return err
	}
	for _, tx := range page.Items {
		if tx.Status == appcoredb.TxStatusPending {
			return errUnsettled
		}
	}
	return nil
}
