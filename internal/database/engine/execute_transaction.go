package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
	"github.com/monotable/monotable/internal/database/observe"
)

// ExecuteTransaction executes up to 100 PartiQL statements, all or none: SELECTs of single items like TransactGetItems, writes
// and EXISTS like TransactWriteItems.
func (e *Engine) ExecuteTransaction(ctx context.Context, in *api.ExecuteTransactionInput) (*api.ExecuteTransactionOutput, error) {
	statements, err := bindTransactStatements(in.TransactStatements)
	if err != nil {
		return nil, err
	}
	if statements[0].Reads() {
		return e.transactSelects(ctx, statements, in.ReturnConsumedCapacity)
	}
	g := make(writeGroup, len(statements))
	for i, s := range statements {
		g[i], err = e.prepareStatement(ctx, s)
		if errors.Is(err, errExistsLacksCondition) { // documented; AWS's own example of EXISTS lacks one, but is refused
			return nil, inTransactStatement(i, apierr.ExistsLacksCondition.With())
		}
		if err != nil {
			return nil, canceledBy(len(g), i, err)
		}
	}
	token := newToken(in.ClientRequestToken, func() [sha256.Size]byte { return fingerprintOf(statements) })
	replayed, err := e.transact(ctx, g, token)
	if err != nil {
		return nil, err
	}
	return &api.ExecuteTransactionOutput{ConsumedCapacity: g.consumed(e, observe.From(ctx), in.ReturnConsumedCapacity, replayed)}, nil
}

// bindTransactStatements rejects what is invalid judging by the request alone.
func bindTransactStatements(requests []api.ParameterizedStatement) ([]*statement, error) {
	statements := make([]*statement, len(requests))
	size := 0
	for i := range requests {
		r := &requests[i]
		s, err := bindStatement("ExecuteTransaction", r.Statement, r.Parameters, r.ReturnValuesOnConditionCheckFailure)
		if err != nil {
			return nil, inTransactStatement(i, err)
		}
		if s.source.Index != "" {
			return nil, inTransactStatement(i, apierr.TransactReadOfIndex.With())
		}
		if s.returning() != partiql.ReturnNothing {
			return nil, inTransactStatement(i, apierr.ReturningInTransaction.With())
		}
		statements[i] = s
		size += s.size()
	}
	if size > maxTransactionBytes {
		return nil, apierr.TransactionTooLarge.With(size)
	}
	if mixesReads(statements) {
		return nil, apierr.TransactStatementsMixed.With()
	}
	return statements, nil
}

// inTransactStatement adds the statement's index to an error. Errors of the syntax have none.
func inTransactStatement(i int, err error) error {
	e, ok := errors.AsType[*apierr.Error](err)
	if !ok || strings.HasPrefix(e.Message, partiql.Malformed) {
		return err
	}
	return apierr.InTransactStatement.With(i, e.Message)
}

func (e *Engine) transactSelects(ctx context.Context, statements []*statement, wantCapacity *string) (*api.ExecuteTransactionOutput, error) {
	gets := make([]transactGet, len(statements))
	for i, s := range statements {
		err := e.prepareSelect(ctx, s, &gets[i])
		if errors.Is(err, errSelectLacksKey) {
			return nil, inTransactStatement(i, apierr.TransactSelectLacksKey.With())
		}
		if err != nil {
			return nil, canceledBy(len(gets), i, err)
		}
	}
	if err := e.locateTransaction(ctx, gets); err != nil {
		return nil, err
	}
	responses, consumed, err := e.readTransaction(ctx, gets, wantCapacity)
	if err != nil {
		return nil, err
	}
	out := &api.ExecuteTransactionOutput{Responses: responses, ConsumedCapacity: consumed}
	out.SetReads(true)
	return out, nil
}

// prepareSelect creates a transactional read from a SELECT of one item.
func (e *Engine) prepareSelect(ctx context.Context, s *statement, g *transactGet) error {
	t, _, err := e.lookup(ctx, s.source.Table)
	if err != nil {
		return err
	}
	g.table, g.shape = s.source.Table, s.shape
	key, rest, err := s.itemKey(t, s.Select.Where)
	if err != nil {
		return err
	}
	g.item = key
	g.filter, err = s.condition(expr.Filter, rest)
	return err
}
