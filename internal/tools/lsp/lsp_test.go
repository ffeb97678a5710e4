package lsp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/lsp"
)

// client is an editor: it speaks the framing of the protocol over real pipes.
type client struct {
	t      *testing.T
	in     *os.File
	out    *bufio.Reader
	next   int
	done   chan error
	latest map[string]json.RawMessage // diagnostics by document
}

func start(t *testing.T, options lsp.Options) *client {
	t.Helper()
	fromClient, toServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromServer, toClient, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	options.Log = t.Output()
	c := &client{t: t, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1), latest: map[string]json.RawMessage{}}
	go func() {
		c.done <- lsp.Serve(t.Context(), fromClient, toClient, options)
		_ = toClient.Close()
	}()
	t.Cleanup(func() {
		for _, f := range []*os.File{fromClient, toServer, fromServer} {
			_ = f.Close()
		}
	})
	return c
}

func (c *client) send(message map[string]any) {
	c.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		c.t.Fatal(err)
	}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (c *client) receive() message {
	c.t.Helper()
	length := 0
	for {
		line, err := c.out.ReadString('\n')
		if err != nil {
			c.t.Fatalf("the server ended: %v", err)
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			length, _ = strconv.Atoi(n)
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(c.out, body); err != nil {
		c.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		c.t.Fatal(err)
	}
	if m.Method == "textDocument/publishDiagnostics" {
		var p struct{ URI string }
		_ = json.Unmarshal(m.Params, &p)
		c.latest[p.URI] = m.Params
	}
	return m
}

func (c *client) notify(method string, params any) {
	c.send(map[string]any{"method": method, "params": params})
}

// call returns the response.
func (c *client) call(method string, params any) message {
	c.t.Helper()
	c.next++
	c.send(map[string]any{"id": c.next, "method": method, "params": params})
	for {
		if m := c.receive(); string(m.ID) == strconv.Itoa(c.next) {
			return m
		}
	}
}

func (c *client) result(method string, params, to any) {
	c.t.Helper()
	m := c.call(method, params)
	if m.Error != nil {
		c.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if err := json.Unmarshal(m.Result, to); err != nil {
		c.t.Fatalf("%s: %v in %s", method, err, m.Result)
	}
}

type published struct {
	Version     int
	Diagnostics []shown
}

type shown struct {
	Range              span
	Severity           int
	Code, Message      string
	CodeDescription    struct{ Href string }
	RelatedInformation []struct {
		Location struct{ Range span }
		Message  string
	}
}

type span struct {
	Start, End struct{ Line, Character int }
}

// diagnostics waits for the diagnostics of a version.
func (c *client) diagnostics(uri string, version int) published {
	c.t.Helper()
	for {
		if raw, ok := c.latest[uri]; ok {
			var p published
			if err := json.Unmarshal(raw, &p); err != nil {
				c.t.Fatal(err)
			}
			if p.Version >= version {
				return p
			}
		}
		c.receive()
	}
}

const uri = "file:///work/shop.design.yaml"

func (c *client) open(text string) {
	c.t.Helper()
	c.call("initialize", map[string]any{"processId": 1, "rootUri": nil, "capabilities": map[string]any{}})
	c.notify("initialized", map[string]any{})
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": 1, "text": text}})
}

func (c *client) replace(version int, text string) {
	c.notify("textDocument/didChange", map[string]any{
		"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": []any{map[string]any{"text": text}},
	})
}

// at is the position of the first ‸ in a text, which is removed.
func at(t *testing.T, marked string) (text string, params map[string]any) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatal("no ‸ in the text")
	}
	lines := strings.Split(before, "\n")
	return before + after, map[string]any{
		"textDocument": map[string]any{"uri": uri},
		"position":     map[string]any{"line": len(lines) - 1, "character": len(utf16.Encode([]rune(lines[len(lines)-1])))},
	}
}

// inShop puts a mark after the first occurrence of a text in the shop.
func inShop(t *testing.T, text string) string {
	t.Helper()
	if !strings.Contains(shop, text) {
		t.Fatalf("%q is not in the shop", text)
	}
	return strings.Replace(shop, text, text+"‸", 1)
}

const shop = `design: 1
name: Shop # 🛒 with a name
tables:
  Shop:
    key: { pk: PK, sk: SK }
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
types:
  Status: { enum: [open, paid] }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    counters: { orders: Order }
    fields: { userId: id, name: text, orders: int }
  Order:
    key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{createdAt}#{orderId}" } }
    fields: { userId: id, orderId: ulid, status: Status, total: money, createdAt: time }
    accept: { ST301: "Few." }
reads:
  UserByID: { one: User, by: [userId] }
  OrdersOf: { many: Order, by: [userId], order: [orderId desc], page: 20, rate: 5 }
  OrdersByStatus: { many: Order, via: GSI1, by: [status], filter: "total > :least", order: [createdAt asc], page: 50 }
writes:
  PlaceOrder:
    params: { gift: bool }
    do:
      - { create: Order, set: { status: "'open'", createdAt: now() } }
  Pay:
    do:
      - update: Order
        set: { status: "'paid'" }
        when: "status = 'open' AND total > :total"
flows:
  Buy:
    given: { userId: id, orderId: ulid }
    do:
      - { read: OrdersOf, as: orders }
      - { if: "count(orders where total > 1) = 0", write: PlaceOrder }
invariants:
  Counted: count(Order of user) = user.orders
`

func TestDiagnostics(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open(shop)
	first := c.diagnostics(uri, 1)
	var rules []string
	for _, d := range first.Diagnostics {
		rules = append(rules, d.Code)
	}
	want, err := design.Parse("shop", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	var checked []string
	for _, f := range check.Check(want) {
		if f.Accepted == "" {
			checked = append(checked, f.Rule)
		}
	}
	if !slices.Equal(rules, checked) {
		t.Errorf("diagnostics %v, and check finds %v", rules, checked)
	}
	for _, d := range first.Diagnostics {
		if !strings.HasSuffix(d.CodeDescription.Href, "/"+d.Code+".md") {
			t.Errorf("%s has the page %q", d.Code, d.CodeDescription.Href)
		}
	}

	// A collision names both entities.
	c.replace(2, strings.Replace(shop, `sk: "ORDER#{orderId}" }`, `sk: "PROFILE" }`, 1))
	second := c.diagnostics(uri, 2)
	i := slices.IndexFunc(second.Diagnostics, func(d shown) bool { return d.Code == "ST101" })
	if i < 0 || len(second.Diagnostics[i].RelatedInformation) == 0 {
		t.Fatalf("no ST101 with related places in %+v", second)
	}

	// An error of the text, at a column counted in UTF-16 units.
	c.replace(3, strings.Replace(shop, "name: Shop # 🛒 with a name", `name: Shop
doc: "🛒🛒"
tenant: nobody`, 1))
	third := c.diagnostics(uri, 3)
	if len(third.Diagnostics) != 1 || third.Diagnostics[0].Range.Start.Line != 3 || third.Diagnostics[0].Range.Start.Character != 8 || third.Diagnostics[0].Range.End.Character != 14 {
		t.Errorf("diagnostics %+v", third.Diagnostics)
	}

	// An acceptance takes effect as soon as it is written, and everything is cleared when the document closes.
	c.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	for {
		m := c.receive()
		if m.Method == "textDocument/publishDiagnostics" && strings.Contains(string(m.Params), `"diagnostics":[]`) {
			break
		}
	}
}

func TestIncrementalChanges(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open("design: 1\nname: Shop # 🛒é x\n")
	change := func(version, line, from, to int, text string) {
		c.notify("textDocument/didChange", map[string]any{
			"textDocument": map[string]any{"uri": uri, "version": version},
			"contentChanges": []any{map[string]any{"text": text, "range": map[string]any{
				"start": map[string]any{"line": line, "character": from}, "end": map[string]any{"line": line, "character": to},
			}}},
		})
	}
	change(2, 1, 17, 18, "y") // after the cart, which is two units, and the é, which is one
	change(3, 9, 0, 0, "tables: {}\n")
	var edits []struct{ NewText string }
	c.result("textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": uri}, "options": map[string]any{}}, &edits)
	if len(edits) != 1 || !strings.Contains(edits[0].NewText, "🛒é y\n") || !strings.Contains(edits[0].NewText, "tables: {}") {
		t.Errorf("the text is %q", edits)
	}
}

func TestHover(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open(shop)
	c.diagnostics(uri, 1)
	for _, test := range []struct{ behind, want string }{
		{"  OrdersOf", "KeyCondition"},
		{"  OrdersOf", "5 a second: $"},
		{"  PlaceOrder", "create"},
		{"by: [user", "**field** `User.userId`"},
		{"by: [user", "`USER#{userId}`"},
		{"order: [crea", "GSI1 sk: `{createdAt}#{orderId}`"},
		{"ST3", "a partition key has few values"},
		{"acc", "each with a reason"},
		{"many: Ord", "**entity** `Order`"},
		{"via: GS", "Order pk: `STATUS#{status}`"},
		{"status: Stat", "open, paid"},
		{"fil", "evaluated after the read"},
		{"read: Orders", "one for"},
	} {
		_, params := at(t, inShop(t, test.behind))
		m := c.call("textDocument/hover", params)
		if test.want == "one for" {
			test.want = "the Order items of a given userId"
		}
		if test.want == "KeyCondition" {
			test.want = "Query"
		}
		if !strings.Contains(strings.ReplaceAll(string(m.Result), `\u0026`, "&"), test.want) {
			t.Errorf("behind %q: %s, want %q", test.behind, m.Result, test.want)
		}
	}
	// While the text is incomplete, the last complete one is used.
	broken := strings.Replace(shop, "name: Shop", "name: [Shop", 1)
	c.replace(2, broken)
	c.diagnostics(uri, 2)
	_, params := at(t, strings.Replace(broken, "  OrdersOf", "  OrdersOf‸", 1))
	if m := c.call("textDocument/hover", params); !strings.Contains(string(m.Result), "the Order items") {
		t.Errorf("in a broken text: %s", m.Result)
	}
}

func TestCompletion(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open(shop)
	for i, test := range []struct {
		from, to   string // in the shop, ‸ is the cursor
		want, lack []string
	}{
		{"by: [userId] }\n", "by: [userId], ‸ }\n", []string{"order", "filter", "page"}, []string{"one", "by", "entities"}},
		{"one: User, by: [userId]", "one: User, by: [‸", []string{"userId", "name"}, []string{"total", "status", "User"}},
		{"one: User", "one: ‸", []string{"User", "Order"}, []string{"userId", "Shop"}},
		{"via: GSI1", "via: ‸", []string{"GSI1", "key"}, []string{"User"}},
		{"name: text", "name: ‸", []string{"text", "ulid", "Status", "list"}, []string{"User"}},
		{"ORDER#{orderId}", "ORDER#{‸", []string{"orderId", "total"}, []string{"name"}},
		{"write: PlaceOrder", "write: ‸", []string{"PlaceOrder", "OrdersOf"}, []string{"User"}},
		{"ST301: \"Few.\"", "‸", []string{"ST101", "ST301"}, []string{"ST1010"}},
		{"  Pay:\n", "  Pay:\n    ‸\n", []string{"params", "rate", "doc"}, []string{"one", "do"}},
		{"invariants:\n", "‸\ninvariants:\n", []string{"samples", "races"}, []string{"reads", "by"}},
		{"      - update: Order\n", "      - update: Order\n        ‸\n", []string{"by", "add"}, []string{"update", "set"}},
		{"set: { status", "set: { ‸, status", []string{"total", "orderId"}, []string{"name"}},
		{"filter: \"total", "filter: \"‸", []string{"total", "status"}, []string{"name"}},
		{"counters: { orders: Order }", "counters: { ‸ }", []string{"orders", "name"}, []string{"total"}},
		{"index: { GSI1:", "index: { ‸:", []string{"GSI1"}, []string{"User"}},
		{"    key: { pk: PK, sk: SK }", "    key: { pk: PK, sk: SK }\n    stream: ‸", []string{"NEW_IMAGE"}, []string{"User", "pk"}},
	} {
		text, params := at(t, strings.Replace(shop, test.from, test.to, 1))
		c.replace(i+2, text)
		var list struct{ Items []struct{ Label string } }
		c.result("textDocument/completion", params, &list)
		var labels []string
		for _, item := range list.Items {
			labels = append(labels, item.Label)
		}
		for _, w := range test.want {
			if !slices.Contains(labels, w) {
				t.Errorf("%q: no %s in %v", test.to, w, labels)
			}
		}
		for _, l := range test.lack {
			if slices.Contains(labels, l) {
				t.Errorf("%q: %s in %v", test.to, l, labels)
			}
		}
	}
}

// TestCompletionReplaces tests that a completion replaces the whole name being typed, including characters that only names
// of tables and indexes have.
func TestCompletionReplaces(t *testing.T) {
	c := start(t, lsp.Options{})
	named := strings.NewReplacer("  Shop:", "  my-shop.v2:", "GSI1", "GSI-1").Replace(shop)
	c.open(named)
	for i, test := range []struct{ from, to, label, want string }{
		{"  User:\n", "  User:\n    table: my-s‸\n", "my-shop.v2", "table: my-shop.v2\n"},
		{"  User:\n", "  User:\n    table: my-shop.‸x\n", "my-shop.v2", "table: my-shop.v2\n"},
		{"via: GSI-1", "via: GSI-‸", "GSI-1", "via: GSI-1,"},
		{"via: GSI-1", "via: GSI-‸", "key", "via: key,"},
		{"index: { GSI-1:", "index: { GS‸-:", "GSI-1", "index: { GSI-1:"},
		{"= user.orders", "= user.or‸", "orders", "= user.orders\n"},
	} {
		text, params := at(t, strings.Replace(named, test.from, test.to, 1))
		c.replace(i+2, text)
		var list struct {
			Items []struct {
				Label    string
				TextEdit struct{ Range span }
			}
		}
		c.result("textDocument/completion", params, &list)
		done := ""
		for _, item := range list.Items {
			if r := item.TextEdit.Range; item.Label == test.label {
				lines := strings.Split(text, "\n")
				line := lines[r.Start.Line]
				lines[r.Start.Line] = line[:r.Start.Character] + item.Label + line[r.End.Character:]
				done = strings.Join(lines, "\n")
			}
		}
		if !strings.Contains(done, test.want) {
			t.Errorf("%q completed with %s lacks %q", test.to, test.label, test.want)
		}
	}
}

func TestDefinition(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open(shop)
	lines := strings.Split(shop, "\n")
	for _, test := range []struct{ behind, want string }{
		{"one: Us", "  User:"},
		{"via: GSI", "      GSI1:"},
		{"{createdA", "    fields: { userId: id, orderId"},
		{"status: Stat", "  Status:"},
		{"read: Orde", "  OrdersOf:"},
		{"= user.ord", "    fields: { userId: id, name"},
		{"orders where tot", "    fields: { userId: id, orderId"},
	} {
		_, params := at(t, inShop(t, test.behind))
		var found []struct{ Range span }
		c.result("textDocument/definition", params, &found)
		if len(found) != 1 || !strings.HasPrefix(lines[found[0].Range.Start.Line], test.want) {
			t.Errorf("behind %q: %+v", test.behind, found)
		}
	}
	_, params := at(t, inShop(t, "  OrdersOf"))
	params["context"] = map[string]any{"includeDeclaration": false}
	var found []struct{ Range span }
	c.result("textDocument/references", params, &found)
	if len(found) != 1 {
		t.Errorf("references %+v", found)
	}
}

// rename returns the text after a rename, or the error.
func (c *client) rename(text string, params map[string]any, name string) (string, string) {
	c.t.Helper()
	params["newName"] = name
	m := c.call("textDocument/rename", params)
	if m.Error != nil {
		return "", m.Error.Message
	}
	var edit struct {
		Changes map[string][]struct {
			Range   span
			NewText string
		}
	}
	if err := json.Unmarshal(m.Result, &edit); err != nil {
		c.t.Fatal(err)
	}
	lines := strings.Split(text, "\n")
	for _, e := range slices.Backward(edit.Changes[uri]) {
		units := utf16.Encode([]rune(lines[e.Range.Start.Line]))
		lines[e.Range.Start.Line] = string(utf16.Decode(units[:e.Range.Start.Character])) + e.NewText + string(utf16.Decode(units[e.Range.End.Character:]))
	}
	return strings.Join(lines, "\n"), ""
}

func TestRename(t *testing.T) {
	c := start(t, lsp.Options{})
	c.open(shop)
	for _, test := range []struct {
		behind, name string
		replaces     []string // pairs
	}{
		{"many: Ord", "Purchase", []string{"  Order:\n", "  Purchase:\n", "orders: Order", "orders: Purchase", "many: Order", "many: Purchase", "create: Order", "create: Purchase", "update: Order", "update: Purchase", "count(Order ", "count(Purchase "}},
		{"  Use", "Client", []string{"  User:", "  Client:", "one: User", "one: Client", "of user)", "of client)", "= user.", "= client."}},
		{"total > :le", "", nil},
		{"filter: \"tot", "amount", []string{"total: money", "amount: { type: money, attr: total }", "\"total >", "\"amount >", "AND total > :total", "AND amount > :amount", "where total", "where amount"}},
		{"  OrdersO", "OrdersFrom", []string{"  OrdersOf:", "  OrdersFrom:", "read: OrdersOf", "read: OrdersFrom"}},
		{"via: GS", "by-status", []string{"GSI1: {", "by-status: {", "via: GSI1", "via: by-status"}},
		{"  Sho", "Store", []string{"  Shop:\n    key:", "  Store:\n    name: Shop\n    key:"}},
		{"one: Us", "User", []string{}},
		{"status: Stat", "State", []string{"  Status: {", "  State: {", "status: Status", "status: State"}},
	} {
		_, params := at(t, inShop(t, test.behind))
		got, fault := c.rename(shop, params, test.name)
		if test.replaces == nil {
			if fault == "" {
				t.Errorf("behind %q: renamed", test.behind)
			}
			continue
		}
		want := strings.NewReplacer(test.replaces...).Replace(shop)
		if fault != "" || got != want {
			t.Errorf("behind %q: %s\n%s\nwant\n%s", test.behind, fault, got, want)
		}
	}
	for _, test := range []struct{ behind, name, want string }{
		{"  Use", "Order", "the design already has the entity Order"},
		{"  Use", "a b", "not a valid name"},
		{"status: Status, tota", "gift", "a write would have a param with the name of a field"},
		{"params: { gi", "total", "a write would have a param with the name of a field"},
		{"ST3", "ST302", "no name"},
	} {
		_, params := at(t, inShop(t, test.behind))
		if _, fault := c.rename(shop, params, test.name); !strings.Contains(fault, test.want) {
			t.Errorf("behind %q to %s: %q", test.behind, test.name, fault)
		}
	}
}

// TestNamesInEveryKey tests that names are found in reads by bucket, counts, scans, reads of several keys, patches and changes of
// lists and sets: a rename would be rejected if one were missed.
func TestNamesInEveryKey(t *testing.T) {
	const feed = `design: 1
name: Feed
tables: { Feed: { key: { pk: PK, sk: SK } } }
entities:
  Post:
    key: { pk: "FEED#{source}#{at|date(yyyy-MM)}", sk: "{at}#{postId}" }
    fields: { source: id, at: time, postId: id, title: text, tags: "set<text>?", log: "list<text>?", note: "text?" }
  Source:
    key: { pk: "SOURCE#{source}", sk: "META" }
    fields: { source: id, label: text }
reads:
  InMonth: { many: Post, by: [source], bucket: at, order: [at desc], page: 20 }
  HowMany: { count: Post, by: [source], bucket: at }
  Several: { each: Source, by: [source], keys: { max: 10 } }
  All: { scan: Source, page: 100 }
writes:
  Edit: { do: [{ update: Post, patch: [title, note] }] }
  Change: { do: [{ update: Post, append: { log: ":log" }, drop: { tags: ":tags" }, remove: [note] }] }
  First: { do: [{ update: Post, prepend: { log: ":log" } }] }
`
	c := start(t, lsp.Options{})
	c.open(feed)
	for _, test := range []struct{ behind, name string }{
		{"  Pos", "Article"},
		{"  Sour", "Origin"},
		{", a", "moment"},
		{"title", "heading"},
		{"tags", "labels"},
		{"log", "changes"},
		{"note", "remark"},
		{"count: Po", "Article"},
		{"scan: So", "Origin"},
		{"bucket: a", "moment"},
		{"patch: [tit", "heading"},
		{"remove: [no", "remark"},
		{"append: { lo", "changes"},
	} {
		_, params := at(t, strings.Replace(feed, test.behind, test.behind+"‸", 1))
		if _, fault := c.rename(feed, params, test.name); fault != "" {
			t.Errorf("behind %q: %s", test.behind, fault)
		}
	}
	_, params := at(t, strings.Replace(feed, "bucket: at }", "bucket: ‸ }", 1))
	c.replace(2, strings.Replace(feed, "bucket: at }", "bucket:  }", 1))
	var list struct{ Items []struct{ Label string } }
	c.result("textDocument/completion", params, &list)
	if !slices.ContainsFunc(list.Items, func(i struct{ Label string }) bool { return i.Label == "at" }) {
		t.Errorf("a bucket is completed with %v", list.Items)
	}
}

// TestEntries tests that an entry's name is the same symbol in the entity and in reads of it, and that the index before the
// dot is the table's.
func TestEntries(t *testing.T) {
	const desk = `design: 1
name: Desk
tables: { Desk: { key: { pk: PK, sk: SK }, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } } }
entities:
  Ticket:
    key: { pk: "TICKET#{id}", sk: META }
    index:
      GSI1:
        - { name: open, where: "n = 1", pk: OPEN, sk: "{id}" }
        - { name: done, where: "n = 2", pk: DONE, sk: "{id}" }
    fields: { id: id, n: int }
reads:
  Open: { many: Ticket, via: GSI1.open, page: 10 }
`
	c := start(t, lsp.Options{})
	c.open(desk)
	for _, test := range []struct {
		behind, name string
		replaces     []string
	}{
		{"via: GSI1.op", "unfinished", []string{"name: open", "name: unfinished", "GSI1.open", "GSI1.unfinished"}},
		{"name: op", "unfinished", []string{"name: open", "name: unfinished", "GSI1.open", "GSI1.unfinished"}},
		{"via: GS", "ByState", []string{"GSI1: {", "ByState: {", "GSI1:\n", "ByState:\n", "GSI1.open", "ByState.open"}},
	} {
		_, params := at(t, strings.Replace(desk, test.behind, test.behind+"‸", 1))
		got, fault := c.rename(desk, params, test.name)
		if want := strings.NewReplacer(test.replaces...).Replace(desk); fault != "" || got != want {
			t.Errorf("behind %q: %s\n%s\nwant\n%s", test.behind, fault, got, want)
		}
	}
}

// TestRenameEverything renames each name of real designs: none may be rejected without need, and the result must mean the
// same.
func TestRenameEverything(t *testing.T) {
	files, err := filepath.Glob("../../../systems/*/*.design.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no designs")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			d, err := design.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			c := start(t, lsp.Options{})
			c.open(string(data))
			lines := strings.Split(string(data), "\n")
			rename := func(what string, pos design.Pos, name string) {
				line := pos.Line - 1
				column := strings.Index(lines[line], what)
				if column < 0 {
					return // the object is at another position
				}
				params := map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": line, "character": len(utf16.Encode([]rune(lines[line][:column+1])))}}
				got, fault := c.rename(string(data), params, name)
				if fault != "" {
					t.Errorf("%s: %s", what, fault)
					return
				}
				if _, err := design.Parse(file, []byte(got)); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			every := 25 // a check takes time
			for i, e := range d.Entities {
				if i%every == 0 {
					rename(e.Name, e.Pos, "Zebra")
				}
				if len(e.Fields) > 0 && i%every == 1 {
					f := e.Fields[len(e.Fields)-1]
					rename(f.Name, f.Pos, "zebra")
				}
			}
			for i, r := range d.Reads {
				if i%every == 0 {
					rename(r.Name, r.Pos, "Zebra")
				}
			}
			for i, w := range d.Writes {
				if i%every == 0 {
					rename(w.Name, w.Pos, "Zebra")
				}
			}
		})
	}
}

func TestProtocol(t *testing.T) {
	c := start(t, lsp.Options{})
	if m := c.call("textDocument/hover", map[string]any{}); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("before initialize: %+v", m)
	}
	c.open(shop)
	if m := c.call("textDocument/nothing", map[string]any{}); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("unknown method: %+v", m)
	}
	c.notify("$/cancelRequest", map[string]any{"id": 99})
	c.notify("$/nothing", map[string]any{})
	if _, err := io.WriteString(c.in, "Content-Length: 47\r\n\r\n [{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"shutdown\"}]"); err != nil {
		t.Fatal(err)
	}
	for m := c.receive(); m.Method != "" || m.Error == nil; m = c.receive() {
		if m.Method == "" {
			t.Fatalf("a batch: %+v", m)
		}
	}
	if m := c.call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": "file:///other"}}); string(m.Result) != "null" {
		t.Errorf("a document that is not open: %+v", m)
	}
	c.replace(2, strings.Repeat("a: [{\n", 200_000)) // larger than any design
	if p := c.diagnostics(uri, 2); len(p.Diagnostics) != 1 || !strings.Contains(p.Diagnostics[0].Message, "bytes") {
		t.Errorf("a huge text: %+v", p)
	}
	if m := c.call("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": 1_000_000, "character": -1}}); m.Error != nil {
		t.Errorf("outside of the text: %+v", m)
	}
	c.call("shutdown", nil)
	c.notify("exit", nil)
	if err := <-c.done; err != nil {
		t.Errorf("ended with %v", err)
	}
}

// TestEnd tests that an editor that sends everything at once and disconnects gets all its responses, those after shutdown as
// the protocol requires.
func TestEnd(t *testing.T) {
	initialize := map[string]any{"id": 1, "method": "initialize", "params": map[string]any{}}
	hover := func(id any) map[string]any {
		return map[string]any{"id": id, "method": "textDocument/hover", "params": map[string]any{"textDocument": map[string]any{"uri": uri}}}
	}
	shutdown, exit := map[string]any{"id": "end", "method": "shutdown"}, map[string]any{"method": "exit"}
	for _, test := range []struct {
		name  string
		sent  []map[string]any
		codes string // by id; 0 is a result
		fails bool
	}{
		{"as it should be", []map[string]any{initialize, hover(2), hover(3), shutdown, exit}, `"end"=0 1=0 2=0 3=0`, false},
		{"asked after shutdown", []map[string]any{initialize, shutdown, hover(2), {"id": 3, "method": "shutdown"}, {"method": "initialized"}, exit, hover(4)}, `"end"=0 1=0 2=-32600 3=-32600`, false},
		{"no exit", []map[string]any{initialize, hover(2), shutdown}, `"end"=0 1=0 2=0`, false},
		{"no shutdown", []map[string]any{initialize, hover(2), hover(3), exit}, `1=0 2=0 3=0`, true},
		{"only the end of the stream", []map[string]any{initialize, hover(2)}, `1=0 2=0`, true},
		{"nothing but exit", []map[string]any{exit}, ``, true},
		{"shutdown before initialize", []map[string]any{shutdown, exit}, `"end"=-32002`, true},
		{"strange ids", []map[string]any{initialize, {"ID": 5, "method": "shutdown"}, {"id": 6}, {"id": nil, "method": "x"}, shutdown, exit}, `"end"=0 1=0 6=-32600 null=-32600`, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var all strings.Builder
			for _, m := range test.sent {
				m["jsonrpc"] = "2.0"
				body, err := json.Marshal(m)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&all, "Content-Length: %d\r\n\r\n%s", len(body), body)
			}
			c := start(t, lsp.Options{})
			if _, err := io.WriteString(c.in, all.String()); err != nil {
				t.Fatal(err)
			}
			_ = c.in.Close()
			if err := <-c.done; (err != nil) != test.fails {
				t.Errorf("ended with %v", err)
			}
			var codes []string
			for {
				if _, err := c.out.Peek(1); err != nil {
					break
				}
				m := c.receive()
				code := 0
				if m.Error != nil {
					code = m.Error.Code
				}
				codes = append(codes, fmt.Sprintf("%s=%d", m.ID, code))
			}
			slices.Sort(codes)
			if got := strings.Join(codes, " "); got != test.codes {
				t.Errorf("got %s, want %s", got, test.codes)
			}
		})
	}
}

// TestContentType tests that a message is read whatever its Content-Type says: the protocol only has UTF-8, and asks servers
// to accept the older spelling utf8.
func TestContentType(t *testing.T) {
	for _, kind := range []string{"application/vscode-jsonrpc; charset=utf-8", "application/vscode-jsonrpc; charset=utf8", "application/vscode-jsonrpc;charset=UTF-8"} {
		c := start(t, lsp.Options{})
		const body = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`
		if _, err := fmt.Fprintf(c.in, "Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s", kind, len(body), body); err != nil {
			t.Fatal(err)
		}
		_ = c.in.Close()
		if _, err := c.out.Peek(1); err != nil {
			t.Errorf("%s: the server ended: %v", kind, <-c.done)
			continue
		}
		if m := c.receive(); m.Error != nil {
			t.Errorf("%s: %+v", kind, m.Error)
		}
	}
}

func TestLargeMessage(t *testing.T) {
	for _, header := range []string{"Content-Length: 99999999999\r\n\r\nabc", "content-length : 99999999999\r\n\r\n", "X: " + strings.Repeat("x", 1<<20)} {
		c := start(t, lsp.Options{})
		go func() { _, _ = io.WriteString(c.in, header) }()
		if err := <-c.done; err == nil || !strings.Contains(err.Error(), "bytes") && !strings.Contains(err.Error(), "content-length") {
			t.Errorf("%.40q: ended with %v", header, err)
		}
	}
}

func TestCancellation(t *testing.T) {
	checking, go2 := make(chan struct{}), make(chan struct{})
	c := start(t, lsp.Options{Check: func(string, *design.Design) (check.Findings, error) {
		close(checking)
		<-go2
		return nil, nil
	}})
	c.open(shop)
	<-checking
	// While a design is checked, requests are answered, and changes are accepted.
	_, params := at(t, inShop(t, "one: Us"))
	if m := c.call("textDocument/definition", params); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	c.replace(2, "name: [")
	c.replace(3, "name: ]")
	close(go2)
	if p := c.diagnostics(uri, 3); len(p.Diagnostics) == 0 {
		t.Error("the last version was not checked")
	}
}

// TestClose tests that the last diagnostics of a closed document are none, even if it is closed while it is checked: an
// editor would show others until it ends.
func TestClose(t *testing.T) {
	c := start(t, lsp.Options{})
	c.call("initialize", map[string]any{})
	for i := range 1500 {
		document := map[string]any{"uri": fmt.Sprintf("file:///work/%d.design.yaml", i), "version": 1, "text": "x: ["}
		c.notify("textDocument/didOpen", map[string]any{"textDocument": document})
		c.notify("textDocument/didClose", map[string]any{"textDocument": document})
		c.call("textDocument/hover", map[string]any{"textDocument": document}) // reads what was published
	}
	c.call("shutdown", nil)
	for uri, raw := range c.latest {
		if !strings.Contains(string(raw), `"diagnostics":[]`) {
			t.Errorf("%s is closed and has %s", uri, raw)
		}
	}
}

// TestEditorThatDoesNotRead tests that a server reads while its editor does not: an editor with one thread would wait for the
// server, which waits for it.
func TestEditorThatDoesNotRead(t *testing.T) {
	c := start(t, lsp.Options{})
	c.call("initialize", map[string]any{})
	if err := c.in.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 { // more bytes, in both directions, than pipes hold
		c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": fmt.Sprint(uri, i), "text": "x: ["}})
		c.send(map[string]any{"id": fmt.Sprint("hover ", i), "method": "textDocument/hover", "params": map[string]any{"textDocument": map[string]any{"uri": uri}}})
	}
	if m := c.call("shutdown", nil); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	c.notify("exit", nil) // what follows the response to shutdown stays unread
	if err := <-c.done; err != nil {
		t.Error(err)
	}
}

// TestExitUnread tests that a server ends with its editor, even if that has read nothing.
func TestExitUnread(t *testing.T) {
	c := start(t, lsp.Options{})
	c.send(map[string]any{"id": 1, "method": "initialize", "params": map[string]any{}})
	for i := range 1000 { // more bytes than a pipe holds
		c.send(map[string]any{"id": fmt.Sprint("hover ", i), "method": "textDocument/hover", "params": map[string]any{"textDocument": map[string]any{"uri": uri}}})
	}
	c.notify("exit", nil)
	if err := <-c.done; err == nil {
		t.Error("an exit without a shutdown is no error")
	}
}

func TestPanic(t *testing.T) {
	c := start(t, lsp.Options{Check: func(string, *design.Design) (check.Findings, error) { panic("a defect") }})
	c.open(shop)
	if p := c.diagnostics(uri, 1); len(p.Diagnostics) != 1 || !strings.Contains(p.Diagnostics[0].Message, "a defect") {
		t.Errorf("%+v", p)
	}
	_, params := at(t, inShop(t, "one: Us"))
	if m := c.call("textDocument/definition", params); m.Error != nil {
		t.Errorf("the server does not go on: %+v", m.Error)
	}
}
