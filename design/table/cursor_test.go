package table_test

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// firstPage returns a page with a cursor.
func firstPage(t *testing.T, db *table.DB, r *table.Read, in table.Input) table.Page[table.Values] {
	t.Helper()
	page, err := db.Page(t.Context(), r, in, table.PageOptions{Limit: 2})
	if err != nil || page.Next == "" || len(page.Items) != 2 {
		t.Fatalf("%d items, next %q, %v; want a first page of 2", len(page.Items), page.Next, err)
	}
	return page
}

// TestCursorScope tests that a cursor only continues the list for which it was issued.
func TestCursorScope(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(60)...)
	filtered := func() *table.Read {
		r := s.ordersOf()
		r.Filter = &table.Condition{
			Expression: "#t >= :least", Names: map[string]string{"#t": "total"},
			Params: []table.ConditionParam{{Placeholder: ":least", Input: "least", Type: table.Type{Kind: "money"}}},
		}
		r.Owner = "userId"
		return r
	}
	in := given("userId", "u-1")
	in.Values["least"] = number(3)
	in.From, in.To = text("2024-01-02T00:00:00.000Z"), text("2024-01-30T00:00:00.000Z")
	cursor := firstPage(t, s.db, filtered(), in).Next

	change := func(f func(*table.Read, *table.Input)) error {
		r, changed := filtered(), table.Input{Values: maps.Clone(in.Values), From: in.From, To: in.To}
		f(r, &changed)
		_, err := s.db.Page(t.Context(), r, changed, table.PageOptions{After: cursor})
		return err
	}
	for name, f := range map[string]func(*table.Read, *table.Input){
		"another user":       func(_ *table.Read, in *table.Input) { in.Values["userId"] = text("u-2") },
		"another filter":     func(_ *table.Read, in *table.Input) { in.Values["least"] = number(4) },
		"no filter":          func(r *table.Read, _ *table.Input) { r.Filter = nil },
		"another pattern":    func(r *table.Read, _ *table.Input) { r.Pattern = "OrdersOfs" },
		"another direction":  func(r *table.Read, _ *table.Input) { r.Reverse = false },
		"another beginning":  func(_ *table.Read, in *table.Input) { in.From = text("2024-01-02T00:00:00.001Z") },
		"another end":        func(_ *table.Read, in *table.Input) { in.To = text("2024-01-30T00:00:00.001Z") },
		"no beginning":       func(_ *table.Read, in *table.Input) { in.From = nil },
		"the end's place":    func(_ *table.Read, in *table.Input) { in.From, in.To = nil, in.From },
		"a sort key of N":    func(r *table.Read, _ *table.Input) { r.Sort = sorted("SK:N") },
		"no sort key at all": func(r *table.Read, _ *table.Input) { r.Sort = nil },
	} {
		if err := change(f); !errors.Is(err, table.ErrCursor) {
			t.Errorf("%s: %v; want ErrCursor", name, err)
		}
	}
	for name, f := range map[string]func(*table.Read, *table.Input){
		"the same":              func(*table.Read, *table.Input) {},
		"the same number":       func(_ *table.Read, in *table.Input) { in.Values["least"] = &types.AttributeValueMemberN{Value: "3.0"} },
		"an input of no matter": func(_ *table.Read, in *table.Input) { in.Values["other"] = text("x") },
	} {
		if err := change(f); err != nil {
			t.Errorf("%s: %v; want a page", name, err)
		}
	}
}

// TestCursorCaller tests that with Config.Caller, a cursor only works for its caller.
func TestCursorCaller(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(20)...)
	type key struct{}
	db := s.open(s.client, table.Config{CursorKey: cursorKey(1), Caller: func(ctx context.Context) string {
		sub, _ := ctx.Value(key{}).(string)
		return sub
	}})
	page := func(db *table.DB, sub string, after table.Cursor) (table.Page[table.Values], error) {
		return db.Page(context.WithValue(t.Context(), key{}, sub), s.ordersOf(), given("userId", "u-1"), table.PageOptions{Limit: 2, After: after})
	}
	first, err := page(db, "u-1", "")
	if err != nil || first.Next == "" {
		t.Fatalf("next %q, %v", first.Next, err)
	}
	if second, err := page(db, "u-1", first.Next); err != nil || len(second.Items) != 2 {
		t.Errorf("the caller himself: %d items, %v", len(second.Items), err)
	}
	for _, sub := range []string{"u-2", "", "u-11"} {
		if _, err := page(db, sub, first.Next); !errors.Is(err, table.ErrCursor) {
			t.Errorf("caller %q: %v; want ErrCursor", sub, err)
		}
	}
	if _, err := page(s.db, "u-1", first.Next); !errors.Is(err, table.ErrCursor) {
		t.Errorf("without caller-specific cursors: %v; want ErrCursor", err)
	}
}

// TestCursorBoundaries tests that different inputs with the same concatenation are different.
func TestCursorBoundaries(t *testing.T) {
	s := newStore(t)
	for i := range 6 {
		o := anOrder(i)
		o["region"], o["status"] = text("ab"), text("open")
		s.put(s.order, o)
	}
	r := s.byTotal()
	r.By, r.FilterBy = []string{"region", "status", "note"}, nil
	in := given("region", "ab", "status", "open", "note", "c")
	cursor := firstPage(t, s.db, r, in).Next
	for _, other := range []table.Input{
		given("region", "abopen", "status", "open", "note", "c"), given("region", "a", "status", "open", "note", "bc"), given("region", "ab", "status", "open", "note", ""),
	} {
		if _, err := s.db.Page(t.Context(), r, other, table.PageOptions{After: cursor}); !errors.Is(err, table.ErrCursor) {
			t.Errorf("%v: %v; want ErrCursor", ids([]table.Values{other.Values}, "region"), err)
		}
	}
}

// TestDamagedCursor tests that no bit of a cursor can be changed, removed or added.
func TestDamagedCursor(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(20)...)
	in := given("userId", "u-1")
	cursor := string(firstPage(t, s.db, s.ordersOf(), in).Next)
	damaged := []string{cursor + "A", cursor + "=", cursor + "\n", cursor[:4] + "\r\n" + cursor[4:], " " + cursor, "A", "AQ", "%", strings.Repeat("A", 200)}
	for i := range cursor {
		damaged = append(damaged, cursor[:i], cursor[:i]+cursor[i+1:])
		for bit := range 8 {
			flipped := []byte(cursor)
			flipped[i] ^= 1 << bit
			damaged = append(damaged, string(flipped))
		}
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		t.Fatal(err)
	}
	for i := range sealed {
		for bit := range 8 {
			sealed[i] ^= 1 << bit
			damaged = append(damaged, base64.RawURLEncoding.EncodeToString(sealed))
			sealed[i] ^= 1 << bit
		}
	}
	for _, d := range damaged {
		if d == "" {
			continue // the start of the list
		}
		if _, err := s.db.Page(t.Context(), s.ordersOf(), in, table.PageOptions{After: table.Cursor(d)}); !errors.Is(err, table.ErrCursor) {
			t.Fatalf("%q instead of %q: %v; want ErrCursor", d, cursor, err)
		}
	}
}

// TestCursorOfEarlierRelease tests that a cursor sealed by AES-GCM is rejected, and the error says why.
func TestCursorOfEarlierRelease(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(20)...)
	earlier := base64.RawURLEncoding.EncodeToString(append([]byte{1}, make([]byte, 24+32+16)...))
	_, err := s.db.Page(t.Context(), s.ordersOf(), given("userId", "u-1"), table.PageOptions{Limit: 2, After: table.Cursor(earlier)})
	if !errors.Is(err, table.ErrCursor) || !strings.Contains(err.Error(), "earlier release") {
		t.Errorf("%v; want ErrCursor that names the earlier release", err)
	}
}

// TestCursorKeys tests that old keys open cursors, others do not, and that there are no cursors without a key.
func TestCursorKeys(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(20)...)
	in := given("userId", "u-1")
	first := firstPage(t, s.db, s.ordersOf(), in)
	again := firstPage(t, s.db, s.ordersOf(), in)
	if first.Next == again.Next {
		t.Error("two cursors are equal, which reveals that they are of the same page")
	}
	follow := func(db *table.DB, after table.Cursor) (table.Page[table.Values], error) {
		return db.Page(t.Context(), s.ordersOf(), in, table.PageOptions{Limit: 2, After: after})
	}
	want, err := follow(s.db, first.Next)
	if err != nil {
		t.Fatal(err)
	}
	turned := s.open(s.client, table.Config{CursorKey: cursorKey(2), OldCursorKeys: [][]byte{cursorKey(9), cursorKey(1)}})
	got, err := follow(turned, first.Next)
	if err != nil || !cmp.Equal(ids(got.Items, "orderId"), ids(want.Items, "orderId")) {
		t.Errorf("with the key among the old ones: %v, %v; want %v", ids(got.Items, "orderId"), err, ids(want.Items, "orderId"))
	}
	if _, err := follow(s.db, got.Next); !errors.Is(err, table.ErrCursor) {
		t.Errorf("a cursor of the new key opens with the old one: %v", err)
	}
	none := s.open(s.client, table.Config{})
	if _, err := follow(none, first.Next); !errors.Is(err, table.ErrCursor) {
		t.Errorf("without a key: %v; want ErrCursor", err)
	}
	if page, err := follow(none, ""); err != nil || page.Next != "" || len(page.Items) != 2 {
		t.Errorf("without a key: %d items, next %q, %v; want 2 and no cursor", len(page.Items), page.Next, err)
	}
	elsewhere := s.open(s.client, table.Config{CursorKey: cursorKey(1)})
	if _, err := follow(elsewhere, first.Next); err != nil {
		t.Errorf("in another process: %v", err)
	}
}

// TestCursorRevealsNothing tests that a cursor reveals nothing about the keys, and only the multiple of 32 bytes of
// their length.
func TestCursorRevealsNothing(t *testing.T) {
	s := newStore(t)
	const overhead = 1 + 24 + 16 // version, nonce, tag
	for length := range 70 {
		o := anOrder(1)
		o["orderId"], o["region"] = text(strings.Repeat("x", length+1)), text("east")
		s.put(s.order, o)
		in := given("region", "east", "status", plainText(o["status"]))
		page, err := s.db.Page(t.Context(), s.byTotal(), in, table.PageOptions{Limit: 1})
		if err != nil || page.Next == "" {
			t.Fatalf("next %q, %v; want a cursor", page.Next, err)
		}
		sealed, err := base64.RawURLEncoding.DecodeString(string(page.Next))
		if err != nil || strings.Contains(string(sealed), "ORDER") || (len(sealed)-overhead)%32 != 0 {
			t.Errorf("%q of %d bytes, %v: shows a key, or its length", sealed, len(sealed), err)
		}
		s.deleteItem("ORDER#"+plainText(o["orderId"]), "ORDER")
	}
}

// FuzzCursor tests that an invalid cursor always gives ErrCursor, and nothing else.
func FuzzCursor(f *testing.F) {
	s := newStore(f)
	in := given("userId", "u-1")
	for i := range 4 {
		o := anOrder(i)
		o["userId"] = in.Values["userId"]
		s.put(s.order, o)
	}
	page, err := s.db.Page(f.Context(), s.ordersOf(), in, table.PageOptions{Limit: 2})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(page.Next))
	f.Add("")
	f.Add("AQ")
	f.Add(strings.Repeat("A", 90))
	f.Fuzz(func(t *testing.T, cursor string) {
		got, err := s.db.Page(t.Context(), s.ordersOf(), in, table.PageOptions{Limit: 2, After: table.Cursor(cursor)})
		switch {
		case errors.Is(err, table.ErrCursor) && cursor != "" && cursor != string(page.Next):
		case err != nil || len(got.Items) != 2:
			t.Errorf("%q: %v, %v", cursor, got.Items, err)
		case cursor != "" && cmp.Equal(ids(got.Items, "orderId"), ids(page.Items, "orderId")):
			t.Errorf("%q continues at the beginning", cursor) // a valid one is page.Next, as made by another process
		}
	})
}
