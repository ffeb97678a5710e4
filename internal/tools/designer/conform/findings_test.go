package conform_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

const shop = `
design: 1
name: Shop
tables:
  Shop:
    key: { pk: PK, sk: SK }
    type_attr: type
    ttl_attr: expiresAt
    indexes:
      GSI1: { pk: GSI1PK, sk: GSI1SK }
      GSI2: { pk: GSI2PK }
types:
  Status: { enum: [open, paid] }
entities:
  User:
    key: { pk: "USER#{userId}", sk: PROFILE }
    unique: { Email: { pk: "EMAIL#{email|lower}", sk: UNIQUE } }
    counters:
      orders: Order
      spent: { sum: Order.total, where: "status = 'paid'" }
    fields: { userId: id, email: email, name: { type: text, min: 2 }, orders: int, spent: money }
  Order:
    key: { pk: "ORDER#{orderId}", sk: METADATA }
    copies:
      byUser: { pk: "USER#{userId}", sk: "ORDER#{createdAt}#{orderId}", fields: [orderId, total, status] }
    index: { GSI1: { pk: "STATUS#{status}", sk: "{createdAt}#{orderId}", where: "status = 'open'" } }
    fields: { orderId: id, userId: id, status: Status, total: money, note: "text?", createdAt: time, code: secret, expiresAt: ttl? }
    ttl: { attr: expiresAt }
`

func parsed(t *testing.T, text string) *design.Design {
	t.Helper()
	d, err := design.Parse("shop.design.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func s(text string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: text} }
func n(number string) types.AttributeValue { return &types.AttributeValueMemberN{Value: number} }

// of is an item with attributes "name=text" and "name=12", which is a number.
func of(attributes ...string) table.Item {
	out := table.Item{}
	for _, a := range attributes {
		name, text, _ := strings.Cut(a, "=")
		if text != "" && strings.Trim(text, "0123456789") == "" {
			out[name] = n(text)
			continue
		}
		out[name] = s(text)
	}
	return out
}

// items are two users and three orders of the first, written by hand.
func items() []table.Item {
	return []table.Item{
		of("PK=USER#u1", "SK=PROFILE", "type=USER", "userId=u1", "email=Ana@x.org", "name=Ana", "orders=2", "spent=700"),
		of("PK=EMAIL#ana@x.org", "SK=UNIQUE", "userId=u1", "email=Ana@x.org"),
		of("PK=USER#u2", "SK=PROFILE", "type=USER", "userId=u2", "email=bo@x.org", "name=Bo", "orders=0", "spent=0"),
		of("PK=EMAIL#bo@x.org", "SK=UNIQUE", "userId=u2", "email=bo@x.org"),
		of("PK=ORDER#o1", "SK=METADATA", "type=ORDER", "orderId=o1", "userId=u1", "status=open", "total=500", "code=x7",
			"createdAt=2026-01-15T10:00:00.000Z", "GSI1PK=STATUS#open", "GSI1SK=2026-01-15T10:00:00.000Z#o1"),
		of("PK=USER#u1", "SK=ORDER#2026-01-15T10:00:00.000Z#o1", "type=ORDER", "orderId=o1", "userId=u1", "status=open", "total=500",
			"createdAt=2026-01-15T10:00:00.000Z"),
		of("PK=ORDER#o2", "SK=METADATA", "type=ORDER", "orderId=o2", "userId=u1", "status=paid", "total=700", "code=x8",
			"createdAt=2026-01-16T10:00:00.000Z"),
		of("PK=USER#u1", "SK=ORDER#2026-01-16T10:00:00.000Z#o2", "type=ORDER", "orderId=o2", "userId=u1", "status=paid", "total=700",
			"createdAt=2026-01-16T10:00:00.000Z"),
	}
}

// The numbers of the items that the tests change.
const (
	ana = iota
	anasEmail
	bo
	bosEmail
	open
	openCopy
	paid
	paidCopy
)

// TestFindings tests that each defect is reported, and nothing else.
func TestFindings(t *testing.T) {
	d := parsed(t, shop)
	set := func(i int, attributes ...string) func([]table.Item) []table.Item {
		return func(list []table.Item) []table.Item {
			maps.Copy(list[i], of(attributes...))
			return list
		}
	}
	remove := func(i int, names ...string) func([]table.Item) []table.Item {
		return func(list []table.Item) []table.Item {
			for _, name := range names {
				delete(list[i], name)
			}
			return list
		}
	}
	drop := func(i int) func([]table.Item) []table.Item {
		return func(list []table.Item) []table.Item { return slices.Delete(list, i, i+1) }
	}
	add := func(item table.Item) func([]table.Item) []table.Item {
		return func(list []table.Item) []table.Item { return append(list, item) }
	}
	for name, c := range map[string]struct {
		break_ func([]table.Item) []table.Item //nolint:revive // break is a keyword
		want   []string
	}{
		"nothing": {func(list []table.Item) []table.Item { return list }, nil},
		"unknown item": {
			add(of("PK=CART#u1", "SK=PROFILE")),
			[]string{"unknown Shop: PK=CART#u1 SK=PROFILE: no entity has a key of this form"},
		},
		"number as text": {
			set(open, "name=x", "total=a lot"),
			[]string{"value Order.total: PK=ORDER#o1 SK=METADATA: total is a value of type S, not a whole number of 64 bits"},
		},
		"shorter than its min": {
			set(bo, "name="),
			[]string{"value User.name: PK=USER#u2 SK=PROFILE: name has 0 bytes: the minimum is 2"},
		},
		"field missing": {
			remove(paid, "code"),
			[]string{"value Order.code: PK=ORDER#o2 SK=METADATA: code is missing"},
		},
		"field of the key missing": {
			remove(ana, "userId"),
			[]string{"value User.userId: PK=USER#u1 SK=PROFILE: userId is missing, but the key has u1"},
		},
		"type missing": {
			remove(ana, "type"),
			[]string{"value User.type: PK=USER#u1 SK=PROFILE: type is missing, but should be USER"},
		},
		"another type": {
			set(bo, "type=ADMIN"),
			[]string{"value User.type: PK=USER#u2 SK=PROFILE: type is ADMIN, but should be USER"},
		},
		"key of other fields": {
			set(paid, "orderId=o9"),
			[]string{"key Order.key: PK=ORDER#o2 SK=METADATA: PK is ORDER#o2, but by its fields it should be ORDER#o9"},
		},
		"key that cannot be read": {
			add(of("PK=USER#u2", "SK=ORDER#yesterday#o3", "type=ORDER", "orderId=o3", "userId=u2", "createdAt=yesterday")),
			[]string{"value Order.createdAt: PK=USER#u2 SK=ORDER#yesterday#o3: createdAt is not a time: 2006-01-02T15:04:05.000Z"},
		},
		"index key missing": {
			remove(open, "GSI1SK"),
			[]string{"index-missing Order.GSI1: PK=ORDER#o1 SK=METADATA: GSI1SK is missing, but should be 2026-01-15T10:00:00.000Z#o1"},
		},
		"index key stale": {
			set(open, "GSI1PK=STATUS#paid"),
			[]string{"index-stale Order.GSI1: PK=ORDER#o1 SK=METADATA: GSI1PK is STATUS#paid, but should be STATUS#open"},
		},
		"index key of an item that should have none": {
			set(paid, "GSI1PK=STATUS#paid", "GSI1SK=2026-01-16T10:00:00.000Z#o2"),
			[]string{"index-unwanted Order.GSI1: PK=ORDER#o2 SK=METADATA: GSI1PK is STATUS#paid, and the condition does not hold: status = 'open'"},
		},
		"index without entry": {
			set(bo, "GSI2PK=x"),
			[]string{"index-unwanted User.GSI2: PK=USER#u2 SK=PROFILE: GSI2PK is x, and the entity has no entry in this index"},
		},
		"copy missing": {
			drop(openCopy),
			[]string{"copy-missing Order.byUser: PK=ORDER#o1 SK=METADATA: has no copy at PK=USER#u1 SK=ORDER#2026-01-15T10:00:00.000Z#o1"},
		},
		"copy diverged": {
			set(paidCopy, "status=open", "total=7"),
			[]string{"copy-diverged Order.byUser: PK=USER#u1 SK=ORDER#2026-01-16T10:00:00.000Z#o2: " +
				"status is open, but by its item it should be paid; total is 7, but by its item it should be 700"},
		},
		"copy orphan": {
			add(of("PK=USER#u2", "SK=ORDER#2026-01-17T10:00:00.000Z#o3", "type=ORDER", "orderId=o3", "userId=u2", "status=open", "total=5",
				"createdAt=2026-01-17T10:00:00.000Z")),
			[]string{"copy-orphan Order.byUser: PK=USER#u2 SK=ORDER#2026-01-17T10:00:00.000Z#o3: no Order has it: the item was deleted or has other values"},
		},
		"marker missing": {
			drop(bosEmail),
			[]string{"marker-missing User.Email: PK=USER#u2 SK=PROFILE: has no marker at PK=EMAIL#bo@x.org SK=UNIQUE"},
		},
		"marker of a value that has changed": {
			set(bo, "email=bob@x.org"),
			[]string{
				"marker-missing User.Email: PK=USER#u2 SK=PROFILE: has no marker at PK=EMAIL#bob@x.org SK=UNIQUE",
				"marker-orphan User.Email: PK=EMAIL#bo@x.org SK=UNIQUE: no User has it: the item was deleted or has another value, and the marker blocks this one",
			},
		},
		"marker of two": {
			func(list []table.Item) []table.Item {
				list[bo]["email"] = s("ana@X.org")
				return slices.Delete(list, bosEmail, bosEmail+1)
			},
			[]string{"marker-foreign User.Email: PK=EMAIL#ana@x.org SK=UNIQUE: belongs to PK=USER#u1 SK=PROFILE and to PK=USER#u2 SK=PROFILE; " +
				"userId is u1, but by its item it should be u2; email is Ana@x.org, but by its item it should be ana@X.org"},
		},
		"marker that says less": {
			remove(anasEmail, "email"),
			[]string{"value User.email: PK=EMAIL#ana@x.org SK=UNIQUE: email is missing"},
		},
		"counter": {
			set(ana, "orders=3"),
			[]string{"count User.orders: PK=USER#u1 SK=PROFILE: orders is 3, but there are 2 Order items to count"},
		},
		"sum": {
			set(ana, "spent=1200"),
			[]string{"count User.spent: PK=USER#u1 SK=PROFILE: spent is 1200, but the sum of Order.total is 700"},
		},
		"expired": {
			func(list []table.Item) []table.Item {
				for _, i := range []int{paid, open} {
					list[i]["expiresAt"] = n("1700000000")
				}
				return slices.Delete(slices.Delete(list, paidCopy, paidCopy+1), openCopy, openCopy+1)
			},
			nil,
		},
		"null is absent": {
			func(list []table.Item) []table.Item {
				list[paid]["note"] = &types.AttributeValueMemberNULL{Value: true}
				return list
			},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(t, d, map[string][]table.Item{"Shop": c.break_(items())})
			var got []string
			for _, f := range r.Findings {
				if f.Items != int64(len(f.Examples)) {
					t.Errorf("%s %s: %d items and %d examples", f.Kind, f.Subject, f.Items, len(f.Examples))
				}
				for _, e := range f.Examples {
					got = append(got, fmt.Sprintf("%s %s: %s: %s", f.Kind, f.Subject, e.Key, e.Message))
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
		})
	}
}

// TestTypeOutweighsPrefixes tests that an item with an old key is explained as the entity that its type names, not as another one whose
// keys may begin like its own.
func TestTypeOutweighsPrefixes(t *testing.T) {
	d := parsed(t, shop+"  Session: { key: { pk: \"USER#{userId}#SESSION\", sk: \"{sessionId}\" }, fields: { userId: id, sessionId: id } }\n")
	old := of("PK=USER#u2", "SK=OLD#o3", "type=ORDER", "orderId=o3", "userId=u2", "status=paid", "total=1", "code=x", "createdAt=2026-01-16T10:00:00.000Z")
	text := asText(t, check(t, d, map[string][]table.Item{"Shop": append(items(), old)}))
	if strings.Contains(text, "Session.") || !strings.Contains(text, "key Order.") {
		t.Error(text)
	}
}

// TestCountedByKey tests that items whose keys lower and fold make equal are counted by one item, as in generated code; also
// if a reference says so.
func TestCountedByKey(t *testing.T) {
	for field, refs := range map[string]string{"tag": "", "about": ", refs: { about: Tag.tag }"} {
		t.Run(field, func(t *testing.T) { countedBy(t, field, refs) })
	}
}

func countedBy(t *testing.T, field, refs string) {
	t.Helper()
	d := parsed(t, fmt.Sprintf(`
design: 1
name: Shop
tables: { Shop: { key: { pk: PK, sk: SK }, type_attr: type } }
entities:
  Tag: { key: { pk: "TAG#{tag|lower}", sk: "{shelf|fold}" }, counters: { notes: Note }, fields: { tag: text, shelf: text, notes: int } }
  Note: { key: { pk: "NOTE#{noteId}", sk: METADATA }, fields: { noteId: id, %s: text, shelf: text }%s }
`, field, refs))
	for said, want := range map[string]int{"2": 0, "1": 1} {
		list := []table.Item{
			of("PK=TAG#go", "SK=cafe", "type=TAG", "tag=Go", "shelf=Café", "notes="+said),
			of("PK=NOTE#n1", "SK=METADATA", "type=NOTE", "noteId=n1", field+"=GO", "shelf=cafe"),
			of("PK=NOTE#n2", "SK=METADATA", "type=NOTE", "noteId=n2", field+"=go", "shelf=CAFÉ"),
			of("PK=NOTE#n3", "SK=METADATA", "type=NOTE", "noteId=n3", field+"=rust", "shelf=cafe"),
		}
		if r := check(t, d, map[string][]table.Item{"Shop": list}); len(r.Findings) != want {
			t.Errorf("a counter that says %s of 2: findings %+v, want %d", said, r.Findings, want)
		}
	}
}
