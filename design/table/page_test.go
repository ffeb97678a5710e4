package table_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// list is a read with its input and its expected result.
type list struct {
	read  *table.Read
	in    table.Input
	field string
	want  []table.Values
}

func lists(m market, orders []table.Values) []list {
	all := func(table.Values) bool { return true }
	both := func(a, b func(table.Values) bool) func(table.Values) bool {
		return func(v table.Values) bool { return a(v) && b(v) }
	}
	bounded := given("userId", "u-1")
	bounded.From, bounded.To = text("2024-01-05T10:00:00.000Z"), text("2024-01-20T10:00:00.000Z")
	during := func(v table.Values) bool {
		at := plainText(v["createdAt"])
		return at >= "2024-01-05T10:00:00.000Z" && at <= "2024-01-20T10:00:00.000Z"
	}
	noted := m.ordersOf()
	noted.Pattern, noted.Filter = "CheapOrdersOf", &table.Condition{
		Expression: "#t < :most", Names: map[string]string{"#t": "total"},
		Params: []table.ConditionParam{{Placeholder: ":most", Input: "most", Type: table.Type{Kind: "money"}}},
	}
	cheap := given("userId", "u-2")
	cheap.Values["most"] = number(12)
	paid := m.feed(false)
	paid.Pattern, paid.By, paid.FilterBy, paid.Owner = "PaidFeedOf", []string{"status"}, []string{"status"}, "userId"
	ofTotal := m.byTotal() // the filter uses a key of the index, where DynamoDB allows none
	ofTotal.Pattern, ofTotal.By, ofTotal.FilterBy, ofTotal.Range = "OfTotal", []string{"region", "total"}, []string{"total"}, ""
	ofTotal.SK = nil
	total := given("region", "north")
	total.Values["total"] = number(14)
	hydrated := m.openOrders() // the filter uses fields that the index lacks
	hydrated.Pattern, hydrated.Filter = "NotedOpenOrders", &table.Condition{
		Expression: "#d.#n = :note", Names: map[string]string{"#d": "data", "#n": "note"},
		Constants: map[string]types.AttributeValue{":note": text("note 0")},
	}
	return []list{
		{m.ordersOf(), given("userId", "u-1"), "orderId", matching(orders, fieldIs("userId", "u-1"), descending(by("createdAt", "orderId")))},
		{m.ordersOf(), bounded, "orderId", matching(orders, both(fieldIs("userId", "u-1"), during), descending(by("createdAt", "orderId")))},
		{m.wholeOrdersOf(), given("userId", "u-0"), "note", matching(orders, fieldIs("userId", "u-0"), descending(by("createdAt", "orderId")))},
		{m.openOrders(), given("region", "south"), "orderId", matching(orders, both(fieldIs("status", "open"), fieldIs("region", "south")), by("createdAt", "orderId"))},
		{m.feed(false), table.Input{}, "orderId", matching(orders, all, by("createdAt", "orderId"))},
		{m.feed(true), table.Input{}, "orderId", matching(orders, all, descending(by("createdAt", "orderId")))},
		{m.byTotal(), given("region", "north", "status", "paid"), "orderId", matching(orders, both(fieldIs("region", "north"), fieldIs("status", "paid")), by("total", "orderId"))},
		{m.byWeight(), given("status", "sent"), "weight", matching(orders, fieldIs("status", "sent"), by("weight"))},
		{m.byDigest(), given("region", "south"), "digest", matching(orders, fieldIs("region", "south"), by("digest"))},
		{noted, cheap, "orderId", matching(orders, both(fieldIs("userId", "u-2"), func(v table.Values) bool { return numberOf(v["total"]) < 12 }), descending(by("createdAt", "orderId")))},
		{paid, given("status", "paid", "userId", "u-1"), "orderId", matching(orders, both(fieldIs("status", "paid"), fieldIs("userId", "u-1")), by("createdAt", "orderId"))},
		{ofTotal, total, "orderId", matching(orders, both(fieldIs("region", "north"), fieldIs("total", "14")), by("status", "orderId"))},
		{hydrated, given("region", "north"), "orderId", matching(orders, both(both(fieldIs("status", "open"), fieldIs("region", "north")), fieldIs("note", "note 0")), by("createdAt", "orderId"))},
	}
}

func numberOf(v types.AttributeValue) (n int) {
	_, _ = fmt.Sscan(plainText(v), &n)
	return n
}

// TestEveryPageSize tests that pages of any size together are the whole list, in order.
func TestEveryPageSize(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(40)
	s.put(s.order, orders...)
	for _, l := range lists(s.market, orders) {
		t.Run(l.read.Pattern, func(t *testing.T) {
			want := ids(l.want, l.field)
			if len(want) < 2 {
				t.Fatalf("the list has only %d items, too few for the test", len(want))
			}
			for size := range len(want) + 2 {
				if got := allPages(t, s.db, l.read, l.in, size); !cmp.Equal(ids(got, l.field), want) {
					t.Errorf("pages of %d:\n%v; want\n%v", size, ids(got, l.field), want)
				}
			}
			got, err := s.db.List(t.Context(), l.read, l.in)
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(ids(got, l.field), want) {
				t.Errorf("all:\n%v; want\n%v", ids(got, l.field), want)
			}
		})
	}
}

// allPages reads all pages of a size.
func allPages(t *testing.T, db *table.DB, r *table.Read, in table.Input, size int) []table.Values {
	t.Helper()
	var out []table.Values
	var after table.Cursor
	for range 200 {
		page, err := db.Page(t.Context(), r, in, table.PageOptions{Limit: size, After: after})
		if err != nil {
			t.Fatal(err)
		}
		most := size
		if size == 0 {
			most = max(r.Page, 0)
		}
		if most > 0 && len(page.Items) > most {
			t.Fatalf("a page of %d has %d items", most, len(page.Items))
		}
		out = append(out, page.Items...)
		if after = page.Next; after == "" {
			return out
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

// TestMerge tests that the shards' results are merged by value, not by text, and that equal items are neither lost nor
// repeated between pages.
func TestMerge(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(60) // totals from 0 to 21
	s.put(s.order, orders...)
	for _, reverse := range []bool{false, true} {
		order := by("total")
		if reverse {
			order = descending(order)
		}
		want := matching(orders, func(table.Values) bool { return true }, order)
		for _, size := range []int{1, 2, 3, 7, 59, 60, 61} {
			got := allPages(t, s.db, s.spread(reverse), table.Input{}, size)
			if !cmp.Equal(ids(got, "total"), ids(want, "total")) {
				t.Errorf("pages of %d, reverse %v:\n%v; want\n%v", size, reverse, ids(got, "total"), ids(want, "total"))
			}
			slices.SortFunc(got, by("orderId"))
			if !cmp.Equal(ids(got, "orderId"), ids(orders, "orderId")) {
				t.Errorf("pages of %d, reverse %v have %v; want each order once", size, reverse, ids(got, "orderId"))
			}
		}
	}
}

// TestMergeFails tests that an error in one shard fails the read, and is reported once.
func TestMergeFails(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(30)...)
	ctx, cancel := context.WithCancel(t.Context())
	c := &client{Client: s.client}
	c.afterQuery = func(*dynamodb.QueryOutput) {
		if atomic.LoadInt64(&c.queries) >= 3 { // several may be in progress
			cancel()
		}
	}
	list, err := s.open(c, table.Config{}).List(ctx, s.spread(false), table.Input{})
	if !errors.Is(err, context.Canceled) || list != nil {
		t.Errorf("%v, %v; want context.Canceled", list, err)
	}
}

// TestLimit tests that List, All and the pages return as many items as the read's limit.
func TestLimit(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(40)
	s.put(s.order, orders...)
	want := ids(matching(orders, func(table.Values) bool { return true }, by("createdAt", "orderId")), "orderId")
	for _, limit := range []int{1, 4, 7, 40, 41} {
		r := s.feed(false)
		r.Limit, r.Page = limit, 3
		most := want[:min(limit, len(want))]
		if got, err := s.db.List(t.Context(), r, table.Input{}); err != nil || !cmp.Equal(ids(got, "orderId"), most) {
			t.Errorf("a list of %d: %v, %v; want %v", limit, ids(got, "orderId"), err, most)
		}
		if got := ids(allPages(t, s.db, r, table.Input{}, 0), "orderId"); !cmp.Equal(got, most) {
			t.Errorf("pages of a list of %d: %v; want %v", limit, got, most)
		}
	}
}

// TestStoppingEarlySendsNoRequests tests that stopping early sends no further requests.
func TestStoppingEarlySendsNoRequests(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(30)...)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{})
	walk := db.All(t.Context(), s.ordersOf(), given("userId", "u-1"))
	if c.queries != 0 {
		t.Errorf("%d requests before the first item is asked for", c.queries)
	}
	var met []string
	for v, err := range walk {
		if err != nil {
			t.Fatal(err)
		}
		if met = append(met, plainText(v["orderId"])); len(met) == 2 {
			break
		}
	}
	if c.queries != 1 { // the first page has four
		t.Errorf("%d requests for two items; want 1", c.queries)
	}
	for range walk {
		met = append(met, "")
	}
	if c.queries != 4 || len(met) != 12 { // 4, 4, 2 items
		t.Errorf("%d requests and %d items for a second walk; want 4 and 12 in all", c.queries, len(met))
	}
}

// TestPageEnds tests that a page ends with the list, and that a filter that drops everything ends a page after ten requests.
func TestPageEnds(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(90)...)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{CursorKey: cursorKey(1)})
	r := s.ordersOf() // 30 of each user
	page, err := db.Page(t.Context(), r, given("userId", "u-0"), table.PageOptions{Limit: 1000})
	if err != nil || len(page.Items) != 30 || page.Next != "" || c.queries != 1 {
		t.Errorf("%d items, next %q, %d requests, %v; want all 30 and no more", len(page.Items), page.Next, c.queries, err)
	}
	c.queries = 0
	r.Filter = &table.Condition{
		Expression: "#t = :t", Names: map[string]string{"#t": "total"}, Constants: map[string]types.AttributeValue{":t": number(-1)},
	}
	page, err = db.Page(t.Context(), r, given("userId", "u-0"), table.PageOptions{Limit: 2})
	if err != nil || len(page.Items) != 0 || page.Next == "" || c.queries != 10 {
		t.Errorf("%d items, next %q, %d requests, %v; want none and a next page after 10", len(page.Items), page.Next, c.queries, err)
	}
	if page, err = db.Page(t.Context(), r, given("userId", "u-0"), table.PageOptions{Limit: 2, After: page.Next}); err != nil || page.Next != "" {
		t.Errorf("the rest: next %q, %v; want the end: 10 requests of 2 have seen 20, 5 more see the rest", page.Next, err)
	}
	if page, err = db.Page(t.Context(), s.ordersOf(), given("userId", "u-9"), table.PageOptions{}); err != nil || len(page.Items) != 0 || page.Next != "" {
		t.Errorf("orders of an unknown user: %v, %v", page, err)
	}
}

// TestWholeKeyTakesOneRequest tests that with a whole key there is one item, and no request after it, although DynamoDB returns a start key
// when a request reaches its limit.
func TestWholeKeyTakesOneRequest(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(3)...)
	c := &client{Client: s.client}
	c.afterQuery = func(out *dynamodb.QueryOutput) {
		if len(out.Items) == 1 {
			out.LastEvaluatedKey = table.Item{"PK": out.Items[0]["PK"], "SK": out.Items[0]["SK"]}
		}
	}
	r := &table.Read{
		Pattern: "TheOrder", Entity: s.order, Many: true, By: []string{"orderId"}, PK: keys("PK:S", "ORDER#{orderId}"),
		SK: []table.SortCondition{sortBy("SK:S", table.Equal, "ORDER", "", false)}, Sort: sorted("SK:S"),
	}
	page, err := s.open(c, table.Config{CursorKey: cursorKey(1)}).Page(t.Context(), r, given("orderId", "o-001"), table.PageOptions{Limit: 1})
	if err != nil || len(page.Items) != 1 || page.Next != "" {
		t.Errorf("%v, next %q, %v; want one item and no more", ids(page.Items, "orderId"), page.Next, err)
	}
}

// TestForeignItems tests that other items in a partition are not returned: those of other entities, and similar ones.
func TestForeignItems(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(12)
	s.put(s.order, orders...)
	for _, sk := range []string{"ORDER#", "ORDER#2024-01-01", "ORDER#2024-01-03T10:00:00.000Z#o-999", "ORDER#x"} {
		s.putItem(table.Item{"PK": text("USER#u-1"), "SK": text(sk), "type": text("NOTE"), "orderId": text("o-999")})
		s.putItem(table.Item{"PK": text("USER#u-1"), "SK": text(sk + "!"), "orderId": text("o-999")})
	}
	want := ids(matching(orders, fieldIs("userId", "u-1"), descending(by("createdAt", "orderId"))), "orderId")
	for size := range 6 {
		if got := ids(allPages(t, s.db, s.ordersOf(), given("userId", "u-1"), size), "orderId"); !slices.Equal(got, want) {
			t.Errorf("pages of %d: %v; want %v", size, got, want)
		}
	}
}
