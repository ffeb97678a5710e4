package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/design/table/internal/write"
)

const (
	// minAttempts is the minimum number of attempts of a write with conflicts.
	minAttempts = 8
	// conflictTime is how long such a write is retried. In a store that commits slowly the other write can take seconds, and an attempt
	// that conflicts with it fails at once: a number of attempts alone would be used up before the other write has ended.
	conflictTime = 5 * time.Second
	// firstBackoff is the maximum pause after the first attempt; it doubles with each, up to longestBackoff.
	firstBackoff   = 10 * time.Millisecond
	longestBackoff = 320 * time.Millisecond
)

// Write runs a write: one request if it touches one item, otherwise one transaction. Copies, index entries, markers and counters
// of the written items are part of it. If they depend on fields that are not in the input, the items are read first, and the
// transaction checks that these fields have not changed. A write that conflicts with others is retried for five seconds,
// and attempted at least eight times.
func (db *DB) Write(ctx context.Context, w *Write, in Input) (out Outcome, err error) {
	c := db.begin(w.Pattern)
	defer func() { c.end(ctx, err) }()
	r, err := write.NewCall(w, in, db.now(), db.newID)
	if err != nil {
		return Outcome{}, schema.Named(w.Pattern, err)
	}
	outs, err := db.attempt(ctx, c, write.Alone(r))
	if own, ok := errors.AsType[*write.CallError](err); ok {
		err = own.Err
	}
	if _, refused := err.(*Refusal); refused { //nolint:errorlint // it already has the pattern's name, and must not get another
		return Outcome{}, err
	}
	if err != nil {
		return Outcome{}, schema.Named(w.Pattern, err)
	}
	return outs[0], nil
}

// attempts runs a transaction, and retries it after conflicts.
func (db *DB) attempts(ctx context.Context, c *call, t *write.Transaction) ([]Outcome, error) {
	longest := firstBackoff
	for {
		out, err := db.try(ctx, c, t)
		if !errors.Is(err, write.ErrAgain) {
			return out, err
		}
		if c.seen.Attempts >= minAttempts {
			if unsettled, ok := errors.AsType[*write.UnsettledError](err); ok {
				return nil, unsettled.Cause
			}
			if db.sequential || time.Since(c.start) >= conflictTime {
				return nil, fmt.Errorf("%w, %d times in a row", ErrConflict, c.seen.Attempts)
			}
		}
		if !db.sequential {
			if err := wait(ctx, rand.N(longest)+1); err != nil { //nolint:gosec // a pause needs no secret
				return nil, err
			}
			longest = min(2*longest, longestBackoff)
		}
		c.seen.Attempts++
	}
}
