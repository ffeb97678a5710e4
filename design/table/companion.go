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

// Companion is a write that is executed together with another one.
type Companion struct {
	binding boundWrite

	mu   sync.Mutex // held by the write that the companion accompanies
	done bool
}

type companionKey struct{}

// WithCompanion returns a context that adds the write w to the next write that uses it. One transaction executes both; neither is
// executed if the write is rejected or is a repetition. Use it for a record of the write, such as who requested it: the record
// exists if and only if the write was executed. After a rejection or a repetition, w accompanies the next write with the context.
// After a success, writes with the context fail with ErrAccompanied, so that nothing is written without its record.
//
// The transaction contains the items of both writes, at most 100 and 4 MB. w must not touch an item of the write, and should be a
// put without conditions. If the write alone would be one UpdateItem, whose response contains the item, the item is read first,
// and the write returns it with the changes. Batches cannot have a companion and fail. Load and erasures ignore the context.
//
// The context may be used by several goroutines; their writes are executed one after another.
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

// attempt executes a transaction, together with the context's companion if there is one.
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
