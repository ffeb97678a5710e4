package engine

import (
	"context"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// DescribeTable describes a table's definition, status, item count and size.
func (e *Engine) DescribeTable(ctx context.Context, in *api.DescribeTableInput) (*api.DescribeTableOutput, error) {
	d, err := e.catalog.Get(ctx, *in.TableName)
	if err != nil {
		return nil, err
	}
	description, err := e.describe(ctx, d)
	if err != nil {
		return nil, err
	}
	return &api.DescribeTableOutput{Table: description}, nil
}

// describe describes a table as of now.
func (e *Engine) describe(ctx context.Context, d *catalog.Descriptor) (*api.TableDescription, error) {
	return e.describeAt(ctx, d, e.options.Now())
}

func (e *Engine) describeAt(ctx context.Context, d *catalog.Descriptor, now time.Time) (*api.TableDescription, error) {
	out, err := schema.Describe(d, e.catalog.TableARN(d.Name), now, func(index keyenc.IndexID) (items, bytes int64, err error) {
		return e.statistics(ctx, d.ID, index)
	})
	if err == nil {
		schema.DescribeGlobal(out, d, func(region string) *catalog.Descriptor {
			x := e.regions.get(region)
			if x == nil || x.catalog.Tables()[d.Name] == nil {
				return nil
			}
			return x.catalog.Tables()[d.Name].Descriptor
		})
	}
	return out, err
}

// statistics returns the exact number and size of the items of a table (index 0) or of the entries of an index. It does not wait
// for durability: every write of the table changes the counters, so a read that waited for writes in progress would nearly always
// wait.
func (e *Engine) statistics(ctx context.Context, t keyenc.TableID, x keyenc.IndexID) (items, bytes int64, err error) {
	counters, err := e.store.Eventual().Counter(ctx, keyenc.Statistics(t, x))
	if err != nil || len(counters) < 2 {
		return 0, 0, err
	}
	return counters[0], counters[1], nil
}
