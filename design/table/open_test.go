package table_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design/table"
)

func TestOpen(t *testing.T) {
	s := newStore(t)
	fixed := &table.Table{Name: "Log", Physical: "log", PK: attribute("PK", typeS)}
	tables := map[string]string{"Market": "market-test"}
	for _, c := range []struct {
		name   string
		client table.Client
		config table.Config
		says   string // what the error must say; "" for none
	}{
		{"all tables configured", s.client, table.Config{Tables: tables}, ""},
		{"keys of 32 bytes", s.client, table.Config{Tables: tables, CursorKey: cursorKey(1), OldCursorKeys: [][]byte{cursorKey(2)}}, ""},
		{"no client", nil, table.Config{Tables: tables}, "no client"},
		{"a placeholder", s.client, table.Config{}, `set Config.Tables["Market"]`},
		{"an empty table name", s.client, table.Config{Tables: map[string]string{"Market": "market-test", "Log": ""}}, ""},
		{"an empty name for a placeholder", s.client, table.Config{Tables: map[string]string{"Market": ""}}, `set Config.Tables["Market"]`},
		{"an unknown table", s.client, table.Config{Tables: map[string]string{"Market": "m", "market": "m"}}, `table "market", which is not in the design`},
		{"a short key", s.client, table.Config{Tables: tables, CursorKey: make([]byte, 31)}, "CursorKey has 31 bytes"},
		{"a short old key", s.client, table.Config{Tables: tables, CursorKey: cursorKey(1), OldCursorKeys: [][]byte{cursorKey(2), {1}}}, "OldCursorKeys[1] has 1 bytes"},
		{"old keys only", s.client, table.Config{Tables: tables, OldCursorKeys: [][]byte{cursorKey(2)}}, "CursorKey has 0 bytes"},
	} {
		db, err := table.Open(c.client, c.config, s.table, fixed)
		switch {
		case c.says == "" && (err != nil || db == nil):
			t.Errorf("%s: %v", c.name, err)
		case c.says != "" && (err == nil || db != nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v; want that it says %q", c.name, err, c.says)
		}
	}
}

// TestObserve tests the reported cost of calls: by DynamoDB's documentation, half a unit for an eventually consistent read
// of up to 4 KB, and one for a strongly consistent read.
func TestObserve(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(12)...)
	s.put(s.user, aUser("u-1", "ana@example.com"))
	type key struct{}
	var calls []table.Call
	db := s.open(s.client, table.Config{CursorKey: cursorKey(1), Observe: func(ctx context.Context, c table.Call) {
		if ctx.Value(key{}) != "caller's" {
			t.Error("the observer does not have the caller's context")
		}
		calls = append(calls, c)
	}})
	ctx := context.WithValue(t.Context(), key{}, "caller's")
	owner := given("orderId", "o-001", "userId", "u-1")
	_, _ = db.Get(ctx, s.orderByID(), owner)
	_, _ = db.Get(ctx, s.orderByID(), given("orderId", "o-001", "userId", "u-2"))
	_, _ = db.Get(ctx, s.userByEmail(), given("email", "ana@example.com"))
	_, _ = db.Batch(ctx, s.orderByID(), []table.Input{owner, given("orderId", "o-002", "userId", "u-2"), owner})
	_, _ = db.Page(ctx, s.feed(false), table.Input{}, table.PageOptions{Limit: 2})
	_, _ = db.List(ctx, s.openOrders(), given("region", "north"))
	for _, err := range db.All(ctx, s.byWeight(), given("status", "lost")) {
		if err == nil {
			t.Error("an invalid status has results")
		}
	}
	_, _ = db.Collect(ctx, s.ofUser(), given("userId", "u-1"), table.PageOptions{})
	want := []struct {
		pattern  string
		requests int
		units    float64
		err      error
	}{
		{"OrderByID", 1, 1, nil},
		{"OrderByID", 1, 1, table.ErrNotFound},
		{"UserByEmail", 2, 1, nil},
		{"OrderByID", 1, 2, nil},
		{"Feed", 4, 2, nil},
		{"OpenOrders", 3, 0.5 + 3*0.5 + 0.5, nil}, // a page with all three, the three items, and a last empty page
		{"ByWeight", 0, 0, &table.ValueError{}},
		{"OfUser", 1, 0.5, nil},
	}
	if len(calls) != len(want) {
		t.Fatalf("%d calls were observed; want %d", len(calls), len(want))
	}
	for i, w := range want {
		c := calls[i]
		failed := c.Err == nil && w.err == nil || errors.Is(c.Err, w.err)
		if _, isValue := w.err.(*table.ValueError); isValue { //nolint:errorlint // the test compares the value
			failed = isValueError(c.Err, "status")
		}
		if c.Pattern != w.pattern || c.Requests != w.requests || c.ReadUnits != w.units || c.WriteUnits != 0 || c.Attempts != 1 || c.Duration < 0 || !failed {
			t.Errorf("call %d is %+v; want %+v", i, c, w)
		}
	}
}

// TestNow tests that now in a filter is the clock's time, to the millisecond.
func TestNow(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(9)...)
	r := s.ordersOf()
	r.Filter = &table.Condition{
		Expression: "#c <= :now", Names: map[string]string{"#c": "createdAt"},
		Params: []table.ConditionParam{{Placeholder: ":now", Input: "now", Type: table.Type{Kind: "time"}}},
	}
	newest := anOrder(1) // of the day 6, 21 and 8: of orders 1, 4 and 7
	for _, c := range []struct {
		clock string
		want  int
	}{{"2024-01-06T09:59:59.999999Z", 0}, {"2024-01-06T10:00:00Z", 1}, {"2024-01-08T10:00:00.0001Z", 2}, {"2024-01-31T00:00:00+02:00", 3}} {
		now, err := time.Parse(time.RFC3339Nano, c.clock)
		if err != nil {
			t.Fatal(err)
		}
		db := s.open(s.client, table.Config{Clock: func() time.Time { return now }})
		if list, err := db.List(t.Context(), r, given("userId", plainText(newest["userId"]))); err != nil || len(list) != c.want {
			t.Errorf("at %s: %d orders, %v; want %d", c.clock, len(list), err, c.want)
		}
	}
}
