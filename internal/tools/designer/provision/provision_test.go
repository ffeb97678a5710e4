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

// shop has what the forms differ in: two tables, a placeholder, a local, a multi-attribute and an included index, a stream,
// TTL, provisioned capacity, a tenant.
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
		"iam":            func(b *bytes.Buffer) error { return provision.WriteIAM(b, d, dev, "${aws:PrincipalTag/shopId}") },
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
