package lower_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

func load(t *testing.T, name string) *lower.Program {
	t.Helper()
	d, err := design.Load(filepath.Join("..", "..", "..", "..", "design", "testdata", "drafts", name+".design.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := lower.Lower(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// signature describes what a caller passes: name and type, ? if it is optional.
func signature(list []lower.Input) string {
	var out []string
	for _, in := range list {
		s := in.Name + " " + in.Type.String()
		if in.Optional {
			s += "?"
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// TestInputs tests that a write asks for what its steps need unless a constant, a read of the item or another input provides
// it.
func TestInputs(t *testing.T) {
	for _, c := range []struct{ design, write, once, lines string }{
		{"appcore", "CreateTransaction", "requestKey id, txId ulid, userId id, amount money, currency Currency", ""},
		{"appcore", "SettleTransaction", "outcome TxStatus, txId ulid, notifId ulid, userId id, message text", ""},
		{"appcore", "MarkNotificationRead", "notifId ulid, userId id, createdAt time", ""},
		{"catfecito", "AddToCart", "userId uuid, productId uuid, quantity int", ""},
		{
			"catfecito", "PlaceOrder", "requestKey id, orderId uuid, userId uuid",
			"productId uuid, productName text, price money, quantity int, subtotal money",
		},
		{"catfecito", "SetOrderStatus", "to OrderStatus, from OrderStatus, orderId uuid", ""},
	} {
		w := load(t, c.design).Write(c.write)
		if w == nil {
			t.Errorf("%s has no write %s", c.design, c.write)
			continue
		}
		if got := signature(w.Inputs); got != c.once {
			t.Errorf("%s takes\n  %s, want\n  %s", c.write, got, c.once)
		}
		if got := signature(w.Lines); got != c.lines {
			t.Errorf("%s takes lines of\n  %s, want\n  %s", c.write, got, c.lines)
		}
	}
}

func parse(t *testing.T, text string) (*lower.Program, error) {
	t.Helper()
	d, err := design.Parse("test.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lower.Lower(d)
}

const shop = `
design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK }, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK, project: [total] } } } }
types: { Address: { fields: { city: { type: text, attr: town }, tags: list<slug> } } }
entities:
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{at}#{orderId}" }
    index: { GSI1: { pk: "CITY#{city}", sk: "{total|pad(9)}" } }
    fields:
      userId: id
      orderId: ulid
      total: money
      at: time
      city: { type: text, at: ship.address.city }
      address: "Address?"
      goesAt: "ttl?"
  Line: { key: { pk: "ORDER#{orderId}", sk: "LINE#{n|pad(3)}" }, fields: { orderId: ulid, n: int, note: "text?" } }
`

// TestConditions tests that conditions refer to stored attributes, and that parameters have the type of what they are compared
// with.
func TestConditions(t *testing.T) {
	p, err := parse(t, shop+`
reads:
  Open:
    many: Order
    by: [userId]
    range: at
    order: [at asc]
    page: 10
    filter: "city = :where AND address.city <> :town AND contains(address.tags, :tag) AND size(address.tags) < :most AND goesAt > :now AND total IN (:a, 5)"
`)
	if err != nil {
		t.Fatal(err)
	}
	r := p.Read("Open")
	if got, want := signature(r.Inputs), "userId id, where text, town text, tag slug, most int, a money"; got != want {
		t.Errorf("the read takes %s, want %s", got, want)
	}
	f := r.Run.Filter
	want := "#city_0.#city_1.#city_2 = :p0 AND #address.#address_city <> :p1 AND contains ( #address.#address_tags , :p2 ) AND " +
		"size ( #address.#address_tags ) < :p3 AND #goesAt > :p4 AND #total IN ( :p5 , :p6 )"
	if f.Expression != want {
		t.Errorf("the filter is\n  %s, want\n  %s", f.Expression, want)
	}
	for alias, name := range map[string]string{"#city_0": "ship", "#city_1": "address", "#city_2": "city", "#address_city": "town", "#goesAt": "goesAt"} {
		if f.Names[alias] != name {
			t.Errorf("%s stands for %q, want %q", alias, f.Names[alias], name)
		}
	}
	types := map[string]table.Kind{}
	for _, param := range f.Params {
		types[param.Input] = param.Type.Kind
	}
	if got := fmt.Sprint(types); got != "map[a:money most:int now:ttl tag:slug town:text where:text]" {
		t.Errorf("the params are %s", got)
	}
	sk := r.Run.SK[0]
	if sk.Comparison != table.Between || sk.Known[0].Literal != "ORDER#" || sk.Next.Field != "at" || !sk.Open {
		t.Errorf("the sort key is bounded by %+v", sk)
	}
}

// TestFaults tests that patterns that cannot be run are rejected with their position.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ add, want string }{
		{"reads: { All: { many: Order, page: 10 } }", "All cannot be served by any key and would be a Scan"},
		{`reads: { By: { many: Order, by: [userId], filter: ":a = :b", page: 3 } }`, "By uses :a, whose type is unknown"},
		{`reads: { By: { many: Order, via: GSI1, by: [city], filter: "orderId > :x", page: 3 } }`, "filters by orderId, which Order.GSI1 does not include"},
		{`writes: { Set: { do: [{ update: Order, set: { total: ":x" }, when: ":y = :z" }] } }`, "uses :y, whose type is unknown"},
		{`writes: { Two: { params: { n: text }, do: [{ update: Line, set: { note: "'x'" } }] } }`, "uses n as text for Two and as int for Line.n"},
		{
			`writes: { Add: { idempotent: { with: Line, request: [at] }, do: [{ create: Order, set: { at: now() } }] } }`,
			"Add compares at, which is not an input",
		},
		{`collections: { Both: { of: [Order, Line], by: [orderId] } }`, "Both cannot be served: no partition holds all of Order, Line"},
	} {
		_, err := parse(t, shop+c.add)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.add, err, c.want)
		}
	}
}

// TestStep tests which item a step is about, and that a repeated step takes from its line what the write says it does.
func TestStep(t *testing.T) {
	p, err := parse(t, shop+`
writes:
  Copy:
    params: { to: ulid }
    lines: { max: 5 }
    do:
      - { create: Order, set: { at: now(), total: sum(lines.price) } }
      - { each: lines, update: Line, by: { orderId: ":to" }, set: { note: ":line.note" }, when: "note = :line.was", else: Changed }
`)
	if err != nil {
		t.Fatal(err)
	}
	w := p.Write("Copy")
	if got, want := signature(w.Inputs), "to ulid, userId id, orderId ulid, city text, address Address?, goesAt ttl?"; got != want {
		t.Errorf("the write takes\n  %s, want\n  %s", got, want)
	}
	if got, want := signature(w.Lines), "n int, note text?, was text, price money"; got != want {
		t.Errorf("a line has\n  %s, want\n  %s", got, want)
	}
	if s := w.Run.Steps[1]; s.By[0].Path[0] != "orderId" || s.By[0].Value[0].Kind != table.InputTerm || s.Else[0].Err.Error() != "changed" {
		t.Errorf("the step is %+v", s)
	}
}

// TestCopyContainsKeyOfItsItem tests that a copy must contain the key of its item, by which the item is found.
func TestCopyContainsKeyOfItsItem(t *testing.T) {
	for fields, want := range map[string]string{
		"[title]":          "ByID reads the original item of Thing.byID, which does not include ownerId of its key",
		"[title, ownerId]": "",
	} {
		_, err := parse(t, `
design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  Thing:
    key: { pk: "OWNER#{ownerId}", sk: "THING#{thingId}" }
    copies: { byID: { pk: "THING#{thingId}", sk: COPY, fields: `+fields+` } }
    fields: { ownerId: id, thingId: ulid, title: text, body: text }
reads: { ByID: { one: Thing, by: [thingId], returns: [title, body] } }
`)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("a copy of %s: %v, want %q", fields, err, want)
		}
	}
}

// TestAssignmentPaths tests that a path into a structure uses the names of fields, however they are stored; the runtime knows
// their paths and types.
func TestAssignmentPaths(t *testing.T) {
	p, err := parse(t, shop+`
writes:
  Move: { do: [{ update: Order, set: { address.city: ":city", total: total + 1 } }] }
`)
	if err != nil {
		t.Fatal(err)
	}
	set := p.Write("Move").Run.Steps[0].Set
	if got := strings.Join(set[0].Path, " "); got != "address city" {
		t.Errorf("address.city, stored in address.town, is %q, want the fields' names", got)
	}
	if got := strings.Join(set[1].Value[0].Path, " "); got != "total" {
		t.Errorf("the term total is %q", got)
	}
}

// TestElseKnown tests that an else can name an error that any write can return, which is then that error and not one of the design.
func TestElseKnown(t *testing.T) {
	p, err := parse(t, `
design: 1
name: Shop
tables: { Shop: { key: { pk: PK } } }
entities: { Post: { key: { pk: "POST#{postId}" }, fields: { postId: ulid, shown: bool } } }
writes: { Hide: { do: [{ update: Post, set: { shown: false }, when: shown = true, else: { NotFound: shown = false, Gone: "*" } }] } }
`)
	if err != nil {
		t.Fatal(err)
	}
	if list := p.Write("Hide").Run.Steps[0].Else; list[0].Err != table.ErrNotFound || errors.Is(list[1].Err, table.ErrNotFound) { //nolint:errorlint // the error itself
		t.Errorf("the step fails with %v and %v", list[0].Err, list[1].Err)
	}
	for _, e := range p.Errors {
		if e.Name == "ErrNotFound" {
			t.Error("the design declares ErrNotFound")
		}
	}
}

// TestNotFound tests that missing items are named, including the item of a counter that a step on another entity changes, and
// the item of a check. A check with a declared error fails only with that error.
func TestNotFound(t *testing.T) {
	p, err := parse(t, `
design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK } } }
entities:
  User: { key: { pk: "USER#{userId}", sk: USER }, counters: { posts: Post }, fields: { userId: id, posts: int } }
  Post: { key: { pk: "USER#{userId}", sk: "POST#{postId}" }, fields: { userId: id, postId: ulid } }
  Topic: { key: { pk: "TOPIC#{topic}", sk: TOPIC }, fields: { topic: id, open: bool } }
  Room: { key: { pk: "ROOM#{room}", sk: ROOM }, fields: { room: id } }
writes:
  Say:
    do:
      - { create: Post }
      - { check: Topic, when: "open = true", else: { Closed: "open = false" } }
      - { check: Room, when: "attribute_exists(room)", else: NoRoom }
`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.Errors {
		got = append(got, e.Name+": "+e.Err.Error())
	}
	want := []string{
		"ErrPostExists: post: already exists", "ErrClosed: closed", "ErrTopicNotFound: topic: not found", "ErrNoRoom: no room",
		"ErrUserNotFound: user: not found",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the errors are\n%q, want\n%q", got, want)
	}
	if counted := p.Write("Say").Run.Steps[0].Entity.Counts[0].Entity; !errors.Is(counted.NotFound, table.ErrNotFound) {
		t.Errorf("the counter's item is missed as %v", counted.NotFound)
	}
}

// TestLargestPage tests that a design allows pages exactly as large as generated code returns.
func TestLargestPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "glance", "shop.design.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for size, allowed := range map[int]bool{table.MaxPage: true, table.MaxPage + 1: false} {
		paged := strings.Replace(string(text), "page: 20", fmt.Sprintf("page: %d", size), 1)
		if _, err := design.Parse("test.yaml", []byte(paged)); (err == nil) != allowed || paged == string(text) {
			t.Errorf("a page of %d items: %v", size, err)
		}
	}
}
