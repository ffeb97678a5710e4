package trial

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// world is a database in memory with the tables of a design and records in them.
type world struct {
	program *lower.Program
	now     time.Time
	records []*record
	memory  *monotable.DB
	client  *recorder
	db      Runner
	opener  Opener
	tables  map[string]string // real names by the names in the design
	specs   []provision.Spec  // of the design's tables, in their order
	owners  map[string]*record
	stored  map[*record][]table.Item // the item itself, its copies, its markers
	sizes   map[*record]int          // of the item itself, in bytes
	// requests are the executed requests of idempotent writes, by the identities of their records.
	requests map[uint64]string
	seen     map[string]table.Item // the content of all tables; nil if unknown
	ghosts   map[string]bool       // keys of items that may be left over
	last     table.Call            // the runtime's report of its last call
}

// newWorld creates the tables and loads records.
func newWorld(ctx context.Context, p *lower.Program, now time.Time, records []*record, open Opener) (*world, error) {
	w := &world{
		program: p, now: now, records: records, opener: open, tables: map[string]string{}, owners: map[string]*record{}, stored: map[*record][]table.Item{},
		sizes: map[*record]int{}, requests: map[uint64]string{}, ghosts: map[string]bool{},
	}
	for _, r := range records {
		items, err := r.items()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.entity.Name, err)
		}
		w.stored[r], w.sizes[r] = items, sdk.Item(items[0]).Size()
		for _, it := range items {
			w.owners[keyOf(r.run.Table, it)] = r
		}
	}
	memory, err := monotable.OpenMemory(&monotable.Options{Now: func() time.Time { return now }})
	if err != nil {
		return nil, err
	}
	w.memory, w.client = memory, &recorder{Client: memory.Client()}
	if err := w.open(ctx, memory.Client()); err != nil {
		_ = memory.Close() // nothing in it is needed
		return nil, err
	}
	return w, nil
}

func (w *world) close() error { return errors.Join(w.closeRunner(), w.memory.Close()) }

func (w *world) open(ctx context.Context, client *dynamodb.Client) error {
	specs := provision.Specs(w.program.Design, nil)
	for i := range specs {
		for _, placeholder := range specs[i].Placeholders {
			specs[i].Name = strings.ReplaceAll(specs[i].Name, "{"+placeholder+"}", "test")
		}
		specs[i].Placeholders = nil
		specs[i].OnDemand = true // so that nothing is throttled
		specs[i].TTLAttr = ""    // expired items stay, as they do for days on DynamoDB
		specs[i].Stream = ""
		w.tables[w.program.Design.Tables[i].Name] = specs[i].Name
	}
	w.specs = specs
	if err := provision.Apply(ctx, client, specs, func(string, ...any) {}); err != nil {
		return fmt.Errorf("cannot create the tables of the design: %w", err)
	}
	var err error
	key := sha256.Sum256([]byte("cursors"))
	config := table.Config{
		Tables: w.tables, CursorKey: key[:], Clock: func() time.Time { return w.now },
		Observe: func(_ context.Context, c table.Call) { w.last = c },
	}
	db, err := table.Open(w.client, config, w.program.Tables...)
	if err != nil {
		return err
	}
	w.db = db
	err = db.Load(ctx, func(yield func(table.Record) bool) {
		for _, r := range w.records {
			if !yield(table.Record{Entity: r.run, Values: r.values}) {
				return
			}
		}
	}, nil)
	if err != nil {
		return err
	}
	return w.run(ctx, config, w.opener)
}

// keyOf is a text that identifies the primary key of an item.
func keyOf(t *table.Table, it table.Item) string {
	return t.Name + "\x00" + canonical(it[t.PK.Name]) + "\x00" + canonical(it[t.SK.Name])
}

// owner is the record of an item, copy, marker or entry; nil if there is none.
func (w *world) owner(t *table.Table, it table.Item) *record { return w.owners[keyOf(t, it)] }

// at is the item of a record at a place, with all of its attributes; nil if it has none there, or the place is another entity's.
func (w *world) at(r *record, p plan.Place) table.Item {
	if r.entity.Name != p.Entity.Name {
		return nil
	}
	items, i := w.stored[r], placeNumber(p)
	if p.Index != nil {
		for _, k := range slices.Concat(p.Index.PK, p.Index.SK) {
			if items[i][k.Name] == nil {
				return nil // a sparse index
			}
		}
	}
	return items[i]
}

// scan returns all items of a table.
func (w *world) scan(ctx context.Context, t *design.Table) ([]table.Item, error) {
	var out []table.Item
	in := &dynamodb.ScanInput{TableName: aws.String(w.tables[t.Name]), ConsistentRead: aws.Bool(true)}
	for {
		page, err := w.memory.Client().Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if in.ExclusiveStartKey = page.LastEvaluatedKey; in.ExclusiveStartKey == nil {
			return out, nil
		}
	}
}

// recorder is a client that records requests and results until take is called.
type recorder struct {
	*dynamodb.Client

	mu    sync.Mutex
	seen  traffic
	total int
}

// traffic describes requests and their results.
type traffic struct {
	// looked is the number of items that Queries examined, found the number returned, and bytes their total size.
	looked int
	found  []table.Item
	// pages are the Queries, in the order of their responses.
	pages []queried
	read  []types.ConsumedCapacity // of GetItem and BatchGetItem
	// writes are the items of the last write.
	writes []touch
}

// touch is an item of a write, by its key, and whether the write only checks a condition on it.
type touch struct {
	table string
	item  table.Item
	check bool
}

// queried is the result of one Query.
type queried struct {
	partition string
	looked    int
	found     int
	bytes     int  // of the returned items
	more      bool // whether there is a next page
	counted   bool // whether the result is a count
	units     float64
}

// take returns the traffic since the previous take.
func (r *recorder) take() traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = traffic{}
	return out
}

// takeCount is the number of requests since the previous call.
func (r *recorder) takeCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.total
	r.total = 0
	return out
}

func (r *recorder) note(do func(*traffic)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	do(&r.seen)
}

// Query records the examined and returned items.
func (r *recorder) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	out, err := r.Client.Query(ctx, in, o...)
	r.note(func(t *traffic) {
		if out == nil {
			return
		}
		t.looked += int(out.ScannedCount)
		t.found = append(t.found, out.Items...)
		page := queried{
			partition: partitionOf(in), looked: int(out.ScannedCount), found: len(out.Items), more: len(out.LastEvaluatedKey) > 0,
			units: units(out.ConsumedCapacity), counted: in.Select == types.SelectCount,
		}
		for _, it := range out.Items {
			page.bytes += sdk.Item(it).Size()
		}
		t.pages = append(t.pages, page)
	})
	return out, err
}

// Scan records the examined and returned items.
func (r *recorder) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	out, err := r.Client.Scan(ctx, in, o...)
	r.note(func(t *traffic) {
		if out == nil {
			return
		}
		t.looked += int(out.ScannedCount)
		t.found = append(t.found, out.Items...)
		page := queried{looked: int(out.ScannedCount), found: len(out.Items), more: len(out.LastEvaluatedKey) > 0, units: units(out.ConsumedCapacity)}
		for _, it := range out.Items {
			page.bytes += sdk.Item(it).Size()
		}
		t.pages = append(t.pages, page)
	})
	return out, err
}

// partitionOf is a text that identifies the partition of a Query.
func partitionOf(in *dynamodb.QueryInput) string {
	var out []string
	for name, v := range in.ExpressionAttributeValues {
		if strings.HasPrefix(name, ":p") {
			out = append(out, name+scalarText(v))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "\x00")
}

func units(c *types.ConsumedCapacity) float64 {
	if c == nil {
		return 0
	}
	return aws.ToFloat64(c.CapacityUnits)
}

// TransactWriteItems records its items.
func (r *recorder) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.note(func(t *traffic) {
		t.writes = nil // forget an attempt that conflicted with another write
		for _, item := range in.TransactItems {
			switch {
			case item.Put != nil:
				t.writes = append(t.writes, touch{*item.Put.TableName, item.Put.Item, false})
			case item.Update != nil:
				t.writes = append(t.writes, touch{*item.Update.TableName, item.Update.Key, false})
			case item.Delete != nil:
				t.writes = append(t.writes, touch{*item.Delete.TableName, item.Delete.Key, false})
			case item.ConditionCheck != nil:
				t.writes = append(t.writes, touch{*item.ConditionCheck.TableName, item.ConditionCheck.Key, true})
			}
		}
	})
	return r.Client.TransactWriteItems(ctx, in, o...)
}

// BatchWriteItem records its items.
func (r *recorder) BatchWriteItem(ctx context.Context, in *dynamodb.BatchWriteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error) {
	r.note(func(t *traffic) {
		for name, list := range in.RequestItems {
			for _, w := range list {
				switch {
				case w.PutRequest != nil:
					t.writes = append(t.writes, touch{name, w.PutRequest.Item, false})
				case w.DeleteRequest != nil:
					t.writes = append(t.writes, touch{name, w.DeleteRequest.Key, false})
				}
			}
		}
	})
	return r.Client.BatchWriteItem(ctx, in, o...)
}

// PutItem records its item.
func (r *recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Item, false}} })
	return r.Client.PutItem(ctx, in, o...)
}

// UpdateItem records its item.
func (r *recorder) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Key, false}} })
	return r.Client.UpdateItem(ctx, in, o...)
}

// DeleteItem records its item.
func (r *recorder) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Key, false}} })
	return r.Client.DeleteItem(ctx, in, o...)
}

// GetItem counts the request.
func (r *recorder) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := r.Client.GetItem(ctx, in, o...)
	r.note(func(t *traffic) {
		if out != nil && out.ConsumedCapacity != nil {
			t.read = append(t.read, *out.ConsumedCapacity)
		}
	})
	return out, err
}

// BatchGetItem counts the request.
func (r *recorder) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := r.Client.BatchGetItem(ctx, in, o...)
	r.note(func(t *traffic) {
		if out != nil {
			t.read = append(t.read, out.ConsumedCapacity...)
		}
	})
	return out, err
}

// SDK is the SDK client behind the recorder, for requests that are not part of the trial.
func (r *recorder) SDK() *dynamodb.Client { return r.Client }
