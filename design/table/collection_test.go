package table_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// ofUser is a user with their orders: the profile sorts last, so the collection is read in reverse.
func (m market) ofUser() *table.Collection {
	return &table.Collection{
		Pattern: "OfUser", Table: m.table, Root: 0, By: []string{"userId"}, PK: keys("PK:S", "USER#{userId}"), Sort: sorted("SK:S"), Reverse: true, Page: 3,
		Members: []table.Member{
			{Entity: m.user},
			{Entity: m.order, Place: table.Place{Kind: table.CopyPlace, Copy: "byUser"}, Fields: []string{"orderId", "total"}},
		},
	}
}

// found is a collection's result in short form: the member's index, with the item's key.
func found(list []table.Found) []string {
	out := []string{}
	for _, f := range list {
		field := "orderId"
		if f.Member == 0 {
			field = "userId"
		}
		out = append(out, fmt.Sprint(f.Member, " ", plainText(f.Values[field])))
	}
	return out
}

// TestCollect tests that the root and its items are returned, in pages of every size and in one.
func TestCollect(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(30)
	s.put(s.order, orders...)
	s.put(s.user, aUser("u-1", "ana@example.com"), aUser("u-2", "eva@example.com"))
	s.putItem(table.Item{"PK": text("USER#u-1"), "SK": text("NOTE#1"), "type": text("NOTE"), "userId": text("u-1")})
	s.putItem(table.Item{"PK": text("USER#u-1"), "SK": text("ORDER#1"), "type": text("ORDER"), "userId": text("u-1")})
	want := []string{"0 u-1"}
	for _, id := range ids(matching(orders, fieldIs("userId", "u-1"), descending(by("createdAt", "orderId"))), "orderId") {
		want = append(want, "1 "+id)
	}
	for size := range len(want) + 3 {
		var got []table.Found
		after := table.Cursor("")
		for first := true; first || after != ""; first = false {
			page, err := s.db.Collect(t.Context(), s.ofUser(), given("userId", "u-1"), table.PageOptions{Limit: size, After: after})
			if err != nil {
				t.Fatal(err)
			}
			got, after = append(got, page.Items...), page.Next
		}
		if !cmp.Equal(found(got), want) {
			t.Errorf("pages of %d: %v; want %v", size, found(got), want)
		}
		if len(got[1].Values) != 2 {
			t.Errorf("an order has %v; want its orderId and total", got[1].Values)
		}
	}
	whole := s.ofUser()
	whole.Page = 0
	page, err := s.db.Collect(t.Context(), whole, given("userId", "u-1"), table.PageOptions{Limit: 2})
	if err != nil || !cmp.Equal(found(page.Items), want) || page.Next != "" {
		t.Errorf("without pages: %v, next %q, %v; want %v", found(page.Items), page.Next, err, want)
	}
	if _, err := s.db.Collect(t.Context(), s.ofUser(), given("userId", "u-0"), table.PageOptions{}); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("orders without their user: %v; want ErrNotFound", err)
	}
	if _, err := s.db.Collect(t.Context(), s.ofUser(), table.Input{}, table.PageOptions{}); !isValueError(err, "userId") {
		t.Errorf("without a user: %v; want a *ValueError", err)
	}
}

// TestCollectCursor tests that a cursor is bound to the collection and the input.
func TestCollectCursor(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(30)...)
	s.put(s.user, aUser("u-1", "ana@example.com"), aUser("u-2", "eva@example.com"))
	page, err := s.db.Collect(t.Context(), s.ofUser(), given("userId", "u-1"), table.PageOptions{})
	if err != nil || page.Next == "" {
		t.Fatalf("next %q, %v", page.Next, err)
	}
	after := table.PageOptions{After: page.Next}
	if _, err := s.db.Collect(t.Context(), s.ofUser(), given("userId", "u-2"), after); !errors.Is(err, table.ErrCursor) {
		t.Errorf("of another user: %v; want ErrCursor", err)
	}
	owned := s.ofUser()
	owned.Owner = "name"
	if _, err := s.db.Collect(t.Context(), owned, given("userId", "u-1", "name", "Name of u-1"), after); !errors.Is(err, table.ErrCursor) {
		t.Errorf("with an owner: %v; want ErrCursor", err)
	}
	if _, err := s.db.Page(t.Context(), s.ordersOf(), given("userId", "u-1"), after); !errors.Is(err, table.ErrCursor) {
		t.Errorf("of a read: %v; want ErrCursor", err)
	}
}

// TestCollectRoot tests that the first page has the root wherever it sorts, read by its key if that is known, and that pages
// have every item once.
func TestCollectRoot(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(30)
	s.put(s.order, orders...)
	s.put(s.user, aUser("u-1", "ana@example.com"))
	want := append([]string{"0 u-1"}, each(ids(matching(orders, fieldIs("userId", "u-1"), by("orderId")), "orderId"), func(id string) string { return "1 " + id })...)
	for _, known := range []bool{true, false} {
		c := s.ofUser()
		c.Page, c.Reverse, c.RootApart = 3, false, true // in ascending order, the root comes after its items
		if known {
			sk := s.user.Key[1]
			c.RootSK = []table.SortCondition{{Attribute: sk.Attribute, Known: sk.Template}}
		}
		var got []table.Found
		var after table.Cursor
		for pages := 0; pages == 0 || after != ""; pages++ {
			page, err := s.db.Collect(t.Context(), c, given("userId", "u-1"), table.PageOptions{After: after})
			if err != nil {
				t.Fatal(err)
			}
			got, after = append(got, page.Items...), page.Next
		}
		slices.SortFunc(got[1:], func(a, b table.Found) int {
			return strings.Compare(found([]table.Found{a})[0], found([]table.Found{b})[0])
		})
		if !slices.Equal(found(got), want) {
			t.Errorf("with the root's sort key %t: %v; want %v", known, found(got), want)
		}
	}
	for name, bounds := range map[string][2]string{"the orders": {"ORDER#", "ORDER#"}, "nothing": {"Z", "A"}} {
		c := s.ofUser()
		c.Page, c.RootApart = 0, true
		c.SK = []table.SortCondition{{
			Attribute: s.user.Key[1].Attribute, Comparison: table.Within, Known: table.Template{{Literal: bounds[0]}},
			To: table.Template{{Literal: bounds[1]}}, Open: true,
		}}
		page, err := s.db.Collect(t.Context(), c, given("userId", "u-1"), table.PageOptions{})
		rest := want[1:]
		if name == "nothing" {
			rest = nil
		}
		if err != nil || len(page.Items) != 1+len(rest) || page.Items[0].Member != c.Root {
			t.Errorf("between the bounds of %s: %v, %v; want the root and %v", name, found(page.Items), err, rest)
		}
	}
	missing := s.ofUser()
	missing.RootApart = true
	if _, err := s.db.Collect(t.Context(), missing, given("userId", "u-2"), table.PageOptions{}); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("without the root: %v, want ErrNotFound", err)
	}
}

// TestCollectOwner tests that the root's owner owns everything; without a root each item has its own owner.
func TestCollectOwner(t *testing.T) {
	s := newStore(t)
	orders := firstOrders(30)
	s.put(s.order, orders...)
	s.put(s.user, aUser("u-1", "ana@example.com"))
	c := s.ofUser()
	c.Owner = "email"
	for _, page := range []int{0, 2} {
		for _, reverse := range []bool{true, false} { // in ascending order, the root comes after its items
			c.Page, c.Reverse, c.RootApart = page, reverse, !reverse
			got, err := s.db.Collect(t.Context(), c, given("userId", "u-1", "email", "ana@example.com"), table.PageOptions{})
			want := 11
			if page > 0 {
				want = page
			}
			if err != nil || len(got.Items) != want || page > 0 && got.Items[0].Member != c.Root {
				t.Errorf("the owner's, pages of %d, reverse %v: %v, %v", page, reverse, found(got.Items), err)
			}
			if got, err := s.db.Collect(t.Context(), c, given("userId", "u-1", "email", "eva@example.com"), table.PageOptions{}); !errors.Is(err, table.ErrNotFound) {
				t.Errorf("another's, pages of %d, reverse %v: %v, %v; want ErrNotFound", page, reverse, found(got.Items), err)
			}
		}
	}

	entry := table.Place{Kind: table.EntryPlace, Index: "Feed"}
	feed := &table.Collection{
		Pattern: "FeedOf", Table: s.table, Index: "Feed", Root: -1, PK: keys("FeedPK:S", "FEED#{orderId|shard(4)}"), Sort: sorted("FeedSK:S"),
		Members: []table.Member{{Entity: s.user, Place: entry}, {Entity: s.order, Place: entry}}, Owner: "userId",
	}
	got, err := s.db.Collect(t.Context(), feed, given("userId", "u-2"), table.PageOptions{})
	want := each(ids(matching(orders, fieldIs("userId", "u-2"), by("createdAt", "orderId")), "orderId"), func(id string) string { return "1 " + id })
	if err != nil || !slices.Equal(found(got.Items), want) {
		t.Errorf("the feed of one: %v, %v; want %v", found(got.Items), err, want)
	}
}

func each[T, U any](list []T, f func(T) U) []U {
	var out []U
	for _, e := range list {
		out = append(out, f(e))
	}
	return out
}
