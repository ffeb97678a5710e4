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
	tables  map[string]string // names on the database, by those of the design
	specs   []provision.Spec  // of the design's tables, in their order
	owners  map[string]*record
	stored  map[*record][]table.Item // the item itself, its copies, its markers
	sizes   map[*record]int          // of the item itself, in bytes
	// requests are those of idempotent writes that were made, by the identities of their records.
	requests map[uint64]string
	seen     map[string]table.Item // what all tables hold; nil where nobody has looked
	ghosts   map[string]bool       // keys of items that may stay behind
	last     table.Call            // what the runtime says of its last call
}

// newWorld makes the tables and loads records.
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
		_ = memory.Close() // nothing is in it
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
		specs[i].OnDemand = true // nothing is refused for coming too fast
		specs[i].TTLAttr = ""    // what has expired stays, as it does for days on DynamoDB
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

// keyOf is a text that tells the primary key of an item from others.
func keyOf(t *table.Table, it table.Item) string {
	return t.Name + "\x00" + canonical(it[t.PK.Name]) + "\x00" + canonical(it[t.SK.Name])
}

// owner is the record that an item, copy, marker or entry stands for; nil if there is none.
func (w *world) owner(t *table.Table, it table.Item) *record { return w.owners[keyOf(t, it)] }

// at is the item that a record has at a place, with all of its attributes; nil if it has none there.
func (w *world) at(r *record, p plan.Place) table.Item {
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

// scan is all that is in a table.
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

// recorder is a client that keeps what requests have answered, from take to take.
type recorder struct {
	*dynamodb.Client

	mu    sync.Mutex
	seen  traffic
	total int
}

// traffic is what requests were and answered.
type traffic struct {
	// looked is how many items Querys have looked at, found those that they answered, and bytes how large these are.
	looked int
	found  []table.Item
	// pages are the Querys, in the order of their answers.
	pages []queried
	read  []types.ConsumedCapacity // of GetItem and BatchGetItem
	// writes are what the last write was about.
	writes []touch
}

// touch is an item that a write is about, by its key, and whether only a condition is asked of it.
type touch struct {
	table string
	item  table.Item
	check bool
}

// queried is one Query's answer.
type queried struct {
	partition string
	looked    int
	found     int
	bytes     int  // of what was found
	more      bool // whether there is a key to go on behind
	counted   bool // whether a number was answered, and no items
	units     float64
}

// take is the traffic since the last take.
func (r *recorder) take() traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.seen
	r.seen = traffic{}
	return out
}

// takeCount is how many requests there were since the last time.
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

// Query keeps what was looked at and found.
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

// Scan keeps what was looked at and found.
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

// partitionOf is a text that tells the partition of a Query from others.
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

// TransactWriteItems keeps what it is about.
func (r *recorder) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.note(func(t *traffic) {
		t.writes = nil // of an attempt that met another write
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

// BatchWriteItem keeps what it is about.
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

// PutItem keeps what it is about.
func (r *recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Item, false}} })
	return r.Client.PutItem(ctx, in, o...)
}

// UpdateItem keeps what it is about.
func (r *recorder) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Key, false}} })
	return r.Client.UpdateItem(ctx, in, o...)
}

// DeleteItem keeps what it is about.
func (r *recorder) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput, o ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	r.note(func(t *traffic) { t.writes = []touch{{*in.TableName, in.Key, false}} })
	return r.Client.DeleteItem(ctx, in, o...)
}

// GetItem counts.
func (r *recorder) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	out, err := r.Client.GetItem(ctx, in, o...)
	r.note(func(t *traffic) {
		if out != nil && out.ConsumedCapacity != nil {
			t.read = append(t.read, *out.ConsumedCapacity)
		}
	})
	return out, err
}

// BatchGetItem counts.
func (r *recorder) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	out, err := r.Client.BatchGetItem(ctx, in, o...)
	r.note(func(t *traffic) {
		if out != nil {
			t.read = append(t.read, out.ConsumedCapacity...)
		}
	})
	return out, err
}

// SDK is the client of the SDK behind the recorder, for requests that are not the trial's.
func (r *recorder) SDK() *dynamodb.Client { return r.Client }
