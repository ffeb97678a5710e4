package table

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/tabletest"
	"github.com/monotable/monotable/monotabletest"
)

// batches is a client that counts batches and may respond to some itself.
type batches struct {
	Client
	// handle, if not nil, handles the n-th batch: the input that it returns is put.
	handle func(n int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error)

	mu             sync.Mutex
	sent, largest  int
	inFlight, most int
}

func (c *batches) BatchWriteItem(
	ctx context.Context, in *dynamodb.BatchWriteItemInput, options ...func(*dynamodb.Options),
) (*dynamodb.BatchWriteItemOutput, error) {
	c.mu.Lock()
	c.sent++
	n := c.sent
	c.inFlight++
	c.most = max(c.most, c.inFlight)
	size := 0
	for _, requests := range in.RequestItems {
		size += len(requests)
	}
	c.largest = max(c.largest, size)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.inFlight--
	}()
	var left map[string][]types.WriteRequest
	if c.handle != nil {
		var err error
		if in, left, err = c.handle(n, in); err != nil {
			return nil, err
		}
	}
	if in == nil {
		return &dynamodb.BatchWriteItemOutput{UnprocessedItems: left}, nil
	}
	out, err := c.Client.BatchWriteItem(ctx, in, options...)
	if err == nil {
		for name, requests := range left {
			if out.UnprocessedItems == nil {
				out.UnprocessedItems = map[string][]types.WriteRequest{}
			}
			out.UnprocessedItems[name] = append(out.UnprocessedItems[name], requests...)
		}
	}
	return out, err
}

// loading is an empty table of parcels with a counting client.
func loading(t *testing.T, e *Entity) (*DB, *batches) {
	t.Helper()
	client := monotabletest.New(t).Client()
	MakeTable(t, client, e.Table)
	counted := &batches{Client: client}
	db, err := Open(counted, Config{}, e.Table)
	if err != nil {
		t.Fatal(err)
	}
	return db, counted
}

// manyParcels are records with different keys.
func manyParcels(e *Entity, n int) []Record {
	out := make([]Record, n)
	for i := range out {
		id := fmt.Sprintf("p-%d", i)
		out[i] = Record{Entity: e, Values: Extend(Extend(AParcel(), "parcelId", id), "ref", id)}
	}
	return out
}

// wantStored checks that a table has exactly the items of the records.
func wantStored(t *testing.T, db *DB, e *Entity, records []Record) {
	t.Helper()
	want := map[string]Item{}
	for _, r := range records {
		items, err := Items(r.Entity, r.Values)
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range items {
			want[Printed(it["PK"])+Printed(it["SK"])] = it
		}
	}
	got := map[string]Item{}
	for p := dynamodb.NewScanPaginator(scanner{db.client}, &dynamodb.ScanInput{TableName: db.tableName(e.Table)}); p.HasMorePages(); {
		page, err := p.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, it := range page.Items {
			got[Printed(it["PK"])+Printed(it["SK"])] = it
		}
	}
	if len(got) != len(want) || !maps.EqualFunc(got, want, SameItem) {
		t.Errorf("the table has %d items; want the %d of %d records", len(got), len(want), len(records))
	}
}

// scanner is the interface that the SDK's paginator needs.
type scanner struct{ client Client }

func (s scanner) Scan(ctx context.Context, in *dynamodb.ScanInput, options ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	return s.client.(*batches).Client.(*dynamodb.Client).Scan(ctx, in, options...)
}

func TestLoad(t *testing.T) {
	e := Parcels()
	db, client := loading(t, e)
	records := manyParcels(e, 1003)
	var reported []int
	if err := db.Load(t.Context(), slices.Values(records), func(n int) { reported = append(reported, n) }); err != nil {
		t.Fatal(err)
	}
	wantStored(t, db, e, records)
	if !slices.IsSorted(reported) || reported[len(reported)-1] != len(records) {
		t.Errorf("the progress was %v; want that it ends with %d", reported, len(records))
	}
	if client.largest > 25 || client.sent > 130 || client.most > 4 { // 8 records of 3 items are in one request
		t.Errorf("%d requests, %d at once, of at most %d items", client.sent, client.most, client.largest)
	}
}

// TestLoadThrottled tests that unprocessed and throttled items are put again.
func TestLoadThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Parcels()
		db, client := loading(t, e)
		client.handle = func(n int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error) {
			requests := in.RequestItems["parcels"]
			half := (len(requests) + 1) / 2
			switch {
			case n%5 == 0:
				return nil, nil, &types.ProvisionedThroughputExceededException{}
			case n%5 == 1:
				return nil, in.RequestItems, nil
			case half < len(requests):
				return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"parcels": requests[:half]}},
					map[string][]types.WriteRequest{"parcels": requests[half:]}, nil
			default:
				return in, nil, nil
			}
		}
		records := manyParcels(e, 40)
		stored := 0
		if err := db.Load(t.Context(), slices.Values(records), func(n int) { stored = n }); err != nil {
			t.Fatal(err)
		}
		wantStored(t, db, e, records)
		if stored != len(records) {
			t.Errorf("%d records are said to be stored; want %d", stored, len(records))
		}
	})
}

// TestLoadWaits tests that the pauses before retries grow, up to 5 seconds, and end with the context.
func TestLoadWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Parcels()
		client := &batches{handle: func(_ int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error) {
			return nil, in.RequestItems, nil
		}}
		db, err := Open(client, Config{}, e.Table)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun := time.Now()
		err = db.Load(ctx, slices.Values(manyParcels(e, 1)), func(int) { t.Error("nothing is stored") })
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %s; want that it ends with its context", err, time.Since(begun))
		}
		// With full pauses of 50 ms, 100 ms, … 3.2 s and then 5 s there are 18 requests in a minute, with
		// half pauses 31.
		if client.sent < 18 || client.sent > 31 {
			t.Errorf("%d requests in a minute", client.sent)
		}
	})
}

func TestLoadRefusals(t *testing.T) {
	e := Parcels()
	db, _ := loading(t, e)
	wrong := Record{Entity: e, Values: Extend(AParcel(), "status", "lost")}
	err := db.Load(t.Context(), slices.Values([]Record{{Entity: e, Values: AParcel()}, wrong, {Entity: e, Values: AParcel()}}), nil)
	WantValueError(t, err, "status", "is not one of", "an invalid record")
	if err == nil || !strings.Contains(err.Error(), "record 2, Parcel") {
		t.Errorf("%v; want that it names the record", err)
	}
	e.Table.Name, e.Table.Physical = "Other", "other"
	err = db.Load(t.Context(), slices.Values(manyParcels(e, 100)), nil)
	if _, is := errors.AsType[*types.ResourceNotFoundException](err); !is {
		t.Errorf("%v; want the error that the table does not exist", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Load(ctx, slices.Values(manyParcels(e, 100)), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want that it is cancelled", err)
	}
	if err := db.Load(t.Context(), slices.Values([]Record(nil)), nil); err != nil {
		t.Errorf("of no records: %v", err)
	}
}

// TestLoadOfOneKey tests records with the same key, which cannot be in one request: the later one remains.
func TestLoadOfOneKey(t *testing.T) {
	e := Parcels()
	db, _ := loading(t, e)
	last := Record{Entity: e, Values: Extend(AParcel(), "city", "Lima")}
	if err := db.Load(t.Context(), slices.Values([]Record{{Entity: e, Values: AParcel()}, {Entity: e, Values: Extend(AParcel(), "city", "Cusco")}, last}), nil); err != nil {
		t.Fatal(err)
	}
	wantStored(t, db, e, []Record{last})
}

// TestLoadOfManyCopies tests a record with more items than a request allows.
func TestLoadOfManyCopies(t *testing.T) {
	e := Parcels()
	for i := range 60 {
		e.Copies = append(e.Copies, Copy{
			Name: fmt.Sprintf("c%d", i), Key: []KeyAttribute{TextKey("PK", fmt.Sprintf("C%d#{parcelId}", i)), TextKey("SK", "COPY")},
		})
	}
	db, client := loading(t, e)
	records := manyParcels(e, 3)
	stored := 0
	if err := db.Load(t.Context(), slices.Values(records), func(n int) { stored = n }); err != nil {
		t.Fatal(err)
	}
	wantStored(t, db, e, records)
	if client.largest > 25 || stored != 3 {
		t.Errorf("requests of %d items, %d records stored", client.largest, stored)
	}
}
