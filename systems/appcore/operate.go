package appcore

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/appcore/appcoredb"
	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/problem"
)

// operated is a transaction as operators see it.
type operated struct {
	appcoredb.Transaction
	Overdue bool
}

func (s *service) operated(tx appcoredb.Transaction) operated {
	return operated{tx, tx.Status == appcoredb.TxStatusPending && s.now().After(tx.CreatedAt.Add(settledWithin))}
}

// queue returns a page of the transactions with a status. An index lists them, but each is read by its id, so that none is
// returned whose status has changed since.
func (s *service) queue(ctx context.Context, _ auth.Principal, in queueQuery) (page table.Page[operated], err error) {
	ids, err := s.queued(ctx, in)
	if err != nil {
		return page, err
	}
	page.Next = ids.Next
	list := make([]appcoredb.Transaction, len(ids.Items))
	faults := make([]error, len(ids.Items))
	var reading sync.WaitGroup
	for i, id := range ids.Items {
		reading.Go(func() { list[i], faults[i] = s.db.AnyTransaction(ctx, appcoredb.AnyTransactionInput{TxID: id}) })
	}
	reading.Wait()
	for i, tx := range list {
		switch {
		case errors.Is(faults[i], table.ErrNotFound):
		case faults[i] != nil:
			return table.Page[operated]{}, faults[i]
		case tx.Status == in.Status:
			page.Items = append(page.Items, s.operated(tx))
		}
	}
	return page, nil
}

// queued returns the ids of a page: the newest approved transactions, or the oldest of those that are pending or were declined.
func (s *service) queued(ctx context.Context, in queueQuery) (table.Page[string], error) {
	if in.Status == appcoredb.TxStatusCompleted {
		found, err := s.db.CompletedTransactions(ctx, in.Options())
		return idsOf(found, func(x appcoredb.CompletedTransactionsItem) string { return x.TxID }), err
	}
	found, err := s.db.QueuedTransactions(ctx, appcoredb.QueuedTransactionsInput{Status: in.Status}, in.Options())
	return idsOf(found, func(x appcoredb.QueuedTransactionsItem) string { return x.TxID }), err
}

func idsOf[T any](found table.Page[T], id func(T) string) table.Page[string] {
	ids := table.Page[string]{Next: found.Next}
	for _, x := range found.Items {
		ids.Items = append(ids.Items, id(x))
	}
	return ids
}

// anyTransaction returns any user's transaction.
func (s *service) anyTransaction(ctx context.Context, _ auth.Principal, in transactionPath) (operated, error) {
	tx, err := s.db.AnyTransaction(ctx, appcoredb.AnyTransactionInput{TxID: in.TxID})
	return s.operated(tx), err
}

// replay settles a pending transaction immediately, as the sweep would do later. A settled transaction does not change.
func (s *service) replay(ctx context.Context, who auth.Principal, in transactionPath) (operated, error) {
	tx, err := s.anyTransaction(ctx, who, in)
	if err != nil || tx.Status != appcoredb.TxStatusPending {
		return tx, err
	}
	approved, err := s.approve(ctx, tx.Transaction)
	if err != nil {
		return operated{}, problem.Unavailable(fmt.Errorf("replay %s: %w", in.TxID, err))
	}
	if err := s.end(ctx, tx.Transaction, approved); err != nil {
		return operated{}, err
	}
	return s.anyTransaction(ctx, who, in)
}
