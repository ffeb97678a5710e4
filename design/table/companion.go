package table

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/design/table/internal/write"
)

// ErrAccompanied is for a second write with a context whose companion has been written already.
var ErrAccompanied = errors.New("the context's companion has been written with an earlier write: a companion accompanies one write")

// Companion is a write that is made together with another one.
type Companion struct {
	binding boundWrite

	mu   sync.Mutex // held by the write that takes the companion along
	done bool
}

type companionKey struct{}

// WithCompanion returns a context whose next write takes w along: one transaction makes both, or neither if the write is refused or
// is a repetition. It suits a record of the write, such as who requested it: the record exists if and only if the write was made.
// After a refusal the next write with the context takes w along. After a success writes with the context fail with
// ErrAccompanied, so that nothing is written without its record.
//
// The transaction has the items of both: 100 and 4 MB at most. w must touch no item that the write touches, and should be a put,
// which nothing refuses. If the write alone would be one UpdateItem, whose response has the item, the item is read first: what
// the write returns is that item with the changes. Batches take nothing along and fail. Load and erasures ignore the context.
//
// The context may be used by several goroutines; their writes are made one after another.
func WithCompanion(ctx context.Context, w TxWrite) (context.Context, *Companion) {
	c := &Companion{binding: *w.bound()}
	return context.WithValue(ctx, companionKey{}, c), c
}

// Done reports whether the companion has been written. After a write whose outcome is unknown, such as one that timed out, it
// reports false.
func (c *Companion) Done() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done
}

// attempt makes a transaction together with the context's companion, if there is one.
func (db *DB) attempt(ctx context.Context, c *call, t *write.Transaction) ([]Outcome, error) {
	with, _ := ctx.Value(companionKey{}).(*Companion)
	if with == nil {
		return db.attempts(ctx, c, t)
	}
	with.mu.Lock()
	defer with.mu.Unlock()
	pattern := with.binding.write.Pattern
	switch {
	case with.done:
		return nil, ErrAccompanied
	case with.binding.db != db:
		return nil, fmt.Errorf("the companion %s is a write of another DB", pattern)
	}
	also, err := write.NewCall(with.binding.write, with.binding.in, db.now(), db.newID)
	if err == nil {
		err = t.Accompany(also)
	}
	if err != nil {
		return nil, schema.Named(pattern, err)
	}
	outs, err := db.attempts(ctx, c, t)
	with.done = err == nil && !outs[0].Replayed
	return outs, err
}
