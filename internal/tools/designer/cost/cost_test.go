package cost_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// units is the cost of one call of a pattern.
func units(t *testing.T, d *design.Design, name string) float64 {
	t.Helper()
	if r := d.Read(name); r != nil {
		return cost.OfRead(d, plan.ForRead(d, r)).Units
	}
	if c := d.Collection(name); c != nil {
		return cost.OfCollection(d, plan.ForCollection(d, c)).Units
	}
	w := d.Write(name)
	if w == nil {
		t.Fatalf("there is no pattern %s", name)
	}
	return cost.OfWrite(plan.ForWrite(d, w)).Units()
}

// TestSystems prices patterns of five systems. The numbers are worked out by hand from the sizes that the designs declare and
// AWS's rules: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
func TestSystems(t *testing.T) {
	const drafts, documented = "design/testdata/drafts/", "internal/tools/designer/check/testdata/designs/"
	for _, c := range []struct {
		file, pattern string
		want          float64
		how           string
	}{
		{drafts + "appcore", "CreateTransaction", 7, "3 items of at most 1 KB, ×2; one entry"},
		{drafts + "appcore.documented", "CreateTransaction", 8, "3 items, ×2; two entries"},
		{drafts + "appcore", "SettleTransaction", 7, "transaction, copy and notification, ×2; the entry shows the status"},
		{drafts + "appcore", "MarkNotificationRead", 1, "one item, no transaction"},
		{drafts + "appcore", "LatestTransactions", 5, "10 shards, half a unit each"},
		{drafts + "appcore.documented", "LatestTransactions", 0.5, "10 × 250 bytes in one partition"},
		{drafts + "appcore", "UserTransactions", 2, "20 × 250 = 5,000 bytes, strong"},
		{drafts + "appcore", "TransactionByID", 1, "250 bytes, strong"},
		{drafts + "appcore", "UserNotifications", 1, "20 × 300 = 6,000 bytes, eventual"},
		{drafts + "catfecito", "PlaceOrder", 27, "record, order, copy: 6; each of 3 lines: item 2, cart 2 and its entry 1, product 2"},
		{drafts + "catfecito.documented", "PlaceOrder", 32, "order 2, user order 2 and its entry 1; each of 3 lines: item 2, cart 2 + 1, product 2 and two entries with all of it"},
		{drafts + "catfecito", "AddToCart", 2, "item and entry"},
		{drafts + "catfecito", "SetOrderStatus", 4, "order and copy, ×2"},
		{drafts + "catfecito", "RegisterUser", 6, "user, marker, credential, ×2"},
		{drafts + "catfecito", "OrderWithItems", 0.5, "200 + 3 × 200 bytes"},
		{drafts + "catfecito", "Cart", 1, "3 × 150 bytes, strong"},
		{drafts + "catfecito.documented", "ActiveProducts", 39718, "a Scan reads all 325 MB of the table for 400 × 900 bytes, halved"},
		{drafts + "portfolio", "LikePost", 9, "like 2 and its entry 1; a post of 3,000 bytes is 3 units, ×2"},
		{drafts + "portfolio", "PublishPost", 9, "3 units; entries of about half of its bytes, 2 units: one moved, one added"},
		{drafts + "portfolio", "PostWithComments", 1, "3,000 + 10 × 500 = 8,000 bytes are 2 × 4 KB, halved"},
		{drafts + "transporteapp", "AsignarConductor", 10, "1,800 bytes: 2 units ×2; 1,200 bytes: 2 units ×2; one entry moved: 2"},
		{drafts + "transporteapp", "Ruta", 7, "500 × 110 = 55,000 bytes are 14 × 4 KB, halved"},
		{documented + "transporteapp.documented", "RegistrarPosicion", 8, "3,500 bytes: 4; an entry with all of it: 4"},
		{documented + "trinity.documented", "RoomByID", 3, "21,500 bytes are 6 × 4 KB, halved"},
		{documented + "trinity.documented", "CreateRoom", 42, "21,500 bytes: 21; the entry has all of it"},
		{drafts + "trinity", "CastVote", 4, "two items, ×2"},
		{drafts + "trinity", "RoomByID", 0.5, "300 bytes"},
	} {
		d, err := design.Load(filepath.Join("../../../..", c.file+".design.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		if got := units(t, d, c.pattern); got != c.want {
			t.Errorf("%s %s: %g units, want %g: %s", d.Name, c.pattern, got, c.want, c.how)
		}
	}
}

// sized is a design with items of a given size, read and written in every way.
const sized = `
design: 1
name: Sized
tables:
  Things:
    key: { pk: PK, sk: SK }
    indexes:
      All: { pk: GSI1PK, sk: GSI1SK, project: all }
      Keys: { pk: GSI2PK, sk: GSI2SK, project: keys }
entities:
  Owner:
    key: { pk: "O#{owner}", sk: OWNER }
    fields: { owner: id }
    volume: { count: 10, size: 100 }
  Thing:
    key: { pk: "O#{owner}", sk: "T#{id}" }
    index:
      All: { pk: "K#{kind|shard(3)}", sk: "{id}" }
      Keys: { pk: "N#{name}", sk: "{id}" }
    fields: { owner: id, id: ulid, kind: id, name: text, other: text, n: int }
    volume: { per: Owner, typical: %d, size: %d }
reads:
  One: { one: Thing, by: [owner, id] }
  OneStrong: { one: Thing, by: [owner, id], consistent: true }
  Page: { many: Thing, by: [owner], page: 8 }
  Limit: { many: Thing, by: [owner], limit: 8 }
  Shards: { many: Thing, via: All, limit: 8 }
  Hydrated: { many: Thing, via: Keys, by: [name], limit: 4, returns: [other] }
  Scanned: { many: Thing, via: key, by: [n], page: 5 }
collections:
  Together: { of: [Owner, Thing], by: [owner], root: Owner }
writes:
  Create: { do: [{ create: Thing }] }
  Other: { do: [{ update: Thing, set: { other: ":other" } }] }
  Kind: { do: [{ update: Thing, set: { kind: ":kind" } }] }
  Delete: { do: [{ delete: Thing }] }
  Guarded: { do: [{ update: Thing, set: { other: ":other" } }, { check: Owner, when: "attribute_exists(owner)" }] }
  Many: { lines: { max: 9, typical: 4 }, do: [{ each: lines, update: Thing, add: { n: "1" } }] }
`

// TestRounding tests the rounding rules at their boundaries.
func TestRounding(t *testing.T) {
	for _, c := range []struct {
		typical, size int
		pattern       string
		want          float64
	}{
		{10, 1024, "One", 0.5},
		{10, 4096, "One", 0.5},
		{10, 4097, "One", 1},
		{10, 4097, "OneStrong", 2},
		{10, 512, "Page", 0.5},   // 8 × 512 is 4 KB: the sum is rounded
		{10, 513, "Page", 1},     // one byte more
		{2, 2048, "Page", 0.5},   // only two exist
		{2, 2048, "Limit", 2},    // a limit is assumed to be reached
		{10, 512, "Shards", 1.5}, // each shard is asked for the full limit
		{10, 400, "Hydrated", 2.5},
		{10, 4097, "Hydrated", 4.5}, // 4 items of two units each, and the entries
		{10, 1000, "Scanned", 12.5}, // 100 items of 1,000 bytes
		{4, 1024, "Scanned", 5.5},   // 40 items are 10 × 4 KB, and the scan also reads the owners
		{10, 400, "Together", 1},    // 100 + 10 × 400 bytes
		{9, 400, "Together", 0.5},
		{10, 1024, "Create", 3},
		{10, 1025, "Create", 5},  // the item 2, the entry with all fields 2, the keys-only entry 1
		{10, 1024, "Other", 2},   // the keys-only entry does not change
		{10, 2000, "Kind", 6},    // the item 2, the entry moves: 2 × 2
		{10, 1024, "Delete", 3},  //
		{10, 1024, "Guarded", 5}, // 2 and an entry, which is not doubled; the check costs 2
		{10, 1024, "Many", 12},   // 4 lines of 2 each, and an entry
	} {
		d, err := design.Parse("sized", fmt.Appendf(nil, sized, c.typical, c.size))
		if err != nil {
			t.Fatal(err)
		}
		if got := units(t, d, c.pattern); got != c.want {
			t.Errorf("%d items of %d bytes, %s: %g units, want %g", c.typical, c.size, c.pattern, got, c.want)
		}
	}
}

// TestUpserts tests that an upsert is priced as an update of an existing item: its entries follow the rules for updates, and
// the fields set by init are not written again. The upper bound is that of the first upsert, which adds every entry.
func TestUpserts(t *testing.T) {
	for _, c := range []struct {
		upsert            string
		want, least, most float64
		how               string
	}{
		{`add: { n: "1" }`, 2, 2, 3, "the item and the entry with all of it; at first the entry of keys, too"},
		{`add: { n: "1" }, init: { since: now() }`, 2, 2, 3, "since stays as it is, and so does its entry's key"},
		{`init: { since: now(), n: "0" }`, 1, 1, 3, "nothing of the entries changes"},
		{`set: { since: now() }`, 4, 3, 4, "the entry in All is updated, that in Keys moves, or is added at first"},
	} {
		d, err := design.Parse("usage", []byte(`
design: 1
name: Usage
tables:
  Usages:
    key: { pk: PK, sk: SK }
    indexes:
      All: { pk: GSI1PK, sk: GSI1SK, project: all }
      Keys: { pk: GSI2PK, sk: GSI2SK, project: keys }
entities:
  Usage:
    key: { pk: "U#{user}", sk: USAGE }
    index:
      All: { pk: USAGES, sk: "{user}" }
      Keys: { pk: SINCE, sk: "{since}" }
    fields: { user: id, n: int, since: time }
    volume: { count: 10, size: 300, max_size: 300 }
writes:
  Use: { do: [{ upsert: Usage, `+c.upsert+` }] }
`))
		if err != nil {
			t.Fatal(err)
		}
		w := cost.OfWrite(plan.ForWrite(d, d.Write("Use")))
		if w.Units() != c.want || w.Floor != c.least || w.Ceiling != c.most {
			t.Errorf("%s: %g units, from %g to %g, want %g, from %g to %g: %s", c.upsert, w.Units(), w.Floor, w.Ceiling, c.want, c.least, c.most, c.how)
		}
	}
}

// TestSparseIndexShare tests sparse indexes: the declared share of the items is stored in the index, and applied to writes that do not
// determine whether the item is in it.
func TestSparseIndexShare(t *testing.T) {
	const text = `
design: 1
name: Tickets
tables:
  Tickets:
    key: { pk: PK, sk: SK }
    indexes:
      Open: { pk: GSI1PK, sk: GSI1SK }
      Assigned: { pk: GSI2PK, sk: GSI2SK }
entities:
  Ticket:
    key: { pk: "T#{id}", sk: TICKET }
    index:
      Open: { pk: OPEN, sk: "{id}", where: "state = 'open'"%s }
      Assigned: { pk: "A#{assignee}", sk: "{id}" }
    fields: { id: id, state: id, assignee: "id?", text: text }
    volume: { count: 1000, size: 1000, max_size: 1000 }
writes:
  Import: { do: [{ create: Ticket }] }
  Open: { do: [{ create: Ticket, set: { state: "'open'" } }] }
  Close: { do: [{ update: Ticket, set: { state: "'closed'" } }] }
  Edit: { do: [{ update: Ticket, set: { text: ":text" } }] }
  Delete: { do: [{ delete: Ticket }] }
`
	for _, c := range []struct {
		share                                  string
		stored                                 float64
		imports, opens, closes, edits, deletes float64
	}{
		{"", 1000, 3, 3, 3, 3, 3},
		{", share: 0.1", 100, 2.1, 3, 3, 2.1, 2.1},    // opening or closing a ticket writes its entry
		{", share: 0.03", 30, 2.03, 3, 3, 2.03, 2.03}, // not 2.0300000000000002
	} {
		d, err := design.Parse("tickets", fmt.Appendf(nil, text, c.share))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"Import": c.imports, "Open": c.opens, "Close": c.closes, "Edit": c.edits, "Delete": c.deletes} {
			w := cost.OfWrite(plan.ForWrite(d, d.Write(name)))
			if w.Units() != want || w.Ceiling != 3 {
				t.Errorf("%q, %s: %g units, at most %g, want %g, at most 3", c.share, name, w.Units(), w.Ceiling, want)
			}
		}
		for _, s := range cost.OfMonth(d, cost.PriceLists()[0]).Storage {
			if s.Place == "Ticket.Open" && s.Items != c.stored {
				t.Errorf("%q: %g entries are stored, want %g", c.share, s.Items, c.stored)
			}
		}
	}
}

// TestItems tests volumes that are declared per item of another entity.
func TestItems(t *testing.T) {
	text, err := os.ReadFile("../../../../design/testdata/drafts/transporteapp.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.Parse("transporteapp", text)
	if err != nil {
		t.Fatal(err)
	}
	for entity, want := range map[string]float64{"User": 3000, "Viaje": 900_000, "Carta": 900_000, "Mercancia": 2_700_000} {
		if got := cost.Items(d, d.Entity(entity)); got != want {
			t.Errorf("%s: %g items, want %g", entity, got, want)
		}
	}
}

// TestPrices compares the default price list with AWS's of November 2024 for us-east-1:
// https://aws.amazon.com/about-aws/whats-new/2024/11/amazon-dynamo-db-reduces-prices-on-demand-throughput-global-tables/
func TestPrices(t *testing.T) {
	p := cost.PriceLists()[0]
	if p.Region != "us-east-1" || p.OnDemandRead != 0.125 || p.OnDemandWrite != 0.625 || p.Storage != 0.25 || p.FreeStorage != 25 {
		t.Errorf("%+v", p)
	}
}

// TestPriceList reads AWS's price list: the prices beyond the free tier count, not those of the other table class or of
// replicated writes. The file has the form that AWS documents for the Price List Bulk API, with figures of an invented Region.
func TestPriceList(t *testing.T) {
	got, err := cost.ReadPrices(filepath.Join("testdata", "price-list.json"), "mars-north-1")
	want := cost.Prices{
		Region: "mars-north-1", Since: "2031-01-01", OnDemandRead: 0.15, OnDemandWrite: 0.75, ProvisionedRead: 0.00015,
		ProvisionedWrite: 0.00075, Storage: 0.3, Recovery: 0.24, FreeStorage: 20,
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateApprox(1e-12, 0)); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if _, err := cost.ReadPrices(filepath.Join("testdata", "price-list.json"), "us-east-1"); err == nil {
		t.Error("a list with one price of six of a Region is taken")
	}
}

// TestMembership tests that an item is written to and stored in every index whose key attributes it has, declared or not. By
// AWS's prices, 100 writes per second of 3 KB are 3 units in the table and 3 in the index: 6 × 100 × 2,592,000 × $0.625 /
// 1,000,000.
func TestMembership(t *testing.T) {
	d, err := design.Parse("graph", []byte(`
design: 1
name: Graph
tables:
  Graph:
    key: { pk: PK, sk: SK }
    indexes:
      Inverted: { pk: SK, sk: PK }
entities:
  User:
    key: { pk: "USER#{userId}", sk: "USER#{userId}" }
    unique: { Name: { pk: "NAME#{name}", sk: UNIQUE } }
    fields: { userId: id, name: slug }
    volume: { count: 1000000, size: 3000 }
  Membership:
    key: { pk: "USER#{userId}", sk: "GROUP#{groupId}" }
    fields: { userId: id, groupId: id, role: text }
    volume: { per: User, typical: 100, size: 3000 }
writes:
  Join: { do: [{ create: Membership }], rate: 100 }
  Register: { do: [{ create: User }] }
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := units(t, d, "Join"); got != 6 {
		t.Errorf("Join costs %g units, want 3 in the table and 3 in the index", got)
	}
	if got := units(t, d, "Register"); got != 18 {
		t.Errorf("Register costs %g units, want 2 × (3 + 3) in the table and 3 + 3 in the index", got)
	}
	m := cost.OfMonth(d, cost.PriceLists()[0])
	if got := fmt.Sprintf("%.2f", m.OnDemand); got != "972.00" {
		t.Errorf("a month costs $%s, want $972.00", got)
	}
	entries := 0.0
	for _, s := range m.Storage {
		if strings.HasSuffix(s.Place, ".Inverted") {
			entries += s.Items
		}
	}
	if entries != 102_000_000 {
		t.Errorf("%.0f entries are stored, want those of 100,000,000 memberships, 1,000,000 users and their markers", entries)
	}
}

// TestHottest tests patterns of which a share of the calls concerns the busiest key, which has the most items.
func TestHottest(t *testing.T) {
	const text = `
design: 1
name: Orders
tables: { Orders: { key: { pk: PK, sk: SK } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    fields: { userId: id, name: text }
    volume: { count: 1000, size: 1000 }
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    fields: { userId: id, orderId: id, text: text }
    volume: { per: User, typical: 8, max: 800, size: 1024%s }
reads:
  All: { many: Order, by: [userId] }
  Page: { many: Order, by: [userId], page: 80 }
  First: { many: Order, by: [userId], limit: 4 }
collections:
  Both: { of: [User, Order], root: User, by: [userId] }
  Pages: { of: [User, Order], root: User, by: [userId], page: 18 }
`
	for _, c := range []struct {
		hottest                       string
		all, page, first, both, pages float64
	}{
		{"", 1, 1, 0.5, 1.5, 1.5},
		{", hottest: 0.25", 0.75*1 + 0.25*100, 0.75*1 + 0.25*10, 0.5, 0.75*1.5 + 0.25*100.5, 0.75*1.5 + 0.25*2.5},
	} {
		d, err := design.Parse("orders", fmt.Appendf(nil, text, c.hottest))
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]float64{"All": c.all, "Page": c.page, "First": c.first} {
			if got := cost.OfRead(d, plan.ForRead(d, d.Read(name))).Units; got != want {
				t.Errorf("%q, %s: %g units, want %g", c.hottest, name, got, want)
			}
		}
		for i, want := range []float64{c.both, c.pages} {
			if got := cost.OfCollection(d, plan.ForCollection(d, d.Collections[i])).Units; got != want {
				t.Errorf("%q, %s: %g units, want %g", c.hottest, d.Collections[i].Name, got, want)
			}
		}
	}
}
