package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	. "github.com/monotable/monotable/design/table/internal/tabletest"
)

// batchOf is a batch that puts parcels, with an input of n lines.
func batchOf(n int) (*Entity, *Write, []Record, Input) {
	e := Parcels()
	e.Markers, e.Copies, e.Counts = nil, nil, nil
	e.Fields = slices.Clone(e.Fields)
	for i := range e.Fields {
		e.Fields[i].Counter = false
	}
	w := &Write{Pattern: "PutAll", Lines: true, Batch: true, Steps: []Step{{Action: Put, Entity: e, Each: true}}}
	records := manyParcels(e, n)
	in := Input{Values: Values{}}
	for _, r := range records {
		in.Lines = append(in.Lines, r.Values)
	}
	return e, w, records, in
}

// TestBatchWrite tests that more lines than a transaction allows are written, 25 per request, despite unprocessed items and
// throttling.
func TestBatchWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, w, records, in := batchOf(130)
		db, client := loading(t, e)
		client.handle = func(n int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error) {
			requests := in.RequestItems["parcels"]
			switch half := len(requests) / 2; {
			case n%4 == 1:
				return nil, nil, &types.ProvisionedThroughputExceededException{}
			case n%4 == 2:
				return nil, in.RequestItems, nil
			case half > 0:
				return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"parcels": requests[half:]}},
					map[string][]types.WriteRequest{"parcels": requests[:half]}, nil
			default:
				return in, nil, nil
			}
		}
		out, err := db.Write(t.Context(), w, in)
		if err != nil || len(out.Items[0]) != len(records) {
			t.Fatalf("%d steps, %v", len(out.Items), err)
		}
		wantStored(t, db, e, records)
		if client.largest != 25 {
			t.Errorf("the largest request has %d items", client.largest)
		}
		remove := &Write{Pattern: "DeleteAll", Lines: true, Batch: true, Steps: []Step{{Action: Delete, Entity: e, Each: true}}}
		if _, err := db.Write(t.Context(), remove, Input{Values: Values{}, Lines: in.Lines[:120]}); err != nil {
			t.Fatal(err)
		}
		wantStored(t, db, e, records[120:])
	})
}

// TestUnfinishedBatch tests that the error lists the lines that may not be written, whether a request fails, DynamoDB leaves
// items unprocessed for too long, or the context ends.
func TestUnfinishedBatch(t *testing.T) {
	broken := errors.New("broken")
	for name, test := range map[string]struct {
		left error // the error of the third request; nil leaves one of its items unprocessed forever
		want func(error) bool
		from int
	}{
		"a failure": {broken, func(err error) bool { return errors.Is(err, broken) }, 50},
		"left": {nil, func(err error) bool {
			_, throttled := errors.AsType[*types.ProvisionedThroughputExceededException](err)
			return throttled
		}, 74},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e, w, records, in := batchOf(130)
				db, client := loading(t, e)
				client.handle = func(n int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error) {
					requests := in.RequestItems["parcels"]
					switch {
					case n < 3:
						return in, nil, nil
					case test.left != nil || len(requests) == 1:
						return nil, in.RequestItems, test.left
					}
					last := len(requests) - 1
					return &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{"parcels": requests[:last]}},
						map[string][]types.WriteRequest{"parcels": requests[last:]}, nil
				}
				_, err := db.Write(t.Context(), w, in)
				unfinished, is := errors.AsType[*UnfinishedError](err)
				if !is || !test.want(err) {
					t.Fatalf("%v", err)
				}
				var want []int
				for line := test.from; line < len(records); line++ {
					want = append(want, line)
				}
				if !slices.Equal(unfinished.Lines, want) {
					t.Errorf("lines %v are reported, want %v", unfinished.Lines, want)
				}
				wantStored(t, db, e, records[:test.from])
			})
		})
	}
	e, w, _, in := batchOf(3)
	db, client := loading(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	client.handle = func(_ int, in *dynamodb.BatchWriteItemInput) (*dynamodb.BatchWriteItemInput, map[string][]types.WriteRequest, error) {
		cancel()
		return nil, in.RequestItems, nil
	}
	_, err := db.Write(ctx, w, in)
	if unfinished, is := errors.AsType[*UnfinishedError](err); !is || !errors.Is(err, context.Canceled) || fmt.Sprint(unfinished.Lines) != "[0 1 2]" {
		t.Errorf("%v", err)
	}
}

// TestBatchRejectsSameItem tests that two lines on one item are rejected before any request.
func TestBatchRejectsSameItem(t *testing.T) {
	e, w, _, in := batchOf(60)
	db, client := loading(t, e)
	in.Lines[59] = in.Lines[3]
	if _, err := db.Write(t.Context(), w, in); !errors.Is(err, ErrLines) || client.sent > 0 {
		t.Errorf("%d requests, %v", client.sent, err)
	}
}
