package provision_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

// shop has everything in which the forms differ: two tables, a placeholder, a local index, a multi-attribute index, an INCLUDE
// projection, a stream, TTL, provisioned capacity, a tenant.
const shop = `design: 1
name: Shop
tenant: shopId
tables:
  shop:
    name: "shop-{stage}"
    key: { pk: PK, sk: SK }
    type_attr: type
    ttl_attr: expires_at
    naming: snake_case
    billing: provisioned
    stream: NEW_IMAGE
    indexes:
      byStatus: { pk: [shop_id, status], sk: ["created_at", "total:N"], project: [total, createdAt] }
      byTotal: { local: true, sk: "total:N", project: keys }
  counters:
    key: { pk: "id:N" }
types:
  Status: { enum: [open, paid] }
entities:
  Order:
    table: shop
    key: { pk: "SHOP#{shopId}", sk: "ORDER#{orderId}" }
    index: { byStatus: {}, byTotal: {} }
    fields: { shopId: id, orderId: ulid, status: Status, total: money, createdAt: time, expiresAt: "ttl?" }
    ttl: { attr: expiresAt }
    volume: { count: 1000, size: 900 }
  Member:
    table: shop
    key: { pk: "SHOP#{shopId}", sk: "MEMBER#{memberId}" }
    unique: { Email: { pk: "EMAIL#{email|lower}", sk: UNIQUE } }
    fields: { shopId: id, memberId: id, email: email, name: text }
  Number:
    table: counters
    key: { pk: "{id}" }
    fields: { id: int, value: int }
reads:
  OrderOf: { one: Order, by: [shopId, orderId], rate: 70 }
  OpenOrders: { many: Order, via: byStatus, by: [shopId, status], order: [createdAt desc], page: 20 }
  NumberOf: { one: Number, by: [id] }
  MemberOf: { one: Member, by: [email] } # the marker, then the item, by the request that several would take
writes:
  Pay:
    do:
      - { update: Order, set: { status: "'paid'" }, when: "status = 'open'", else: NotOpen }
    rate: 7
  Number: { lines: {}, batch: true, do: [{ each: lines, put: Number }] }
`

func TestForms(t *testing.T) {
	d, err := design.Parse("shop.design.yaml", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	open := provision.Specs(d, nil)
	dev := provision.Specs(d, map[string]string{"stage": "dev"})
	for name, write := range map[string]func(*bytes.Buffer) error{
		"createtable":    func(b *bytes.Buffer) error { return provision.WriteCreateTable(b, &dev[0]) },
		"timetolive":     func(b *bytes.Buffer) error { return provision.WriteTimeToLive(b, &dev[0]) },
		"cloudformation": func(b *bytes.Buffer) error { return provision.WriteCloudFormation(b, d.Name, open, false) },
		"sam":            func(b *bytes.Buffer) error { return provision.WriteCloudFormation(b, d.Name, open, true) },
		"terraform":      func(b *bytes.Buffer) error { return provision.WriteTerraform(b, open) },
		"iam": func(b *bytes.Buffer) error {
			return provision.WriteIAM(b, d, provision.IAM{Specs: dev, Variable: "${aws:PrincipalTag/shopId}"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			if !json.Valid(out.Bytes()) {
				t.Fatalf("no JSON: %s", out.String())
			}
			golden(t, name+".json", out.String())
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got); -rewrite writes it anew:\n%s", file, diff)
	}
}

// TestIdentifiers tests that each table and placeholder has an identifier of its own, however similar their names are.
func TestIdentifiers(t *testing.T) {
	d, err := design.Parse("names.design.yaml", []byte(`design: 1
name: Names
tables:
  orders-v2: { key: { pk: pk }, ttl_attr: "%{x}", indexes: { Inverted: { pk: sk, project: [note] } } }
  orders_v2: { key: { pk: pk } }
  2024-orders: { key: { pk: pk } }
  first: { name: "{stage}-{app}", key: { pk: pk } }
  second: { name: "{stage}.{App}-{OrdersV2Table}", key: { pk: pk } }
  third: { name: "{version}-{count}-{version2}", key: { pk: pk } }
entities:
  A: { table: orders-v2, key: { pk: "{a}" }, fields: { a: id, note: { type: text, attr: "${note}" } } }
`))
	if err != nil {
		t.Fatal(err)
	}
	specs := provision.Specs(d, nil)
	for name, c := range map[string]struct {
		write func(*bytes.Buffer) error
		want  []string
	}{
		"cloudformation": {
			func(b *bytes.Buffer) error { return provision.WriteCloudFormation(b, d.Name, specs, false) },
			[]string{`"OrdersV2Table2": {`, `"OrdersV2Table3": {`, `"Table2": {`, `"${Stage}-${App}"`, `"${Stage}.${App2}-${OrdersV2Table}"`},
		},
		"terraform": {
			func(b *bytes.Buffer) error { return provision.WriteTerraform(b, specs) },
			[]string{`"ordersv2": {`, `"ordersv22": {`, `"table2024orders": {`, `"table": {`, `"table2": {`, `"$${note}"`, `"%%{x}"`, `"${var.version2}-${var.count2}-${var.version22}"`, `"version2": {`},
		},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if strings.Count(out.String(), want) != 1 {
				t.Errorf("%s has not one %s:\n%s", name, want, &out)
			}
		}
	}
}

// TestCapacity tests that a table has capacity for reads, collections and writes.
func TestCapacity(t *testing.T) {
	d, err := design.Parse("users.design.yaml", []byte(`
design: 1
name: Users
tables: { users: { key: { pk: PK, sk: SK }, billing: provisioned } }
entities:
  User: { key: { pk: "USER#{userId}", sk: USER }, fields: { userId: id }, volume: { size: 900 } }
  Order: { key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }, fields: { userId: id, orderId: ulid }, volume: { per: User, typical: 7, size: 900 } }
reads: { UserOf: { one: User, by: [userId], rate: 14 } }
collections: { Whole: { of: [User, Order], by: [userId], rate: 70 } }
writes: { Register: { do: [{ create: User }], rate: 7 } }
`))
	if err != nil {
		t.Fatal(err)
	}
	// A collection has 8 items of 900 bytes: 7.2 KB, a read unit. A read is half of one, a write is one.
	if got, want := provision.Specs(d, nil)[0].Capacity, (provision.Capacity{Read: 110, Write: 10}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestPlaceholders(t *testing.T) {
	d, err := design.Parse("shop.design.yaml", []byte(strings.Replace(shop, "shop-{stage}", "{org}-shop-{stage}", 1)))
	if err != nil {
		t.Fatal(err)
	}
	s := provision.Specs(d, map[string]string{"stage": "dev"})[0]
	if s.Name != "{org}-shop-dev" || len(s.Placeholders) != 1 || s.Placeholders[0] != "org" {
		t.Errorf("got %q with placeholders %v", s.Name, s.Placeholders)
	}
}

// TestLeadingKeysOfOthers tests that changes to another tenant's items, by a step that says so or by a counter of a referenced
// item, are not restricted to the caller's own keys.
func TestLeadingKeysOfOthers(t *testing.T) {
	d, err := design.Parse("gifts", []byte(`
design: 1
name: Gifts
tenant: userId
tables: { Gifts: { key: { pk: PK, sk: SK } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: USER }
    counters: { given: { count: Gift, by: fromId }, taken: { count: Gift, by: toId } }
    fields: { userId: id, given: int, taken: int, name: text, thanks: int }
  Gift:
    key: { pk: "USER#{userId}", sk: "GIFT#{giftId}" }
    fields: { userId: id, giftId: ulid, fromId: id, toId: id }
    refs: { fromId: User.userId, toId: User.userId }
  Note: { key: { pk: "USER#{userId}", sk: "NOTE#{noteId}" }, fields: { userId: id, noteId: ulid } }
writes:
  Rename: { do: [{ update: User, set: { name: ":name" } }] }
  Own: { do: [{ update: User, by: { userId: ":userId" }, set: { name: ":name" } }, { create: Note }] }
  Give: { do: [{ create: Gift }] }
  Thank: { do: [{ update: User, by: { userId: ":giver" }, add: { thanks: 1 } }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := provision.WriteIAM(&text, d, provision.IAM{Specs: provision.Specs(d, nil), Variable: "${aws:PrincipalTag/userId}"}); err != nil {
		t.Fatal(err)
	}
	var policies map[string]struct{ Statement []map[string]any }
	if err := json.Unmarshal(text.Bytes(), &policies); err != nil {
		t.Fatal(err)
	}
	for name, bound := range map[string]bool{"Rename": true, "Own": true, "Give": false, "Thank": false} {
		statements, err := json.Marshal(policies[name].Statement)
		if err != nil {
			t.Fatal(err)
		}
		if got := !strings.Contains(string(statements), `"USER#*"`); got != bound {
			t.Errorf("%s: bound to the caller's keys: %v; want %v: %s", name, got, bound, statements)
		}
	}
}
