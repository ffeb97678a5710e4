package table_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// moving makes a client run do before a batch, which is then sent normally.
func moving(do func()) func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	return func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
		do()
		return nil, nil
	}
}

// TestBatch tests that results are in the order of the inputs, each item is requested once, and a request has at most a
// hundred keys.
func TestBatch(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(150)...)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{})
	var in []table.Input
	want := []string{}
	for i := range 400 {
		n := i * 7 % 250 // each of 250 once or twice, of which 150 exist
		owner := plainText(anOrder(n)["userId"])
		if i%10 == 9 {
			owner = "u-9"
		}
		in = append(in, given("orderId", fmt.Sprintf("o-%03d", n), "userId", owner))
		if n >= 150 || owner == "u-9" {
			want = append(want, "")
		} else {
			want = append(want, fmt.Sprintf("o-%03d", n))
		}
	}
	got, err := db.Batch(t.Context(), s.orderByID(), in)
	if err != nil || !cmp.Equal(ids(got, "orderId"), want) {
		t.Errorf("%v, %v; want %v", ids(got, "orderId"), err, want)
	}
	if c.batches != 3 {
		t.Errorf("%d requests for 250 keys; want 3", c.batches)
	}
	for i, v := range got {
		if v == nil && want[i] != "" || v != nil && want[i] == "" {
			t.Fatalf("response %d is %v", i, v)
		}
	}
	few := s.orderByID()
	few.MaxKeys = 399
	if _, err := db.Batch(t.Context(), few, in); !errors.Is(err, table.ErrLines) || c.batches != 3 {
		t.Errorf("more inputs than the read takes: %v, after %d requests", err, c.batches)
	}
	if got, err := db.Batch(t.Context(), s.orderByID(), nil); err != nil || len(got) != 0 || c.batches != 3 {
		t.Errorf("no inputs: %v, %v", got, err)
	}
	if _, err := db.Batch(t.Context(), s.orderByID(), []table.Input{in[0], given("orderId", "#", "userId", "u-1")}); !isValueError(err, "orderId") {
		t.Errorf("a bad id: %v; want a *ValueError", err)
	}
	if _, err := db.Batch(t.Context(), s.byWeight(), []table.Input{given("status", "open")}); err == nil {
		t.Error("a batch of a Query has no error")
	}
}

// TestBatchResultsAreIndependent tests that changing one result does not change another for the same item.
func TestBatchResultsAreIndependent(t *testing.T) {
	s := newStore(t)
	s.put(s.order, anOrder(1))
	in := given("orderId", "o-001", "userId", "u-1")
	got, err := s.db.Batch(t.Context(), s.orderByID(), []table.Input{in, in})
	if err != nil {
		t.Fatal(err)
	}
	delete(got[0], "orderId")
	if got[1]["orderId"] == nil {
		t.Error("both results are the same map")
	}
}

// unprocessed makes a client process at most n keys of each batch, like a throttled table.
func unprocessed(t *testing.T, s *store, n int) func(*dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
	t.Helper()
	return func(in *dynamodb.BatchGetItemInput) (*dynamodb.BatchGetItemOutput, error) {
		asked := in.RequestItems[physical["Market"]]
		some, rest := asked, asked
		some.Keys, rest.Keys = asked.Keys[:min(n, len(asked.Keys))], asked.Keys[min(n, len(asked.Keys)):]
		out := &dynamodb.BatchGetItemOutput{}
		if len(some.Keys) > 0 {
			var err error
			out, err = s.client.BatchGetItem(t.Context(), &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{physical["Market"]: some}})
			if err != nil {
				return nil, err
			}
		}
		if len(rest.Keys) > 0 {
			out.UnprocessedKeys = map[string]types.KeysAndAttributes{physical["Market"]: rest}
		}
		return out, nil
	}
}

// TestUnprocessedKeys tests that unprocessed keys are requested again, after pauses, until there is no more progress.
func TestUnprocessedKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(t)
		s.put(s.order, firstOrders(30)...)
		var in []table.Input
		for i := range 30 {
			in = append(in, given("orderId", fmt.Sprintf("o-%03d", i), "userId", plainText(anOrder(i)["userId"])))
		}
		c := &client{Client: s.client, beforeBatch: unprocessed(t, s, 2)}
		db := s.open(c, table.Config{})
		got, err := db.Batch(t.Context(), s.orderByID(), in)
		if err != nil || !cmp.Equal(ids(got, "orderId"), ids(firstOrders(30), "orderId")) || c.batches != 15 {
			t.Errorf("%v, %v after %d requests; want all 30 after 15", ids(got, "orderId"), err, c.batches)
		}
		c.batches, c.beforeBatch = 0, unprocessed(t, s, 0)
		_, err = db.Batch(t.Context(), s.orderByID(), in)
		if _, throttled := errors.AsType[*types.ProvisionedThroughputExceededException](err); !throttled || c.batches != 10 {
			t.Errorf("%v after %d requests; want that the table is throttled, after 10", err, c.batches)
		}
	})
}

// TestChangedItemsAreOmittedFromIndexReads tests that items that are deleted or changed between the reads of the index and the table are
// omitted; the rest keeps its order.
func TestChangedItemsAreOmittedFromIndexReads(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(40)
	s.put(s.order, orders...)
	open := ids(matching(orders, func(v table.Values) bool {
		return plainText(v["status"]) == "open" && plainText(v["region"]) == "south"
	}, by("createdAt", "orderId")), "orderId")
	if len(open) < 5 {
		t.Fatalf("%v are open; want some more", open)
	}
	gone, moved := open[1], open[3]
	c := &client{Client: s.client}
	c.beforeBatch = moving(func() {
		s.deleteItem("ORDER#"+gone, "ORDER")
		for _, o := range orders {
			if plainText(o["orderId"]) == moved {
				o["region"] = text("north")
				s.put(s.order, o)
			}
		}
	})
	want := slices.DeleteFunc(slices.Clone(open), func(id string) bool { return id == gone || id == moved })
	for _, limit := range []int{len(open), 3} {
		db := s.open(c, table.Config{CursorKey: cursorKey(1)})
		page, err := db.Page(t.Context(), s.openOrders(), given("region", "south"), table.PageOptions{Limit: limit})
		if err != nil || !cmp.Equal(ids(page.Items, "orderId"), want[:min(limit, len(want))]) {
			t.Errorf("%v, %v; want %v", ids(page.Items, "orderId"), err, want[:min(limit, len(want))])
		}
		for _, v := range page.Items {
			if v["note"] == nil {
				t.Errorf("%v is not whole", v)
			}
		}
	}
}

// TestIndexPageTakesSeveralBatches tests that an index page of more than a hundred items takes several batches.
func TestIndexPageTakesSeveralBatches(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(250)
	for _, o := range orders {
		o["userId"] = text("u-1")
	}
	s.put(s.order, orders...)
	c := &client{Client: s.client}
	page, err := s.open(c, table.Config{CursorKey: cursorKey(1)}).Page(t.Context(), s.wholeOrdersOf(), given("userId", "u-1"), table.PageOptions{Limit: 5000})
	want := matching(orders, func(table.Values) bool { return true }, descending(by("createdAt", "orderId")))
	if err != nil || !cmp.Equal(ids(page.Items, "note"), ids(want, "note")) || c.batches != 3 || c.queries != 1 {
		t.Errorf("%d items, %v, %d batches, %d queries; want 250 in order, 3 and 1", len(page.Items), err, c.batches, c.queries)
	}
}
