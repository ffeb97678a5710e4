// Package seed generates sample data for a system and loads it: the same data for the same seed and size, on any machine.
//
// # Model
//
//	size ─▶ parts of 1000 records, each with its own random source ─▶ Sample.Records ─▶ Sample.Load, several at once
//
// A part depends only on the seed, its first number and the size, and not on other parts or on how many are loaded concurrently.
// So samples are reproducible, and an interrupted run can be repeated. Records are put without conditions.
package seed

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/monotable/monotable/design/table"
)

// The allowed sizes of a sample.
const (
	MinItems = 1_000
	MaxItems = 1_000_000
)

const (
	partItems = 1_000
	// workers is enough to keep a store busy that makes waiting writes durable with one shared sync.
	workers = 8
)

// Part is a piece of a sample.
type Part struct {
	// Chance is the only random source that records may use.
	Chance
	// First is the number of the part's first record, Items the number of records in the part, and Total the number in the
	// sample. Ids derived from numbers from First on are unique to the part.
	First, Items, Total int
}

// Sample generates a system's data.
type Sample struct {
	// Records returns a part's records; there are Part.Items of them.
	Records func(Part) iter.Seq[table.Record]
	// Load stores records and reports to progress how many it has stored; table.DB implements it.
	Load func(ctx context.Context, records iter.Seq[table.Record], progress func(int)) error
}

// Options of a run.
type Options struct {
	Items int
	Seed  uint64
	// Progress receives the number of records stored so far, from one goroutine at a time. It may be nil.
	Progress func(stored int)
}

// Run loads a sample, and returns the number of records stored.
func Run(ctx context.Context, s Sample, o Options) (int, error) {
	if o.Items < MinItems || o.Items > MaxItems {
		return 0, fmt.Errorf("a sample has %d to %d items, not %d", MinItems, MaxItems, o.Items)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	parts := make(chan Part)
	var mu sync.Mutex
	stored := 0
	add := func(n int) {
		mu.Lock()
		defer mu.Unlock()
		stored += n
		if o.Progress != nil {
			o.Progress(stored)
		}
	}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for part := range parts {
				if err := load(ctx, s, part, add); err != nil {
					cancel(err)
				}
			}
		})
	}
	for first := 0; first < o.Items; first += partItems {
		select {
		case parts <- o.part(first):
		case <-ctx.Done():
			first = o.Items
		}
	}
	close(parts)
	group.Wait()
	return stored, context.Cause(ctx)
}

func (o Options) part(first int) Part {
	return Part{
		Chance: Chance{rand.New(rand.NewPCG(o.Seed, uint64(first)))}, //nolint:gosec // samples are to be the same each time
		First:  first, Items: min(partItems, o.Items-first), Total: o.Items,
	}
}

func load(ctx context.Context, s Sample, part Part, add func(int)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	reported := 0
	err := s.Load(ctx, s.Records(part), func(n int) {
		add(n - reported)
		reported = n
	})
	if err != nil {
		return fmt.Errorf("load records %d to %d: %w", part.First, part.First+part.Items-1, err)
	}
	return nil
}

// ParseItems parses a size: 5000, 10k, 1M.
func ParseItems(text string) (int, error) {
	digits, unit := strings.TrimSpace(text), 1
	switch {
	case strings.HasSuffix(strings.ToLower(digits), "k"):
		digits, unit = digits[:len(digits)-1], 1_000
	case strings.HasSuffix(strings.ToLower(digits), "m"):
		digits, unit = digits[:len(digits)-1], 1_000_000
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n < 1 || n > MaxItems || n*unit < MinItems || n*unit > MaxItems {
		return 0, fmt.Errorf("%q: want a number of items from 1k to 1M, such as 10k", text)
	}
	return n * unit, nil
}
