package table_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design/table"
)

// names are similar names: prefixes of each other, with characters before and after the separator in sort order,
// accents, the last character of Unicode.
func names() []string {
	return []string{
		"", "a", "A!", "a b", "a#", "a#p", "ab", "b", "ba", "bb", "Café", "cafe noir", "  cafe\tnoir ", "cafeteria", "\U0010FFFE", "z\U0010FFFF",
		strings.Repeat("long", 245), // 980 bytes
		strings.Repeat("long", 245) + "er",
	}
}

// folded is the result of |fold for these names.
func folded(name string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(strings.ToLower(name), "é", "e")), " ")
}

func someProducts() []table.Values {
	var out []table.Values
	for i, name := range names() {
		out = append(out, table.Values{
			"productId": text(fmt.Sprintf("p-%02d", i)), "name": text(name), "price": number(i * i * 31), "category": text([]string{"x", "x#"}[i%2]),
		})
	}
	return out
}

// TestRanges tests that for all bounds at a value, or next to one, a range returns the values between them,
// inclusively.
func TestRanges(t *testing.T) {
	s := newStore(t)
	orders, products := firstOrders(40), someProducts()
	s.put(s.order, orders...)
	s.put(s.product, products...)
	var times, totals, weights, digests, prices, texts []types.AttributeValue
	for _, o := range orders[:12] {
		times, totals, weights = append(times, o["createdAt"]), append(totals, o["total"]), append(weights, o["weight"])
		digests = append(digests, o["digest"])
	}
	for _, p := range products {
		prices, texts = append(prices, p["price"]), append(texts, p["name"])
	}
	times = append(times, text("0000-01-01T00:00:00.000Z"), text("9999-12-31T23:59:59.999Z"))
	weights = append(weights, &types.AttributeValueMemberN{Value: "-1E+20"}, &types.AttributeValueMemberN{Value: "7.25"})
	digests = append(digests, bytesOf(""), bytesOf("\xff"), bytesOf(strings.Repeat("\x25", 1100)), bytesOf(strings.Repeat("\xff", 1100)))
	prices = append(prices, number(0), number(999999))
	texts = append(texts, text("c"), text("AB c"), text(strings.Repeat("long", 300)), text(strings.Repeat("世", 400)), text("l"+strings.Repeat("世", 400)))
	compareFolded := func(a, b types.AttributeValue) int {
		return strings.Compare(folded(plainText(a)), folded(plainText(b)))
	}
	for _, c := range []struct {
		read    *table.Read
		in      table.Input
		field   string
		among   []table.Values
		bounds  []types.AttributeValue
		compare func(a, b types.AttributeValue) int
	}{
		{s.ordersOf(), given("userId", "u-2"), "createdAt", matching(orders, fieldIs("userId", "u-2"), by("createdAt")), times, compareOf("createdAt")},
		{s.feed(false), table.Input{}, "createdAt", orders, times, compareOf("createdAt")},
		{s.byTotal(), given("region", "south", "status", "open"), "total", matching(orders, func(v table.Values) bool {
			return plainText(v["region"]) == "south" && plainText(v["status"]) == "open"
		}, by("total")), totals, compareOf("total")},
		{s.byWeight(), given("status", "paid"), "weight", matching(orders, fieldIs("status", "paid"), by("weight")), weights, compareOf("weight")},
		{s.byDigest(), given("region", "north"), "digest", matching(orders, fieldIs("region", "north"), by("digest")), digests, compareOf("digest")},
		{s.byPrice(), given("category", "x"), "price", matching(products, fieldIs("category", "x"), by("price")), prices, compareOf("price")},
		{s.byLabel(), table.Input{}, "name", products, texts, compareOf("name")},
		{s.byNameRange(), table.Input{}, "name", products, texts, compareFolded},
	} {
		t.Run(c.read.Pattern, func(t *testing.T) {
			for _, from := range append(c.bounds, nil) {
				for _, to := range append(c.bounds, nil) {
					in := c.in
					in.From, in.To = from, to
					want := matching(c.among, func(v table.Values) bool {
						return (from == nil || c.compare(from, v[c.field]) <= 0) && (to == nil || c.compare(v[c.field], to) <= 0)
					}, by("orderId", "productId"))
					got, err := s.db.List(t.Context(), c.read, in)
					if err != nil {
						t.Fatalf("%q to %q: %v", plainText(from), plainText(to), err)
					}
					slices.SortFunc(got, by("orderId", "productId"))
					if !cmp.Equal(ids(got, c.field), ids(want, c.field)) {
						t.Fatalf("%q to %q:\n%q; want\n%q", plainText(from), plainText(to), ids(got, c.field), ids(want, c.field))
					}
				}
			}
		})
	}
}

// compareOf compares values of a field.
func compareOf(field string) func(a, b types.AttributeValue) int {
	return func(a, b types.AttributeValue) int { return by(field)(table.Values{field: a}, table.Values{field: b}) }
}

// TestEmptyRangeSendsNoRequest tests that a range with swapped bounds is empty and sends no request.
func TestEmptyRangeSendsNoRequest(t *testing.T) {
	s := newStore(t)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{CursorKey: cursorKey(1)})
	in := given("userId", "u-1")
	in.From, in.To = text("2024-01-02T00:00:00.000Z"), text("2024-01-01T00:00:00.000Z")
	page, err := db.Page(t.Context(), s.ordersOf(), in, table.PageOptions{})
	if err != nil || len(page.Items) != 0 || page.Next != "" || c.queries != 0 {
		t.Errorf("%v, %v after %d requests; want nothing after none", page, err, c.queries)
	}
	in = given("category", "x")
	in.From, in.To = number(8), number(7)
	least := given("region", "north")
	least.To = bytesOf("") // no key is empty
	if list, err := db.List(t.Context(), s.byDigest(), least); err != nil || len(list) != 0 || c.queries != 0 {
		t.Errorf("%v, %v after %d requests; want nothing after none", list, err, c.queries)
	}
	if list, err := db.List(t.Context(), s.byPrice(), in); err != nil || len(list) != 0 || c.queries != 0 {
		t.Errorf("%v, %v after %d requests; want nothing after none", list, err, c.queries)
	}
}

// TestPrefixes tests that a prefix returns the values that begin with it, both folded.
func TestPrefixes(t *testing.T) {
	s := newStore(t)
	products := someProducts()
	s.put(s.product, products...)
	prefixes := slices.Concat(names(), []string{"c", "CAF", "caf ", " Caf\u0065\u0301", "cafe n", "#", "a#p-05", "x", strings.Repeat("long", 300)})
	for _, prefix := range prefixes {
		want := matching(products, func(v table.Values) bool {
			return strings.HasPrefix(folded(plainText(v["name"])), foldedPrefix(prefix))
		}, by("productId"))
		for _, cut := range []string{"", "|first(2)"} {
			r := s.byName()
			if cut != "" { // as if the index contained no more of the name
				r.SK[0].Next = template("{name|fold" + cut + "}")[0]
			}
			got, err := s.db.List(t.Context(), r, given("name", prefix))
			if err != nil {
				t.Fatal(err)
			}
			slices.SortFunc(got, by("productId"))
			if !cmp.Equal(ids(got, "name"), ids(want, "name")) {
				t.Errorf("%q%s:\n%q; want\n%q", prefix, cut, ids(got, "name"), ids(want, "name"))
			}
		}
	}
	all, err := s.db.List(t.Context(), s.byName(), table.Input{})
	if err != nil || len(all) != len(products) {
		t.Errorf("%d products without a prefix, %v; want all %d", len(all), err, len(products))
	}
}

func foldedPrefix(prefix string) string { return folded(strings.ReplaceAll(prefix, "e\u0301", "é")) }

// TestInputs tests that missing values and those of the wrong type are rejected before any request.
func TestInputs(t *testing.T) {
	s := newStore(t)
	c := &client{Client: s.client}
	db := s.open(c, table.Config{CursorKey: cursorKey(1)})
	turned := given("userId", "u-1")
	turned.From = text("2024-01-01")
	numeric := given("category", "x")
	numeric.To = text("12")
	prefix := table.Input{Values: table.Values{"name": number(1)}}
	for _, bad := range []struct {
		read  *table.Read
		in    table.Input
		field string
	}{
		{s.ordersOf(), table.Input{}, "userId"},
		{s.ordersOf(), given("userId", "a#b"), "userId"},
		{s.ordersOf(), turned, "createdAt"},
		{s.byPrice(), numeric, "price"},
		{s.byName(), prefix, "name"},
		{s.byTotal(), given("region", "north", "status", "lost"), "status"},
	} {
		for what, err := range map[string]error{
			"Page": second(db.Page(t.Context(), bad.read, bad.in, table.PageOptions{})), "List": second(db.List(t.Context(), bad.read, bad.in)),
		} {
			if found, is := errors.AsType[*table.ValueError](err); !is || found.Field != bad.field {
				t.Errorf("%s of %s: %v; want a *ValueError of %s", what, bad.read.Pattern, err, bad.field)
			}
		}
	}
	if _, err := db.Get(t.Context(), s.orderByID(), given("orderId", "o-1")); !isValueError(err, "userId") {
		t.Errorf("Get without the owner: %v; want a *ValueError of userId", err)
	}
	if c.queries+c.gets > 0 {
		t.Errorf("%d requests were sent", c.queries+c.gets)
	}
}

func isValueError(err error, field string) bool {
	found, is := errors.AsType[*table.ValueError](err)
	return is && found.Field == field
}

func second[T any](_ T, err error) error { return err }
