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
	// maxAttempts is how often a write is tried that meets others.
	maxAttempts = 8
	// firstBackoff is the longest pause after the first attempt; it doubles with each.
	firstBackoff = 10 * time.Millisecond
)

// Write runs a write: one request if it touches one item, else one transaction. What the written items entail (copies, index
// entries, markers, counters) is written with them. Where that depends on fields that the input does not tell, the items
// are read first, and the transaction depends on these fields being as they were read. A write that meets others is tried
// again, up to eight times.
func (db *DB) Write(ctx context.Context, w *Write, in Input) (out Outcome, err error) {
	c := db.begin(w.Pattern)
	attempts := 1
	defer func() { c.end(ctx, attempts, err) }()
	r, err := write.NewCall(w, in, db.now(), db.newID)
	if err != nil {
		return Outcome{}, schema.Named(w.Pattern, err)
	}
	for ; ; attempts++ {
		out, err = db.try(ctx, c, r)
		switch {
		case !errors.Is(err, write.ErrAgain):
			if _, refused := errors.AsType[*Refusal](err); refused {
				return Outcome{}, err // it has the pattern's name already
			}
			return out, schema.Named(w.Pattern, err)
		case attempts == maxAttempts:
			if unsettled, ok := errors.AsType[*write.UnsettledError](err); ok {
				return Outcome{}, schema.Named(w.Pattern, unsettled.Cause)
			}
			return Outcome{}, fmt.Errorf("%s: %w, %d times in a row", w.Pattern, ErrConflict, attempts)
		}
		if db.sequential {
			continue
		}
		if err := wait(ctx, rand.N(firstBackoff<<(attempts-1))+1); err != nil { //nolint:gosec // a pause needs no secret
			return Outcome{}, schema.Named(w.Pattern, err)
		}
	}
}
