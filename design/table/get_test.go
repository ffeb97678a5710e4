package table_test

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// aUser is a user with an address.
func aUser(id, email string) table.Values {
	return table.Values{"userId": text(id), "email": text(email), "name": text("Name of " + id)}
}

// TestGet tests that an item is found by its key, and only for its owner.
func TestGet(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(6)...)
	s.putItem(table.Item{"PK": text("ORDER#o-note"), "SK": text("ORDER"), "type": text("NOTE"), "orderId": text("o-note"), "userId": text("u-1")})
	s.putItem(table.Item{"PK": text("ORDER#o-other"), "SK": text("ORDER"), "type": text("ORDER"), "orderId": text("o-1"), "userId": text("u-1")})
	v, err := s.db.Get(t.Context(), s.orderByID(), given("orderId", "o-004", "userId", "u-1"))
	if err != nil || plainText(v["note"]) != "note 0" || len(v) != 9 {
		t.Errorf("%v, %v; want the order with its 9 fields", v, err)
	}
	copied := &table.Read{
		Pattern: "OrderOf", Entity: s.order, Place: table.Place{Kind: table.CopyPlace, Copy: "byUser"}, Key: s.order.Copies[0].Key,
		By: []string{"userId", "createdAt", "orderId"}, Fields: []string{"total"},
	}
	v, err = s.db.Get(t.Context(), copied, given("userId", "u-1", "createdAt", plainText(anOrder(4)["createdAt"]), "orderId", "o-004"))
	if err != nil || len(v) != 1 || plainText(v["total"]) != "6" { // 4 * 7 % 22
		t.Errorf("%v, %v; want only the total", v, err)
	}
	for what, in := range map[string]table.Input{
		"absent":          given("orderId", "o-999", "userId", "u-1"),
		"somebody else's": given("orderId", "o-004", "userId", "u-2"),
		"another entity":  given("orderId", "o-note", "userId", "u-1"),
		"another's key":   given("orderId", "o-other", "userId", "u-1"),
	} {
		if v, err := s.db.Get(t.Context(), s.orderByID(), in); !errors.Is(err, table.ErrNotFound) || v != nil {
			t.Errorf("%s: %v, %v; want ErrNotFound", what, v, err)
		}
	}
}

// TestGetFiltered tests that the pattern's filter applies, although GetItem has none.
func TestGetFiltered(t *testing.T) {
	s := newStore(t)
	s.put(s.order, anOrder(0), anOrder(3))
	r := s.orderByID()
	r.Owner, r.Filter = "", &table.Condition{
		Expression: "#s = :open", Names: map[string]string{"#s": "status"}, Constants: map[string]types.AttributeValue{":open": text("open")},
	}
	if _, err := s.db.Get(t.Context(), r, given("orderId", "o-000")); err != nil {
		t.Errorf("an open order: %v", err)
	}
	if _, err := s.db.Get(t.Context(), r, given("orderId", "o-003")); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("a paid order: %v; want ErrNotFound", err)
	}
}

// TestGetByQuery tests a read of one item from an index with many equal keys: items that do not match are skipped.
func TestGetByQuery(t *testing.T) {
	s := newStore(t)
	s.put(s.order, firstOrders(60)...)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{})
	r := s.byWeight()
	r.Many, r.Range, r.SK, r.Filter = false, "", nil, &table.Condition{
		Expression: "#o = :id", Names: map[string]string{"#o": "orderId"},
		Params: []table.ConditionParam{{Placeholder: ":id", Input: "id", Type: table.Type{Kind: "id"}}},
	}
	for _, id := range []string{"o-000", "o-001", "o-009", "o-036", "o-056"} { // open ones
		v, err := db.Get(t.Context(), r, given("status", "open", "id", id))
		if err != nil || plainText(v["orderId"]) != id {
			t.Errorf("%v, %v; want %s", v, err, id)
		}
	}
	c.queries = 0
	if _, err := db.Get(t.Context(), r, given("status", "open", "id", "o-003")); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("a paid order among the open ones: %v; want ErrNotFound", err)
	}
	if c.queries > 6 { // of 1, 2, 4, 8, 16 items
		t.Errorf("%d requests to pass 21 items over", c.queries)
	}
}

// TestGetByMarker tests that a marker leads to the item, if the item still has the marker's value.
func TestGetByMarker(t *testing.T) {
	s := newStore(t)
	s.put(s.user, aUser("u-1", "Ana@Example.com"))
	c := &client{Client: s.client}
	db := s.open(c, table.Config{})
	v, err := db.Get(t.Context(), s.userByEmail(), given("email", "aNA@example.com"))
	if err != nil || plainText(v["name"]) != "Name of u-1" {
		t.Errorf("%v, %v; want the user", v, err)
	}
	for what, change := range map[string]func(){
		"another address now": func() {
			s.putItem(table.Item{"PK": text("USER#u-1"), "SK": text("PROFILE"), "type": text("USER"), "userId": text("u-1"), "email": text("eva@example.com")})
		},
		"no user any more": func() { s.deleteItem("USER#u-1", "PROFILE") },
		"no marker":        func() { s.deleteItem("EMAIL#ana@example.com", "UNIQUE") },
	} {
		change()
		if v, err := db.Get(t.Context(), s.userByEmail(), given("email", "ana@example.com")); !errors.Is(err, table.ErrNotFound) {
			t.Errorf("%s: %v, %v; want ErrNotFound", what, v, err)
		}
	}
}

// TestGetByMovingMarker tests that some user is found even if the address moves from one user to another between the two
// requests, because it always belonged to someone.
func TestGetByMovingMarker(t *testing.T) {
	s := newStore(t)
	s.put(s.user, aUser("u-2", "eva@example.com"), aUser("u-1", "ana@example.com"))
	moved := false
	c := &client{Client: s.client}
	c.beforeBatch = moving(func() {
		if !moved {
			moved = true
			s.put(s.user, aUser("u-1", "eva@example.com"), aUser("u-2", "ana@example.com"))
		}
	})
	v, err := s.open(c, table.Config{}).Get(t.Context(), s.userByEmail(), given("email", "ana@example.com"))
	if err != nil || plainText(v["userId"]) != "u-2" || !moved {
		t.Errorf("%v, %v; want u-2", v, err)
	}
}

// TestGetFails tests that an error of the SDK is passed on, with the pattern.
func TestGetFails(t *testing.T) {
	s := newStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.db.Get(ctx, s.orderByID(), given("orderId", "o-1", "userId", "u-1")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want context.Canceled", err)
	}
	elsewhere, err := table.Open(s.client, table.Config{Tables: map[string]string{"Market": "none"}}, s.table)
	if err != nil {
		t.Fatal(err)
	}
	_, err = elsewhere.Get(t.Context(), s.orderByID(), given("orderId", "o-1", "userId", "u-1"))
	if _, is := errors.AsType[*types.ResourceNotFoundException](err); !is || errors.Is(err, table.ErrNotFound) {
		t.Errorf("without the table: %v; want the SDK's error", err)
	}
}
