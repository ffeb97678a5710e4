package demo

import (
	"context"
	"fmt"
	"io"

	"github.com/monotable/monotable/systems/internal/run"
	"github.com/monotable/monotable/systems/internal/seed"
	"github.com/monotable/monotable/systems/internal/system"
)

// fill loads a sample into each system whose tables are empty, so that there is something to see at first. It silently skips
// systems that have data.
func fill(ctx context.Context, h *run.Host, database *run.Database, systems []system.System, size string, out io.Writer) error {
	if size == "" {
		return nil
	}
	items, err := seed.ParseItems(size)
	if err != nil {
		return fmt.Errorf("--sample: %w", err)
	}
	for _, s := range systems {
		sample := h.Service(s.Name).Sample
		if sample.Records == nil || sample.Load == nil || empty(ctx, database, s.Tables(run.DefaultStage)) != nil {
			continue
		}
		stored, err := seed.Run(ctx, sample, seed.Options{Items: items, Seed: 1})
		if err != nil {
			return fmt.Errorf("--sample: %s: %w", s.Name, err)
		}
		fmt.Fprintf(out, "%d sample items stored in %s\n", stored, s.Name)
	}
	return nil
}
