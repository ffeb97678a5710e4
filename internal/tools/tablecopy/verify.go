package tablecopy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/pacing"
)

const (
	// examples is the number of differing items in a message.
	examples = 5
	// recheckMax is the number of differing items compared again after applying later changes.
	recheckMax   = 10_000
	recheckTimes = 3
)

// comparison is the result of verify.
type comparison struct {
	mu       sync.Mutex
	compared int64
	found    int64
	first    []difference // at most recheckMax
}

type difference struct {
	what string
	key  Item // of the source
}

func (r *comparison) add(what string, key Item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found++; len(r.first) < recheckMax {
		r.first = append(r.first, difference{what, key})
	}
}

func (r *comparison) String() string {
	parts := make([]string, 0, examples+1)
	for _, d := range r.first[:min(len(r.first), examples)] {
		parts = append(parts, d.what+": "+identity(d.key))
	}
	if r.found > examples {
		parts = append(parts, "…")
	}
	return strings.Join(parts, "; ")
}

// verify compares all items of the two tables in both directions. Items that differ because the source has changed are
// compared again after applying those changes.
func (c *copier) verify(ctx context.Context, t *tableState) error {
	source, err := describe(ctx, c.o.From.Client, t.Source)
	if err != nil {
		return err
	}
	if source == nil {
		return errSourceDeleted
	}
	r := &comparison{}
	total := aws.ToInt64(source.ItemCount)
	err = c.each(ctx, &c.o.From, t.Source, func(ctx context.Context, page []Item) error {
		compared, err := c.compare(ctx, t, source.KeySchema, page, r)
		c.progress("compare "+t.Source, compared, total)
		return err
	})
	if err == nil && !t.Existed {
		err = c.compareBack(ctx, t, source.KeySchema, r)
	}
	for n := 0; err == nil && n < recheckTimes && c.o.Mode == Finish && r.found > 0 && r.found <= recheckMax; n++ {
		r, err = c.recheck(ctx, t, r)
	}
	if err != nil {
		return err
	}
	if r.found == 0 {
		c.logf("%s: compared %s, found no differences", t.Source, plural.Of(r.compared, "item"))
		return nil
	}
	advice := "was the source written to in the meantime? Use --follow to copy such changes"
	if c.o.Mode == Finish {
		advice = "is the source still being written to? Stop the writers, then use --finish again"
	}
	return fmt.Errorf("%w: %d of %d items (%v): %s", ErrDifferent, r.found, r.compared, r, advice)
}

// recheck applies later changes and compares the items that differed.
func (c *copier) recheck(ctx context.Context, t *tableState, before *comparison) (*comparison, error) {
	if err := c.catchUp(ctx, t); err != nil {
		return nil, err
	}
	r := &comparison{compared: before.compared}
	for batch := range slices.Chunk(before.first, readMax) {
		keys := make([]Item, len(batch))
		for i := range batch {
			keys[i] = batch[i].key
		}
		source, err := c.read(ctx, &c.o.From, t.Source, keys)
		if err != nil {
			return nil, err
		}
		target, err := c.read(ctx, &c.o.To, t.Target, keys)
		if err != nil {
			return nil, err
		}
		for _, k := range keys {
			wanted, is := source[identity(k)]
			judge(r, k, wanted, target[identity(k)], is)
		}
	}
	return r, nil
}

// judge compares an item of the target with the expected one.
func judge(r *comparison, key, wanted, there Item, wantedIs bool) {
	switch {
	case !wantedIs && there != nil:
		r.add("missing at the source", key)
	case wantedIs && there == nil:
		r.add("missing at the target", key)
	case wantedIs && !sdk.Item(there).Equal(sdk.Item(wanted)):
		r.add("different", key)
	}
}

// each calls f with all pages of a table, concurrently for several segments.
func (c *copier) each(ctx context.Context, e *Endpoint, table string, f func(context.Context, []Item) error) error {
	segments, ctx := errgroup.WithContext(ctx)
	for i := range c.o.Segments {
		segments.Go(func() error {
			scan := &scan{client: e.Client, meter: c.meter, table: table, segment: i, segments: c.o.Segments}
			for {
				page, err := scan.next(ctx)
				if err == nil {
					err = f(ctx, page)
				}
				if err != nil || scan.after == nil {
					return err
				}
			}
		})
	}
	return segments.Wait()
}

// compare compares items of the source with the target's, and returns the number compared so far.
func (c *copier) compare(ctx context.Context, t *tableState, schema []types.KeySchemaElement, page []Item, r *comparison) (int64, error) {
	for batch := range slices.Chunk(page, readMax) {
		wanted, keys := make([]Item, len(batch)), make([]Item, len(batch))
		for i, item := range batch {
			var err error
			if wanted[i], err = c.transformed(t, item); err != nil {
				return 0, err
			}
			keys[i] = primary(schema, wanted[i])
		}
		found, err := c.read(ctx, &c.o.To, t.Target, keys)
		if err != nil {
			return 0, err
		}
		for i := range wanted {
			judge(r, keys[i], wanted[i], found[identity(keys[i])], true)
		}
		r.mu.Lock()
		r.compared += int64(len(batch))
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.compared, nil
}

// compareBack finds items of the target that the source does not have. If items were transformed, the source's keys are
// unknown, and it compares the number of items.
func (c *copier) compareBack(ctx context.Context, t *tableState, schema []types.KeySchemaElement, r *comparison) error {
	var mu sync.Mutex
	count := int64(0)
	err := c.each(ctx, &c.o.To, t.Target, func(ctx context.Context, page []Item) error {
		mu.Lock()
		count += int64(len(page))
		mu.Unlock()
		if c.o.Transform != nil {
			return nil
		}
		for batch := range slices.Chunk(page, readMax) {
			keys := make([]Item, len(batch))
			for i, item := range batch {
				keys[i] = primary(schema, item)
			}
			found, err := c.read(ctx, &c.o.From, t.Source, keys)
			if err != nil {
				return err
			}
			for _, k := range keys {
				if _, is := found[identity(k)]; !is {
					r.add("missing at the source", k)
				}
			}
		}
		return nil
	})
	if err == nil && c.o.Transform != nil && count != r.compared {
		return fmt.Errorf("%w: read %s, but the copy has %d: do several items have the same key?", ErrDifferent, plural.Of(r.compared, "item"), count)
	}
	return err
}

// read returns the items with the given keys by identity, with strong consistency.
func (c *copier) read(ctx context.Context, e *Endpoint, table string, keys []Item) (map[string]Item, error) {
	found, asked := map[string]Item{}, map[string]bool{}
	if len(keys) == 0 {
		return found, nil
	}
	key := keys[0]
	keys = slices.DeleteFunc(slices.Clone(keys), func(k Item) bool {
		id := identity(k)
		twice := asked[id]
		asked[id] = true
		return twice
	})
	for attempt := 0; len(keys) > 0; attempt++ {
		n := min(len(keys), readMax)
		var out *dynamodb.BatchGetItemOutput
		err := again(ctx, func() (err error) {
			out, err = e.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
				RequestItems:           map[string]types.KeysAndAttributes{table: {Keys: keys[:n], ConsistentRead: aws.Bool(true)}},
				ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
			})
			return err
		})
		if err != nil {
			return nil, err
		}
		if err := c.meter.Spend(ctx, true, out.ConsumedCapacity...); err != nil {
			return nil, err
		}
		for _, item := range out.Responses[table] {
			found[identity(like(key, item))] = item
		}
		left := out.UnprocessedKeys[table].Keys
		keys = append(slices.Clone(keys[n:]), left...)
		if len(left) > 0 {
			if err := pacing.Pause(ctx, attempt); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
