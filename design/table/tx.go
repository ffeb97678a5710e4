package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/design/table/internal/write"
)

// TxWrite is a write with its input, to run in a Tx: an *Op.
type TxWrite interface {
	// bound is the write with its input.
	bound() *boundWrite
	// done takes the result of the write.
	done(context.Context, Outcome) error
}

type boundWrite struct {
	db    *DB
	write *Write
	in    Input
}

// Op is a write with its input, to run in a Tx, and afterwards its result. It can be passed to another Tx, which replaces the
// result, but not to two at once.
type Op[R any] struct {
	// Result is the result of the write, after a Tx without an error.
	Result R
	// Replayed is set if the Tx was a retry, and nothing was done. Result is the first one's if the write is idempotent, and zero
	// otherwise.
	Replayed bool

	binding boundWrite
	decode  func(context.Context, Input, Outcome) (R, error)
}

// NewOp returns an Op. decode decodes the result; nil if there is none.
func NewOp[R any](db *DB, w *Write, in Input, decode func(context.Context, Input, Outcome) (R, error)) *Op[R] {
	return &Op[R]{binding: boundWrite{db, w, in}, decode: decode}
}

func (o *Op[R]) bound() *boundWrite { return &o.binding }

func (o *Op[R]) done(ctx context.Context, out Outcome) error {
	var none R
	o.Result, o.Replayed = none, out.Replayed
	if o.decode == nil || out.Replayed && out.Record == nil {
		return nil
	}
	result, err := o.decode(ctx, o.binding.in, out)
	if err == nil {
		o.Result = result
	}
	return err
}

// TxError is an error of one write of a Tx; nothing was done.
type TxError struct {
	Write   int    // its position in the call, from 0
	Pattern string // its name
	Err     error  // the error that the write alone would return
}

func (e *TxError) Error() string { return e.Err.Error() }

// Unwrap returns the error that the write alone would return.
func (e *TxError) Unwrap() error { return e.Err }

// Tx executes several writes atomically: one transaction has the items of all of them, at most 100 and 4 MB. Each condition
// applies to the state before, and the order of the writes does not matter. Two writes on the same item fail with ErrOverlap;
// but several may change the same counters, and one may change counters of an item that another creates or changes.
//
// It is retried after conflicts, like a single write. An error of one write is a *TxError. An idempotent write makes the whole
// Tx idempotent: repeating all writes with the same input does nothing, and using its request key with other writes, or alone,
// is ErrReused.
func (db *DB) Tx(ctx context.Context, writes ...TxWrite) (err error) {
	if len(writes) == 0 {
		return errors.New("a Tx has no writes")
	}
	var patterns []string
	for i, w := range writes {
		if w == nil || w.bound().db != db || slices.Contains(writes[:i], w) {
			return fmt.Errorf("write %d of a Tx belongs to another DB, or is passed twice", i)
		}
		patterns = append(patterns, w.bound().write.Pattern)
	}
	slices.Sort(patterns)
	name := "Tx of " + strings.Join(patterns, ", ")
	c := db.begin(name)
	defer func() { c.end(ctx, err) }()
	calls := make([]*write.Call, len(writes))
	now := db.now()
	for i, w := range writes {
		bound := w.bound()
		if calls[i], err = write.NewCall(bound.write, bound.in, now, db.newID); err != nil {
			return &TxError{i, bound.write.Pattern, schema.Named(bound.write.Pattern, err)}
		}
	}
	t, err := write.Compose(calls)
	var outs []Outcome
	if err == nil {
		outs, err = db.attempt(ctx, c, t)
	}
	if own, ok := errors.AsType[*write.CallError](err); ok {
		pattern := own.Call.Write.Pattern
		if _, refused := own.Err.(*Refusal); !refused { //nolint:errorlint // it already has the pattern's name
			own.Err = schema.Named(pattern, own.Err)
		}
		return &TxError{slices.Index(calls, own.Call), pattern, own.Err}
	}
	if err != nil {
		return schema.Named(name, err)
	}
	for i, w := range writes {
		if err := w.done(ctx, outs[i]); err != nil {
			return schema.Named(calls[i].Write.Pattern, err) // of a completed write
		}
	}
	return nil
}
