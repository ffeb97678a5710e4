package transporteapp

import (
	"iter"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/systems/internal/seed"
)

// sample makes a part of a sample.
func sample(p seed.Part) iter.Seq[table.Record] {
	return func(yield func(table.Record) bool) {}
}
