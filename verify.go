package monotable

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/monotable/monotable/internal/engine"
	"github.com/monotable/monotable/internal/storage/kv/pebblekv"
)

// Finding is something that Verify found wrong.
type Finding struct {
	Table string `json:"table"`
	Index string `json:"index,omitempty"` // "" where it is about the table itself
	What  string `json:"what"`            // what is wrong, and at which key
}

// Verified counts what Verify has looked at.
type Verified struct {
	Tables       int64 `json:"tables"`
	Items        int64 `json:"items"`
	IndexEntries int64 `json:"index_entries"`
	TTLEntries   int64 `json:"ttl_entries"`
	Findings     int64 `json:"findings"`
}

// Verify proves a directory that no process has open against itself: every item is readable, every index
// entry, expiry and counter is what would be derived from the items now, and nothing else is there. It
// calls report for everything that is wrong, and changes nothing. The error says that verifying itself
// failed; findings are not errors.
func Verify(ctx context.Context, dir string, report func(Finding)) (Verified, error) {
	if _, err := os.Stat(dir); err != nil {
		return Verified{}, fmt.Errorf("monotable: verify: %w", err)
	}
	store, err := pebblekv.Open(dir, pebblekv.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return Verified{}, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	done, err := engine.Verify(ctx, store, func(f engine.Finding) {
		report(Finding{Table: f.Table, Index: f.Index, What: f.String()})
	})
	return Verified(done), errors.Join(err, store.Close())
}
