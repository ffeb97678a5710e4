package languages

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/monotable/monotable/design/table"
)

// asked is a write with its input.
type asked struct {
	write *table.Write
	input table.Input
}

// transactions is how many transactions of several writes are made in a world before it is closed.
const transactions = 25

// composeAll composes writes that the trial has made, on the items that there were at first: those of one transaction may overlap, be
// refused, or repeat an earlier one.
func (m *mirror) composeAll(ctx context.Context) error {
	if len(m.written) == 0 {
		return nil
	}
	has, err := m.theirs(ctx)
	if err == nil {
		err = replace(ctx, m.under.Client.(sdkOwner).SDK(), texts(has), m.began)
	}
	if err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(1, uint64(len(m.written)))) //nolint:gosec // the same in each run
	var last []asked
	for range transactions {
		var writes []asked
		for range 1 + rng.IntN(3) {
			writes = append(writes, m.written[rng.IntN(len(m.written))])
		}
		if again := rng.IntN(4) == 0; again && last != nil {
			writes = slices.Clone(last)
			rng.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
		}
		last = writes
		if err := m.compose(ctx, writes...); err != nil {
			return err
		}
	}
	return nil
}

// compose makes writes as a whole, by both.
func (m *mirror) compose(ctx context.Context, writes ...asked) error {
	if err := m.follow(ctx); err != nil {
		return err
	}
	m.firstID += 1000
	m.id = m.firstID
	call := "tx of"
	var ops []table.TxWrite
	var given []any
	for _, a := range writes {
		call += describe("", a.write.Pattern, a.input)
		given = append(given, map[string]any{"pattern": a.write.Pattern, "input": jsonInput(a.input)})
		ops = append(ops, table.NewOp(m.db, a.write, a.input, func(_ context.Context, _ table.Input, out table.Outcome) (table.Outcome, error) { return out, nil }))
	}
	err := m.db.Tx(ctx, ops...)
	var got []outcome
	failed, ended := m.call("tx", map[string]any{"writes": given, "firstID": m.firstID}, &got)
	if ended != nil {
		return ended
	}
	if err == nil && failed != nil && slices.Contains(failed.Codes, "NotFound") {
		return m.sameTables(ctx, call) // the design's replay finds nothing, which package table does not ask for
	}
	m.composed[composedAs(len(writes), ops[0].(*table.Op[table.Outcome]).Replayed, err)]++
	refused, different := m.sameError(call, failed, err)
	if different := cmp.Or(different, m.sameTables(ctx, call)); different != nil || refused {
		if own, ok := errors.AsType[*table.TxError](err); ok && different == nil && len(failed.Codes) > 0 && (failed.TxWrite == nil || *failed.TxWrite != own.Write) {
			return differs(call+", the write at fault", failed.TxWrite, own.Write)
		}
		return different
	}
	for i := range writes {
		op := ops[i].(*table.Op[table.Outcome])
		want := op.Result
		want.Replayed = op.Replayed
		if err := got[i].same(call, want); err != nil {
			return err
		}
	}
	return nil
}

// composedAs is what a transaction came to, for the log: trials that never make one tell nothing.
func composedAs(writes int, replayed bool, err error) string {
	switch {
	case errors.Is(err, table.ErrOverlap):
		return "overlap"
	case err != nil:
		return "refused"
	case replayed:
		return "repeated"
	case writes == 1:
		return "of one"
	default:
		return "done"
	}
}
