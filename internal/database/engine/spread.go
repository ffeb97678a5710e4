package engine

import (
	"context"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// spread has the store prepare for the load of a table and its indexes: it divides their keys into as many ranges of equal size as AWS would need
// partitions for the requested throughput and for a number of bytes. It is a hint, so an error is only logged.
func (e *Engine) spread(ctx context.Context, d *catalog.Descriptor, bytes int64) {
	keys := splits(nil, d.ID, 0, partitionsFor(d, nil, bytes))
	for i := range d.Indexes {
		switch x := &d.Indexes[i]; {
		case x.Vector != nil: // its entries are few
		case x.Local:
			keys = splits(keys, d.ID, x.ID, partitionsFor(d, nil, bytes))
		default:
			keys = splits(keys, d.ID, x.ID, partitionsFor(d, x, bytes))
		}
	}
	if len(keys) == 0 {
		return
	}
	if err := e.store.Split(ctx, keys); err != nil {
		e.options.Logger.WarnContext(ctx, "the store has not spread a table over its machines in advance", "table", d.Name, "error", err)
	}
}

// partitionsFor returns how many partitions a table (x is nil) or index needs. The default throughput of an on-demand table counts as none: most tables stay small.
func partitionsFor(d *catalog.Descriptor, x *catalog.IndexDescriptor, bytes int64) int {
	requested := d.Warm
	if x != nil {
		requested = x.Warm
	}
	if requested == nil && d.Billing.OnDemand {
		return throttle.Partitions(throttle.Rates{}, bytes)
	}
	warm := schema.WarmOf(d, x)
	return throttle.Partitions(throttle.Rates{warm.Read, warm.Write}, bytes)
}

// splits appends the first keys of n ranges of a table (x=0) or index; nothing if it is one range.
func splits(keys [][]byte, t keyenc.TableID, x keyenc.IndexID, n int) [][]byte {
	if n == 1 {
		return keys
	}
	for i := range n {
		lo, _ := keyenc.SegmentBounds(t, x, int64(i), int64(n))
		keys = append(keys, lo)
	}
	return keys
}
