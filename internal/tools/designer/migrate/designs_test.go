package migrate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/migrate"
)

// base is the design from which all migrations of these tests start.
const base = `
design: 1
name: Shop
tables:
  shop:
    key: { pk: PK, sk: SK }
    type_attr: type
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
entities:
  Order:
    key: { pk: "ORDER#{orderId}", sk: META }
    copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{orderId}", fields: [total, status] } }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{orderId}" } }
    unique: { Number: { pk: "NUMBER#{number}", sk: UNIQUE } }
    fields: { orderId: id, userId: id, number: id, status: id, total: int, note: text }
    volume: { count: 180, size: 250 }
reads:
  OrderOf: { one: Order, by: [orderId], consistent: true }
  OrdersOf: { many: Order, by: [userId], page: 20 }
  OrdersIn: { many: Order, by: [status], page: 20 }
writes:
  Place: { do: [ { create: Order, set: { total: "0" } } ] }
  Move: { params: { to: id }, do: [ { update: Order, set: { status: ":to" }, add: { total: 1 } } ] }
  Renumber: { params: { to: id }, do: [ { update: Order, set: { number: ":to" } } ] }
  Drop: { do: [ { delete: Order } ] }
`

const indexes = "      GSI1: { pk: GSI1PK, sk: GSI1SK }\n"

// Alternative entries of an order, and the changes that add some to the base.
const (
	first  = `{ name: first, where: status = 's0', pk: "FIRST#{userId}", sk: "{orderId}", share: 0.3333 }`
	second = `{ name: second, where: status = 's1', pk: "SECOND#{userId}", sk: "{number}", share: 0.3333 }`
)

func byTurns(entries ...string) [][2]string {
	return [][2]string{
		{indexes, indexes + "      GSI2: { pk: GSI2PK, sk: GSI2SK }\n"},
		{`"{orderId}" } }`, `"{orderId}" }, GSI2: [` + strings.Join(entries, ", ") + `] }`},
	}
}

// migrations are the changes of designs in these tests.
func migrations() map[string]struct {
	start [][2]string // changes to the base before the migration
	edits [][2]string
	fills []string
	makes []string
} {
	type m = struct {
		start [][2]string
		edits [][2]string
		fills []string
		makes []string
	}
	const byUser = `copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{orderId}", fields: [total, status] } }`
	const unique = `unique: { Number: { pk: "NUMBER#{number}", sk: UNIQUE } }`
	const key = `key: { pk: "ORDER#{orderId}", sk: META }`
	return map[string]m{
		"index of attributes": {edits: [][2]string{
			{indexes, indexes + "      byNumber: { pk: number, sk: orderId }\n"}, {`"{orderId}" } }`, `"{orderId}" }, byNumber: {} }`},
		}},
		"composed entry": {edits: [][2]string{
			{indexes, indexes + "      GSI2: { pk: GSI2PK, sk: GSI2SK, project: [total] }\n"},
			{`"{orderId}" } }`, `"{orderId}" }, GSI2: { pk: "U#{userId}", sk: "{status}#{orderId}", where: "status <> 's0'", share: 0.6667 } }`},
		}},
		"entry moved to another index": {edits: [][2]string{
			{indexes, "      GSI2: { pk: GSI2PK, sk: GSI2SK }\n"}, {`GSI1: { pk: "STATUS#{status}"`, `GSI2: { pk: "S#{status}"`},
		}},
		"entries by turns":             {edits: byTurns(first, second)},
		"entry of another state":       {start: byTurns(first), edits: [][2]string{{first, first + ", " + second}}},
		"entry of a state gone":        {start: byTurns(first, second), edits: [][2]string{{first + ", ", ""}}},
		"entry of a state for another": {start: byTurns(first), edits: [][2]string{{first, second}}},
		"required fields": {
			edits: [][2]string{{"note: text }", "note: text, gift: bool, remark: { type: text, at: more.remark } }"}},
			fills: []string{"Order.gift=false", "Order.remark=note"},
		},
		"entity made of another": {
			edits: [][2]string{
				{indexes, indexes + "      GSI2: { pk: GSI2PK, sk: GSI2SK }\n"},
				{"reads:\n", "  Parcel:\n    key: { pk: \"ORDER#{orderId}\", sk: \"PARCEL#{parcelId}\" }\n    index: { GSI2: { pk: \"{kind}\", sk: \"{orderId}\" } }\n" +
					"    fields: { orderId: id, parcelId: id, kind: id, label: text, note: text? }\n    volume: { per: Order, typical: 1, max: 9, size: 250 }\nreads:\n"},
			},
			makes: []string{"Parcel=Order"}, fills: []string{"Parcel.parcelId='first'", "Parcel.kind='letter'", "Parcel.label=note"},
		},
		"copies": {edits: [][2]string{
			{byUser, `copies: { byUser: { pk: "BUYER#{userId}", sk: "ORDER#{orderId}", fields: all }, byStatus: { pk: "IN#{status}", sk: "{orderId}", fields: [total] } }`},
		}},
		"copy of more": {edits: [][2]string{{`fields: [total, status]`, `fields: [total, status, note]`}}},
		"copy of less": {edits: [][2]string{{`fields: [total, status]`, `fields: [total]`}}},
		"markers": {edits: [][2]string{
			{unique, `unique: { Number: { pk: "N#{number}", sk: UNIQUE }, PerUser: { pk: "USER#{userId}", sk: "NUMBER#{number}" } }`},
		}},
		"entity gone": {
			start: [][2]string{{"reads:\n", "  Cart:\n    key: { pk: \"CART#{cartId}\", sk: META }\n    unique: { User: { pk: \"CARTOF#{userId}\", sk: UNIQUE } }\n" +
				"    fields: { cartId: id, userId: id }\n    volume: { count: 5, size: 100 }\nreads:\n"}},
			edits: [][2]string{{"  Cart:\n    key: { pk: \"CART#{cartId}\", sk: META }\n    unique: { User: { pk: \"CARTOF#{userId}\", sk: UNIQUE } }\n" +
				"    fields: { cartId: id, userId: id }\n    volume: { count: 5, size: 100 }\n", ""}},
		},
		"marker gone": {edits: [][2]string{{"    " + unique + "\n", ""}}},
		"key": {edits: [][2]string{
			{key, `key: { pk: "O#{orderId}", sk: "ORDER" }`},
		}},
		"key of other fields": {start: [][2]string{{"    " + unique + "\n", ""}}, edits: [][2]string{
			{key, `key: { pk: "BUYER#{userId}", sk: "ORDER#{orderId}" }`},
			{"{ one: Order, by: [orderId]", "{ one: Order, by: [userId, orderId]"},
		}},
		"all at once": {
			edits: [][2]string{
				{key, `key: { pk: "O#{orderId}", sk: ORDER }`},
				{byUser, `copies: { ofUser: { pk: "BUYER#{userId}", sk: "ORDER#{orderId}", fields: [status] } }`},
				{unique, `unique: { Number: { pk: "N#{number}", sk: UNIQUE } }`},
				{indexes, "      GSI2: { pk: GSI2PK, sk: GSI2SK }\n"},
				{`GSI1: { pk: "STATUS#{status}"`, `GSI2: { pk: "S#{status}"`},
				{", note: text }", ", gift: id }"},
			},
			fills: []string{"Order.gift='none'"},
		},
	}
}

func edited(t *testing.T, text string, edits ...[2]string) *design.Design {
	t.Helper()
	for _, e := range edits {
		if !strings.Contains(text, e[0]) {
			t.Fatalf("the design has no %q", e[0])
		}
		text = strings.Replace(text, e[0], e[1], 1)
	}
	d, err := design.Parse("shop.design.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// planned is the plan of a migration of these tests; it must have no refusals.
func planned(t *testing.T, name string) *migrate.Plan {
	t.Helper()
	m := migrations()[name]
	p, err := migrate.New(edited(t, base, m.start...), edited(t, base, slices.Concat(m.start, m.edits)...), migrate.Options{Fills: m.fills, Makes: m.makes, Units: 500})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range p.Refusals {
		t.Errorf("%s: %s (%s)", r.Subject, r.Problem, r.Remedy)
	}
	if t.Failed() {
		t.FailNow()
	}
	return p
}
