package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// ItemRule returns an error for an item that must not be written; its text is sent to the client.
type ItemRule func(item attr.Item) error

// ItemRules returns a table's rule, or nil if any item may be written.
type ItemRules func(ctx context.Context, table string) (ItemRule, error)

// setRule looks up the rule for a client's write to a table. It runs before the transaction, because a lookup may read.
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

// follows rejects an item that violates the rule.
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
