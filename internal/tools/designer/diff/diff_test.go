package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/diff"
)

const base = `design: 1
name: Shop
tables:
  shop:
    key: { pk: PK, sk: SK }
    type_attr: type
    ttl_attr: ttl
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK, project: [total] }
      byStatus: { pk: status, sk: createdAt, project: keys }
types:
  Status: { enum: [open, paid] }
entities:
  Order:
    key: { pk: "ORDER#{orderId}", sk: META }
    copies: { byUser: { pk: "USER#{userId}", sk: "ORDER#{createdAt}", fields: all } }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{createdAt}" }, byStatus: {} }
    unique: { Number: { pk: "NUMBER#{number}", sk: UNIQUE } }
    fields: { orderId: ulid, userId: id, number: int, status: Status, total: money, createdAt: time, note: "text?", ttl: "ttl?" }
    volume: { count: 1000, size: 1500 }
reads:
  OrderOf: { one: Order, by: [orderId] }
  OrdersOf: { many: Order, by: [userId], order: [createdAt desc], page: 20 }
writes:
  Pay: { params: { method: id }, do: [ { update: Order, set: { status: "'paid'" }, when: "status = 'open'", else: NotOpen } ] }
`

// edit is a change of the base design: old text, new text.
type edit struct{ old, new string }

func TestDesigns(t *testing.T) {
	for name, test := range map[string]struct {
		edits []edit
		want  []string // class and subject, the heaviest first
	}{
		"nothing":                {nil, nil},
		"optional field":         {[]edit{{`note: "text?"`, `note: "text?", gift: "bool?"`}}, []string{"free Order.gift"}},
		"required field":         {[]edit{{`note: "text?"`, `note: "text?", gift: bool`}}, []string{"backfill Order.gift 1000 4000"}},
		"field gone":             {[]edit{{`, note: "text?"`, ``}}, []string{"breaking Order.note"}},
		"field renamed in code":  {[]edit{{`note: "text?"`, `remark: { type: "text?", attr: note }`}}, []string{"breaking Order.note", "free Order.remark"}},
		"field stored elsewhere": {[]edit{{`note: "text?"`, `note: { type: "text?", attr: remark }`}}, []string{"backfill Order.note 1000 4000"}},
		"field's type":           {[]edit{{`number: int`, `number: id`}}, []string{"breaking Order.number"}},
		"field may be absent":    {[]edit{{`total: money`, `total: "money?"`}}, []string{"breaking Order.total"}},
		"field always there":     {[]edit{{`note: "text?"`, `note: text`}}, []string{"backfill Order.note 1000 4000"}},
		"value added":            {[]edit{{`[open, paid]`, `[open, paid, sent]`}}, []string{"free Status"}},
		"value gone":             {[]edit{{`[open, paid]`, `[paid, open2]`}, {`'open'`, `'open2'`}}, []string{"breaking Status", "free Status", "free Pay"}},
		"primary key":            {[]edit{{`"ORDER#{orderId}"`, `"O#{orderId}"`}}, []string{"rewrite Order 1000 8000"}},
		"table's key":            {[]edit{{`key: { pk: PK, sk: SK }`, `key: { pk: PK, sk: RANGE }`}}, []string{"rewrite shop 1000 8000"}},
		"table's name":           {[]edit{{`key: { pk: PK, sk: SK }`, "name: shop-2\n    key: { pk: PK, sk: SK }"}}, []string{"rewrite shop 1000 8000"}},
		"table's name and key":   {[]edit{{`key: { pk: PK, sk: SK }`, "name: shop-2\n    key: { pk: PK, sk: RANGE }"}}, []string{"rewrite shop 1000 8000", "rewrite shop"}},
		"local index":            {[]edit{{`      byStatus: {`, "      byTotal: { local: true, sk: total }\n      byStatus: {"}}, []string{"rewrite shop.byTotal 1000 12000"}},
		"type attribute":         {[]edit{{`type_attr: type`, `type_attr: kind`}}, []string{"backfill shop 1000 5000"}},
		"required field renamed": {[]edit{{`number: int`, `no: { type: int, attr: number }`}, {"#{number}", "#{no}"}}, []string{"breaking Order.number", "free Order.no"}},
		"billing":                {[]edit{{`type_attr: type`, "type_attr: type\n    billing: provisioned"}}, []string{"setting shop"}},
		"stream":                 {[]edit{{`type_attr: type`, "type_attr: type\n    stream: NEW_IMAGE"}}, []string{"setting shop"}},
		"composed entry":         {[]edit{{`"STATUS#{status}"`, `"S#{status}"`}}, []string{"backfill Order.GSI1 1000 4000"}},
		"sparse entry":           {[]edit{{`sk: "{createdAt}" }`, `sk: "{createdAt}", where: "status = 'open'" }`}}, []string{"backfill Order.GSI1 1000 3000"}},
		"native index": {
			[]edit{{`byStatus: { pk`, "byUser: { pk: userId, sk: createdAt, project: keys }\n      byStatus: { pk"}, {`byStatus: {} }`, `byStatus: {}, byUser: {} }`}, {`copies: { byUser:`, `copies: { ofUser:`}},
			[]string{"index build shop.byUser", "index build Order.byUser", "free Order.ofUser"},
		},
		"native index of the table's key": {
			[]edit{{`byStatus: { pk`, "byUser: { pk: userId, sk: PK, project: keys }\n      byStatus: { pk"}, {`byStatus: {} }`, `byStatus: {}, byUser: {} }`}, {`copies: { byUser:`, `copies: { ofUser:`}},
			[]string{"index build shop.byUser", "index build Order.byUser", "free Order.ofUser"},
		},
		"index gone":       {[]edit{{`, byStatus: {} }`, ` }`}, {"\n      byStatus: { pk: status, sk: createdAt, project: keys }", ""}}, []string{"breaking shop.byStatus", "breaking Order.byStatus"}},
		"index's key":      {[]edit{{`GSI1: { pk: GSI1PK, sk: GSI1SK`, `GSI1: { pk: GSI1PK, sk: GSI1RANGE`}}, []string{"breaking shop.GSI1"}},
		"projects more":    {[]edit{{`project: [total]`, `project: [total, note]`}}, []string{"index build shop.GSI1"}},
		"projects less":    {[]edit{{`project: [total]`, `project: keys`}}, []string{"breaking shop.GSI1"}},
		"marker gone":      {[]edit{{`    unique: { Number: { pk: "NUMBER#{number}", sk: UNIQUE } }` + "\n", ``}}, []string{"free Order.Number"}},
		"copy's key":       {[]edit{{`sk: "ORDER#{createdAt}", fields`, `sk: "ORDER#{createdAt}#{orderId}", fields`}}, []string{"backfill Order.byUser 1000 6000"}},
		"read gone":        {[]edit{{"  OrderOf: { one: Order, by: [orderId] }\n", ""}}, []string{"breaking OrderOf"}},
		"read by more":     {[]edit{{`by: [orderId] }`, `by: [orderId, status] }`}}, []string{"breaking OrderOf"}},
		"read's order":     {[]edit{{`createdAt desc`, `createdAt asc`}}, []string{"breaking OrdersOf"}},
		"read's page":      {[]edit{{`page: 20`, `page: 50`}}, nil},
		"write's param":    {[]edit{{`method: id`, `method: id, by: id`}}, []string{"breaking Pay"}},
		"write's optional": {[]edit{{`method: id`, `method: id, by: "id?"`}}, []string{"free Pay"}},
	} {
		t.Run(name, func(t *testing.T) {
			text := base
			for _, e := range test.edits {
				if !strings.Contains(text, e.old) {
					t.Fatalf("the base design has no %q", e.old)
				}
				text = strings.Replace(text, e.old, e.new, 1)
			}
			var got []string
			for _, c := range diff.Designs(parse(t, base), parse(t, text)) {
				line := fmt.Sprintf("%s %s", c.Class, c.Subject)
				if c.WriteUnits > 0 {
					line += fmt.Sprintf(" %.0f %.0f", c.Items, c.WriteUnits)
				}
				got = append(got, line)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestIndexes checks the price of the index entries that DynamoDB writes: a million items of 6 KB that move to other keys are
// put and deleted, and so are their entries in a declared index and in one that they are in because they have its key
// attributes. By AWS's prices, 2 × (6 + 6 + 6) units at $0.625 a million are $22.50.
func TestIndexes(t *testing.T) {
	const forge = `
design: 1
name: Forge
tables:
  Forge:
    key: { pk: PK, sk: SK }
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
      Inverted: { pk: SK, sk: PK }
entities:
  Issue:
    key: { pk: "REPO#{repo}", sk: "ISSUE#{number}" }
    index: { GSI1: { pk: "STATE#{state}", sk: "{number}" } }
    fields: { repo: id, number: id, state: id, body: text }
    volume: { count: 1000000, size: 6144 }
`
	changes := diff.Designs(parse(t, forge), parse(t, strings.Replace(forge, "ISSUE#", "I#", 1)))
	if len(changes) != 1 || changes[0].WriteUnits != 36e6 || changes[0].Cost != 22.5 {
		t.Errorf("got %+v, want 36,000,000 units for $22.50", changes)
	}
}

// TestByTurns tests that alternative entries are compared one by one, and priced by the share of 1,000,000 items that has
// them: for each item, the item itself (1 unit) and the added or removed entry (1), or both entries (2) if the key changes.
func TestByTurns(t *testing.T) {
	const open, done = `{ name: open, where: state = 'open', pk: "OPEN#{team}", sk: "{ticketId}", share: 0.05 }`,
		`{ name: done, where: state = 'done', pk: "DONE#{team}", sk: "{ticketId}", share: 0.9 }`
	const desk = `
design: 1
name: Desk
tables: { Desk: { key: { pk: PK, sk: SK }, indexes: { GSI1: { pk: GSI1PK, sk: GSI1SK } } } }
types: { State: { enum: [open, waiting, done] } }
entities:
  Ticket:
    key: { pk: "TICKET#{ticketId}", sk: META }
    index: { GSI1: [` + open + ", " + done + `] }
    fields: { ticketId: ulid, team: slug, state: State }
    volume: { count: 1000000, size: 500 }
`
	const waiting = `, { name: waiting, where: state = 'waiting', pk: "WAIT#{team}", sk: "{ticketId}", share: 0.05 }] }`
	for name, test := range map[string]struct {
		edits []edit
		want  []string
	}{
		"new entry":       {[]edit{{"] }\n    fields", waiting + "\n    fields"}}, []string{"backfill Ticket.GSI1.waiting 50000 100000"}},
		"entry gone":      {[]edit{{open + ", ", ""}}, []string{"breaking Ticket.GSI1.open"}},
		"another name":    {[]edit{{"name: open", "name: begun"}}, []string{"free Ticket.GSI1.begun"}},
		"names changed":   {[]edit{{"name: open", "name: x"}, {"name: done", "name: open"}, {"name: x", "name: done"}}, []string{"free Ticket.GSI1.done", "free Ticket.GSI1.open"}},
		"another key":     {[]edit{{"OPEN#", "O#"}}, []string{"backfill Ticket.GSI1.open 50000 150000"}},
		"other condition": {[]edit{{"state = 'open'", "state = 'waiting'"}}, []string{"backfill Ticket.GSI1.open 100000 200000"}},
		"no turns": {
			[]edit{{"[" + open + ", " + done + "]", `{ pk: "OPEN#{team}", sk: "{ticketId}", where: state = 'open', share: 0.05 }`}},
			[]string{"breaking Ticket.GSI1.done", "free Ticket.GSI1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			after := desk
			for _, e := range test.edits {
				if !strings.Contains(after, e.old) {
					t.Fatalf("the design has no %q", e.old)
				}
				after = strings.Replace(after, e.old, e.new, 1)
			}
			var got []string
			for _, c := range diff.Designs(parse(t, desk), parse(t, after)) {
				line := string(c.Class) + " " + c.Subject
				if c.Items > 0 {
					line += fmt.Sprintf(" %.0f %.0f", c.Items, c.WriteUnits)
				}
				got = append(got, line)
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}

// TestCounters tests that a new counter, or one that counts differently, must count existing items.
func TestCounters(t *testing.T) {
	const net = `
design: 1
name: Net
tables: { Net: { key: { pk: PK, sk: SK } } }
entities:
  User:
    key: { pk: "USER#{userId}", sk: USER }
    counters: { posts: Post, likes: { sum: Post.likes, where: likes > 1, by: authorId } }
    fields: { userId: id, posts: int, likes: int }
    volume: { count: 1000, size: 200 }
  Post:
    key: { pk: "POST#{postId}", sk: POST }
    fields: { postId: id, authorId: id, editorId: id, likes: int, words: int }
    refs: { authorId: User.userId }
`
	const refs = "{ authorId: User.userId }"
	for name, test := range map[string]struct {
		edits []edit
		want  string
	}{
		"nothing":           {nil, ""},
		"new":               {[]edit{{"posts: Post", "posts: Post, words: { sum: Post.words }"}, {"posts: int", "posts: int, words: int"}}, "backfill User.words 1000 1000"},
		"condition":         {[]edit{{"likes > 1", "likes > 2"}}, "backfill User.likes 1000 1000"},
		"sum":               {[]edit{{"sum: Post.likes", "sum: Post.words"}}, "backfill User.likes 1000 1000"},
		"reference":         {[]edit{{refs, "{ editorId: User.userId }"}, {"by: authorId", "by: editorId"}}, "backfill User.posts 1000 1000, backfill User.likes 1000 1000"},
		"reference said":    {[]edit{{"posts: Post", "posts: { count: Post, by: authorId }"}}, ""},
		"gone":              {[]edit{{"posts: Post, ", ""}}, "breaking User.posts"},
		"gone with a field": {[]edit{{"posts: Post, ", ""}, {"posts: int, ", ""}}, "breaking User.posts"},
	} {
		after := net
		for _, e := range test.edits {
			if !strings.Contains(after, e.old) {
				t.Fatalf("%s: the design has no %q", name, e.old)
			}
			after = strings.Replace(after, e.old, e.new, 1)
		}
		var got []string
		for _, c := range diff.Designs(parse(t, net), parse(t, after)) {
			line := string(c.Class) + " " + c.Subject
			if c.Items > 0 {
				line += fmt.Sprintf(" %.0f %.0f", c.Items, c.WriteUnits)
			}
			got = append(got, line)
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %s; want %s", name, strings.Join(got, ", "), test.want)
		}
	}
}

// TestRemovedFields tests removed fields: a field was renamed, may have been renamed to one of several new ones, or is gone.
func TestRemovedFields(t *testing.T) {
	const was = `number: int, status: Status`
	for now, want := range map[string]string{
		`no: { type: int, attr: number }, status: Status`: "the field is now called no: its values stay at number, but programs must be compiled with the new name",
		`no: int, status: Status`:                         "the field was removed; if no is its new name, keep the stored attribute: no: { type: \"int\", attr: number }",
		`no: text, status: Status`:                        "the field was removed: programs with the old design read it, and its values stay in the items at number",
	} {
		before := strings.Replace(base, `"NUMBER#{number}"`, `"USER#{userId}"`, 1)
		after := strings.Replace(before, was, now, 1)
		changes := diff.Designs(parse(t, before), parse(t, after))
		if changes[0].Subject != "Order.number" || changes[0].Message != want {
			t.Errorf("%s: %s: %s\nwant %s", now, changes[0].Subject, changes[0].Message, want)
		}
	}
}

func parse(t *testing.T, text string) *design.Design {
	t.Helper()
	d, err := design.Parse("shop.design.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
