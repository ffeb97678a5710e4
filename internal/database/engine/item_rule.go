package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// ItemRule returns an error for an item that may not be written; the client gets its text.
type ItemRule func(item attr.Item) error

// ItemRules returns the rule of a table, nil where any item may be written.
type ItemRules func(ctx context.Context, table string) (ItemRule, error)

// setRule looks up the rule for what the write of a client would leave in a table. It is done before the transaction, for a lookup may read.
func (e *Engine) setRule(ctx context.Context, w *write, t *catalog.Table) error {
	if e.options.ItemRules == nil || w.kind != putWrite && w.kind != updateWrite {
		return nil
	}
	var err error
	if w.rule, err = e.options.ItemRules(ctx, t.Name); err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.options.Logger.Warn("the rule for items of a table cannot be looked up", "table", t.Name, "error", err)
	return apierr.Overloaded.With()
}

// follows refuses an item that breaks the rule.
func (w *write) follows(next itemenc.Item) error {
	it, err := next.Decode()
	if err != nil {
		return err
	}
	if err := w.rule(it); err != nil {
		return apierr.RuleBroken.With(err)
	}
	return nil
}
