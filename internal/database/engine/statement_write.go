package engine

import (
	"context"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/dynamo/partiql"
	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
)

// Statements of a transaction that do not read one item.
var (
	errExistsLacksCondition = errors.New("EXISTS without the key of an item and another condition")
	errSelectLacksKey       = errors.New("SELECT without the key of an item")
)

// prepareStatement creates the write of an INSERT, UPDATE, DELETE or EXISTS.
func (e *Engine) prepareStatement(ctx context.Context, s *statement) (*write, error) {
	t, counts, err := e.lookup(ctx, s.source.Table)
	if err != nil {
		return nil, err
	}
	w := s.write
	w.table, w.counts, w.showOld = s.source.Table, counts, s.showOld
	if s.Insert != nil {
		return &w, nil
	}
	key, rest, err := s.itemKey(t, s.where())
	if err != nil {
		return nil, err
	}
	if s.Exists && len(rest) == 0 {
		return nil, errExistsLacksCondition
	}
	w.item = key
	if s.Delete != nil {
		w.condition, err = s.deleteCondition(t, rest)
	} else {
		w.condition, err = s.condition(expr.Condition, rest, about(expr.AttributeExists, t))
	}
	return &w, err
}

// bindWrite sets the part of the write that the statement alone determines.
func (s *statement) bindWrite() error {
	var err error
	switch {
	case s.Insert != nil:
		return s.bindInsert()
	case s.Update != nil:
		s.write.kind = updateWrite
		s.write.update, err = s.changes(s.Update.Changes)
	case s.Delete != nil:
		s.write.kind = deleteWrite
	case s.Exists:
		s.write.kind = checkWrite
	}
	return err
}

// bindInsert: an existing item with the same key fails the INSERT.
func (s *statement) bindInsert() error {
	v, err := s.literal(s.Insert.Item)
	if err != nil {
		return err
	}
	if v.Kind() != attr.KindMap {
		return apierr.InsertOfOther.With()
	}
	w := &s.write
	w.kind, w.inserts, w.item = putWrite, true, v.Item()
	if err := refuseFault(s.operation, w.item); err != nil {
		return err
	}
	if w.item.Depth() > attr.MaxDepth {
		return statementExpressionError(&expr.Error{Kind: expr.KindValueTooDeep})
	}
	return w.encodeItem()
}

// deleteCondition lets the delete of a missing item succeed, whatever the conditions.
func (s *statement) deleteCondition(t *catalog.Table, conditions []partiql.Node) (*eval.Condition, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	l := lowering{statement: s, surface: expr.Condition}
	terms, err := l.predicates(conditions)
	if err != nil {
		return nil, err
	}
	return l.bind(&expr.Or{Terms: []expr.Node{about(expr.AttributeNotExists, t), allOf(terms)}})
}

// about returns a condition on the existence of the item.
func about(f expr.Function, t *catalog.Table) expr.Node {
	return &expr.Call{Function: f, Args: []expr.Node{expr.Literal(t.PK.Name)}}
}

// executeWrite executes a single write and returns the item requested by RETURNING, or nil.
func (e *Engine) executeWrite(ctx context.Context, s *statement, m *capacity.Meter) (itemenc.Item, error) {
	w, err := e.prepareStatement(ctx, s)
	if err != nil {
		return nil, err
	}
	var returned itemenc.Item
	r := returnedBy[s.returning()]
	err = e.commit(ctx, w, func(*outcome) error {
		returned = w.returned(r)
		return nil
	})
	if err != nil {
		err = singleError(err)
		w.countFailure(e, observe.From(ctx), err)
		return nil, err
	}
	w.count(e, observe.From(ctx), false)
	w.charge(m, false)
	return returned, nil
}

// returnedBy maps RETURNING clauses to ReturnValues.
var returnedBy = map[partiql.Returning]returnValues{
	partiql.ReturnNothing:     returnNone,
	partiql.ReturnAllOld:      returnAllOld,
	partiql.ReturnAllNew:      returnAllNew,
	partiql.ReturnModifiedOld: returnUpdatedOld,
	partiql.ReturnModifiedNew: returnUpdatedNew,
}
