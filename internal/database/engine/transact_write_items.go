package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// TransactWriteItems executes up to 100 actions on as many items, all or none.
//
// The items are held for the duration of the commit and nobody waits for them: another transaction or a single write on one of
// them gets a conflict error, as on AWS. Items of condition checks are held shared, so two transactions can check conditions on
// the same item concurrently, but neither sees it change.
func (e *Engine) TransactWriteItems(ctx context.Context, in *api.TransactWriteItemsInput) (*api.TransactWriteItemsOutput, error) {
	g, err := e.prepareTransaction(in)
	defer e.writes.put(g...)
	if err != nil {
		return nil, err
	}
	token := newToken(in.ClientRequestToken, func() [sha256.Size]byte { return fingerprint(in) })
	replayed, err := e.transact(ctx, g, token)
	if err != nil {
		return nil, err
	}
	return &api.TransactWriteItemsOutput{
		ConsumedCapacity:      g.consumed(e, observe.From(ctx), in.ReturnConsumedCapacity, replayed),
		ItemCollectionMetrics: g.collectionMetrics(in.ReturnItemCollectionMetrics),
	}, nil
}

// transact executes the actions, all or none. replayed is true if the token shows that this request has already been executed.
func (e *Engine) transact(ctx context.Context, g writeGroup, token *token) (replayed bool, err error) {
	for {
		if err := e.bindTransaction(ctx, g); err != nil {
			g.countCanceled(err)
			return false, err
		}
		replayed, err = e.commitTransaction(ctx, g, token)
		switch {
		case token == nil:
		case errors.Is(err, kv.ErrConflict):
			replayed, err = e.commitElsewhere(ctx, g, token, err)
		case errors.Is(err, kv.ErrUndetermined) && e.committed(ctx, token):
			err = nil
		}
		if !errors.Is(err, errTableChanged) {
			break
		}
		if err := e.catalog.Renew(ctx, g.distinctTables()...); err != nil {
			return false, err
		}
	}
	if err != nil {
		err = transactionError(err, g)
		g.countCanceled(err)
		return false, err
	}
	e.sweepTokens(ctx, token)
	return replayed, nil
}

// commitTransaction runs the actions in one transaction of the store. replayed is true if the token shows that this request has
// already been executed: then the actions only read their items.
func (e *Engine) commitTransaction(ctx context.Context, g writeGroup, token *token) (replayed bool, err error) {
	intent := g.intent()
	intent.Transaction, intent.FailOnTransaction = true, true
	intent.Write = append(intent.Write, token.keys(e.options.Now())...)
	paid := &g[0].paid
	err = e.update(ctx, intent, g, func(txn kv.Txn, ws *workspace) error {
		if replayed, err = token.replayed(txn); err != nil {
			return err
		}
		if err := g.checkVersions(txn); err != nil {
			return err
		}
		if replayed {
			return g.readOnly(txn)
		}
		if err := g.runAll(txn, ws); err != nil {
			return err
		}
		if err := paid.take(ctx, e, g, true); err != nil {
			return err
		}
		token.record(txn)
		return nil
	})
	paid.settle(err)
	return replayed, err
}

// commitElsewhere determines the outcome of a request that met a conflict and may be a retry: the earlier one is in progress, or
// has been executed by now, or the conflict was with a different request. Clients retry a request that is in progress, but not
// one that was canceled.
func (e *Engine) commitElsewhere(ctx context.Context, g writeGroup, token *token, conflict error) (replayed bool, err error) {
	intent := kv.Intent{Check: [][]byte{token.lock}, FailOnTransaction: true}
	err = e.store.Update(ctx, intent, func(txn kv.Txn) error {
		if replayed, err = token.replayed(txn); err != nil || !replayed {
			return err
		}
		return g.readOnly(txn)
	})
	switch {
	case errors.Is(err, kv.ErrConflict):
		return false, apierr.TransactionInProgress.With()
	case err == nil && !replayed:
		return false, conflict
	default:
		return replayed, err
	}
}

// lookupTime limits how long a request waits to learn the outcome of its commit.
const lookupTime = 5 * time.Second

// committed reports whether a request whose commit got no response has been executed after all. It writes the token's record
// again: a standby that has confirmed this commit has the first one, too.
func (e *Engine) committed(ctx context.Context, token *token) bool {
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	found := false
	err := e.store.Update(ctx, kv.Intent{Write: token.keys(e.options.Now())}, func(txn kv.Txn) (err error) {
		if found, err = token.replayed(txn); found {
			token.record(txn)
		}
		return err
	})
	return found && err == nil
}

// runAll runs every action, and fails with the reasons of all actions that fail.
func (g writeGroup) runAll(txn kv.Txn, ws *workspace) error {
	var reasons []api.CancellationReason
	total := 0
	for i, w := range g {
		err := w.run(txn, ws)
		if w.kind == putWrite || w.kind == updateWrite {
			total += w.outcome.nextBytes
		}
		if err == nil && total > maxTransactionBytes {
			err = apierr.TransactionItemsTooLarge.With()
		}
		if err == nil {
			continue
		}
		reason, final, ok := reasonOf(err)
		if !ok {
			return err
		}
		if reasons == nil {
			reasons = noReasons(len(g))
		}
		reasons[i] = reason
		if final || total > maxTransactionBytes {
			break
		}
	}
	if reasons != nil {
		return canceled(reasons)
	}
	return nil
}

// readOnly sets the outcomes to the unchanged items.
func (g writeGroup) readOnly(txn kv.Txn) error {
	for _, w := range g {
		old, err := txn.Get(w.key)
		if err != nil {
			return err
		}
		w.outcome = outcome{oldBytes: sizeOf(old), nextBytes: sizeOf(old)}
		if err := w.countCollection(txn, 0); err != nil {
			return err
		}
	}
	return nil
}

// consumed counts the actions and returns the consumed capacity. AWS charges a replayed request as transactional reads.
func (g writeGroup) consumed(e *Engine, r *observe.Request, detail *string, replayed bool) []api.ConsumedCapacity {
	if replayed {
		return g.consumedAgain(e, r, detail)
	}
	ms := meters{detail: capacity.DetailOf(detail), split: capacity.Writes}
	for _, w := range g {
		w.count(e, r, true)
		w.charge(ms.of(w.table), true)
	}
	return ms.reports()
}

func (g writeGroup) consumedAgain(e *Engine, r *observe.Request, detail *string) []api.ConsumedCapacity {
	ms := meters{detail: capacity.DetailOf(detail), split: capacity.Reads}
	for _, w := range g {
		units := capacity.ReadUnits(w.outcome.oldBytes, capacity.Transactional)
		e.chargeRead(w.t, w.key, units)
		w.counts.Capacity.Read.Add(units)
		r.ConsumeRead(units)
		ms.of(w.table).Table(units)
	}
	return ms.reports()
}
