package diff_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/internal/tools/designer/diff"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
)

const named = `
design: 1
name: Shop
person: userId
tables:
  shop:
    name: shop-{stage}
    key: { pk: PK, sk: SK }
    type_attr: type
    ttl_attr: until
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK, project: [total] }
types:
  Status: { enum: [open, paid] }
  Address: { fields: { city: text, street: "text?" } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: USER }
    counters: { orders: { count: Order, where: "status = 'open' AND address.city <> 'status'" }, spent: { sum: Order.total } }
    fields: { userId: id, orders: int, spent: int }
    volume: { count: 10, size: 100 }
  Order:
    key: { pk: "ORDER#{orderId}", sk: META }
    copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{orderId}", fields: [orderId, total, status] } }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{orderId}", where: "status = 'open'" } }
    unique: { Number: { pk: "NUMBER#{number|pad(9)}", sk: UNIQUE } }
    fields: { orderId: ulid, userId: id, number: int, status: Status, total: int, address: Address, until: "ttl?" }
    ttl: { attr: until }
    personal: { userId: { keep: "The law says so." } }
    volume: { per: User, typical: 3, max: 100, size: 1000 }
reads:
  OrdersByStatus: { many: Order, by: [status], order: [orderId desc], page: 20 }
`

// TestNames tests designs with other names for what is stored alike: nothing is written, and migrate accepts them without a
// step that writes. Programs must be compiled again.
func TestNames(t *testing.T) {
	const typed = "  Order:\n    type: ORDER\n"
	for name, test := range map[string]struct {
		edits []string // old, new, old, new
		want  []string
	}{
		"table": {[]string{"  shop:\n", "  depot:\n"}, []string{"breaking shop"}},
		"field in keys": {
			[]string{"{status}", "{state}", "status = 'open'", "state = 'open'", "total, status]", "total, state]", "status: Status", "state: { type: Status, attr: status }", "by: [status]", "by: [state]"},
			[]string{"breaking Order.status", "breaking OrdersByStatus", "free Order.state"},
		},
		"field in the order of a read": {
			[]string{"{orderId}", "{id}", "[orderId, ", "[id, ", "fields: { orderId: ulid", "fields: { id: { type: ulid, attr: orderId }", "[orderId desc]", "[id desc]"},
			[]string{"breaking Order.orderId", "free Order.id"},
		},
		"projected and summed field": {
			[]string{"[total]", "[amount]", "Order.total", "Order.amount", "[orderId, total", "[orderId, amount", "total: int", "amount: { type: int, attr: total }"},
			[]string{"breaking Order.total", "free Order.amount"},
		},
		"counter":     {[]string{"orders: { count", "open: { count", "orders: int", "open: { type: int, attr: orders }"}, []string{"breaking User.orders", "free User.open"}},
		"expiry":      {[]string{"until: \"ttl?\"", "ends: { type: \"ttl?\", attr: until }", "attr: until }\n", "attr: ends }\n"}, []string{"breaking Order.until", "free Order.ends"}},
		"reference":   {[]string{"ORDER#{orderId}\", fields", "ORDER#{orderId}\", fields", "USER#{userId}\", sk: \"O", "USER#{buyer}\", sk: \"O", "orderId: ulid, userId: id", "orderId: ulid, buyer: { type: id, attr: userId }", "personal: { userId", "personal: { buyer", "    ttl:", "    refs: { buyer: User.userId }\n    ttl:"}, []string{"breaking Order.userId", "free Order.buyer"}},
		"entity":      {[]string{typed[:9], "  Purchase:\n    type: ORDER\n", "count: Order", "count: Purchase", "Order.total", "Purchase.total", "many: Order", "many: Purchase"}, []string{"breaking Order", "breaking OrdersByStatus"}},
		"enumeration": {[]string{"  Status: {", "  State: {", "status: Status", "status: State"}, []string{"breaking Status"}},
		"structure":   {[]string{"  Address: {", "  Place: {", "address: Address", "address: Place"}, []string{"breaking Address"}},
		"inside":      {[]string{"city: text", "town: { type: text, attr: city }", "address.city", "address.town"}, []string{"breaking Address.city", "free Address.town"}},
		"copy":        {[]string{"byUser:", "ofUser:"}, []string{"free Order.ofUser"}},
		"marker":      {[]string{"{ Number:", "{ No:"}, []string{"breaking Order.Number"}},
		"swapped":     {[]string{"total: int", "total: { type: int, attr: number }", "number: int", "number: { type: int, attr: total }", "{number|", "{total|", "[total]", "[number]", "Order.total", "Order.number", "[orderId, total", "[orderId, number"}, []string{"breaking Order.number", "breaking Order.total", "free Order.number", "free Order.total"}},
		"another meaning": {
			[]string{"[total]", "[amount]", "Order.total", "Order.amount", "[orderId, total", "[orderId, amount", "total: int", "amount: { type: int, attr: total }, total: { type: \"int?\", attr: sum }"},
			[]string{"breaking Order.total", "free Order.amount", "free Order.total"},
		},
		"all together": {[]string{"  shop:\n", "  depot:\n", "byUser:", "ofUser:", typed[:9], "  Purchase:\n    type: ORDER\n", "count: Order", "count: Purchase", "Order.total", "Purchase.amount", "many: Order", "many: Purchase", "[total]", "[amount]", "[orderId, total", "[orderId, amount", "total: int", "amount: { type: int, attr: total }"}, []string{"breaking shop", "breaking Order", "breaking Purchase.total", "breaking OrdersByStatus", "free Purchase.ofUser", "free Purchase.amount"}},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := parse(t, named), parse(t, replaced(t, named, test.edits))
			var got []string
			for _, c := range diff.Designs(before, after) {
				got = append(got, string(c.Class)+" "+c.Subject)
				if c.WriteUnits > 0 {
					t.Errorf("%s: %s", c.Subject, c.Message)
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if d := cmp.Diff(test.want, slices.Compact(got)); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
			p, err := migrate.New(before, after, migrate.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range p.Refusals {
				t.Errorf("refused: %s: %s", r.Subject, r.Problem)
			}
			for _, s := range p.Steps {
				if s.Kind != migrate.Deploy && s.Kind != migrate.Verify {
					t.Errorf("step %s: %v", s.Kind, s.Details)
				}
			}
		})
	}
}

func replaced(t *testing.T, text string, edits []string) string {
	t.Helper()
	for i := 0; i < len(edits); i += 2 {
		if !strings.Contains(text, edits[i]) {
			t.Fatalf("the design has no %q", edits[i])
		}
		text = strings.ReplaceAll(text, edits[i], edits[i+1])
	}
	return text
}

// TestNamesWithoutTypes tests an entity with another name in a table without a type attribute, where its key tells what it is,
// and the projected fields in another order.
func TestNamesWithoutTypes(t *testing.T) {
	before := replaced(t, named, []string{"    type_attr: type\n", "", "[total]", "[total, number]"})
	after := replaced(t, before, []string{"  Order:\n", "  Purchase:\n", "count: Order", "count: Purchase", "Order.total", "Purchase.total", "many: Order", "many: Purchase", "[total, number]", "[number, total]"})
	for _, c := range diff.Designs(parse(t, before), parse(t, after)) {
		if c.Subject != "Order" && c.Subject != "OrdersByStatus" {
			t.Errorf("%s: %s", c.Subject, c.Message)
		}
	}
	p, err := migrate.New(parse(t, before), parse(t, after), migrate.Options{})
	if err != nil || len(p.Refusals) > 0 || p.DualWrites != nil || p.NewReads != nil {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestNamesInPatterns tests that patterns which do the same under other names are not reported, and others are.
func TestNamesInPatterns(t *testing.T) {
	const patterns = `  Paid: { many: Order, via: byUser, by: [userId], filter: "status = 'paid' AND total > :least", returns: [orderId, status], page: 9 }
writes:
  Pay:
    params: { least: int, place: text }
    do:
      - update: Order
        set: { status: "'paid'", total: total + 1 + number, address.city: ":place" }
        remove: [until]
        when: "status = 'open' AND address.city <> 'status'"
        else: { Cheap: "total < :least", Refused: "*" }
  Note: { do: [{ update: Order, patch: [address] }] }
`
	renamed := []string{
		"{status}", "{state}", "status = 'open'", "state = 'open'", "total, status]", "total, state]", "status: Status", "state: { type: Status, attr: status }", "by: [status]", "by: [state]",
		"status = 'paid'", "state = 'paid'", "returns: [orderId, status]", "returns: [orderId, state]", "{ status: \"'paid'\"", "{ state: \"'paid'\"",
		"[total]", "[sum]", "Order.total", "Order.sum", "[orderId, total", "[orderId, sum", "total: int", "sum: { type: int, attr: total }", "total: total + 1", "sum: sum + 1", "total < ", "sum < ", "total > ", "sum > ",
		"city: text", "town: { type: text, attr: city }", "address.city", "address.town",
		"byUser", "ofUser",
	}
	for name, test := range map[string]struct {
		edits []string
		want  []string // of the patterns
	}{
		"the same": {nil, []string{"breaking OrdersByStatus"}}, // its parameter has another name
		"another filter and value": {
			[]string{"sum > :least", "sum >= :least", "sum + 1", "sum + 2", "via: ofUser, by: [userId], f", "by: [userId], f"},
			[]string{"breaking OrdersByStatus", "free Paid", "free Pay"},
		},
		"another error": {[]string{"sum < ", "sum <= "}, []string{"breaking OrdersByStatus", "free Pay"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := parse(t, named+patterns)
			after := parse(t, replaced(t, replaced(t, named+patterns, renamed), test.edits))
			var got []string
			for _, c := range diff.Designs(before, after) {
				if after.Read(c.Subject) != nil || after.Write(c.Subject) != nil {
					got = append(got, string(c.Class)+" "+c.Subject)
				}
			}
			slices.Sort(got)
			slices.Sort(test.want)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
