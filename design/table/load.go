package table

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// Bounds of a load.
const (
	batchItems     = 25 // of a BatchWriteItem
	loadsInFlight  = 4
	firstLoadPause = 50 * time.Millisecond // before the first retry of unprocessed requests; doubled each time
	longLoadPause  = 5 * time.Second
)

// Load writes records with their copies, index entries and markers unconditionally, for imports and samples. It calls
// progress, if not nil, with the number of stored records, from one goroutine at a time. An invalid record or an error of
// DynamoDB stops it; records stored by then remain. Throttled writes are retried until the context is done. Of several
// records with the same key, any one may remain.
func (db *DB) Load(ctx context.Context, records iter.Seq[Record], progress func(int)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &load{db: db, progress: progress, stop: cancel, slots: make(chan struct{}, loadsInFlight)}
	defer l.running.Wait()
	next, n := newBatch(), 0
	for r := range records {
		if ctx.Err() != nil {
			break
		}
		n++
		items, err := Items(r.Entity, r.Values)
		if err != nil {
			cancel(fmt.Errorf("load record %d, %s: %w", n, r.Entity.Name, err))
			break
		}
		if len(next.requests)+len(items) > batchItems && next.records > 0 {
			l.start(ctx, next)
			next = newBatch()
		}
		next.add(db, r.Entity, items)
	}
	if next.records > 0 && ctx.Err() == nil {
		l.start(ctx, next)
	}
	l.running.Wait()
	return context.Cause(ctx)
}

// load is a running Load.
type load struct {
	db      *DB
	slots   chan struct{} // one per batch in flight
	running sync.WaitGroup
	stop    context.CancelCauseFunc

	mu       sync.Mutex // guards the following
	progress func(int)
	stored   int
}

// start puts a batch as soon as there is a slot.
func (l *load) start(ctx context.Context, b *batch) {
	select {
	case l.slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	l.running.Go(func() {
		defer func() { <-l.slots }()
		if err := l.put(ctx, b); err != nil {
			l.stop(err)
			return
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stored += b.records
		if l.progress != nil {
			l.progress(l.stored)
		}
	})
}

// put stores a batch. A single record may have more items than a request allows.
func (l *load) put(ctx context.Context, b *batch) error {
	for from := 0; from < len(b.requests); from += batchItems {
		requests := map[string][]types.WriteRequest{}
		for _, r := range b.requests[from:min(from+batchItems, len(b.requests))] {
			requests[r.table] = append(requests[r.table], types.WriteRequest{PutRequest: &types.PutRequest{Item: r.item}})
		}
		if err := l.putAll(ctx, requests); err != nil {
			return fmt.Errorf("load: %w", err)
		}
	}
	return nil
}

// putAll sends one request, and resends what it leaves unprocessed until the context ends.
func (l *load) putAll(ctx context.Context, requests map[string][]types.WriteRequest) error {
	for pause := firstLoadPause; ; pause = min(2*pause, longLoadPause) {
		var err error
		if requests, err = l.db.writeBatch(ctx, nil, requests); err != nil || len(requests) == 0 {
			return err
		}
		if err := wait(ctx, pause/2+rand.N(pause/2)); err != nil { //nolint:gosec // a pause needs no secret
			return err
		}
	}
}

// throttled reports whether DynamoDB throttled a whole request.
func throttled(err error) bool {
	if _, is := errors.AsType[*types.ProvisionedThroughputExceededException](err); is {
		return true
	}
	if _, is := errors.AsType[*types.ThrottlingException](err); is {
		return true
	}
	_, is := errors.AsType[*types.RequestLimitExceeded](err)
	return is
}

// wait waits for a duration or until the context ends.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// batch is a set of items that are put together: those of as many whole records as one request allows.
type batch struct {
	requests []putRequest
	places   map[string]int // of requests, by table and key
	records  int
}

type putRequest struct {
	table string
	item  Item
}

func newBatch() *batch { return &batch{places: map[string]int{}} }

// add adds a record's items. A request must not have two items with the same key: the later one replaces the earlier.
func (b *batch) add(db *DB, e *Entity, items []Item) {
	b.records++
	for _, it := range items {
		r := putRequest{table: *db.tableName(e.Table), item: it}
		pk, _ := schema.KeyText(it[e.Table.PK.Name])
		sk, _ := schema.KeyText(it[e.Table.SK.Name])
		key := fmt.Sprintf("%q %q %q", r.table, pk, sk)
		if i, there := b.places[key]; there {
			b.requests[i] = r
			continue
		}
		b.places[key] = len(b.requests)
		b.requests = append(b.requests, r)
	}
}
