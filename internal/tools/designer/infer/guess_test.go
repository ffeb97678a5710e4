package infer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// item parses an item in DynamoDB's JSON with the types of strings and whole numbers omitted: "a" is {"S": "a"}, 1 is {"N":
// "1"}.
func item(t *testing.T, attributes ...string) source.Item {
	t.Helper()
	var parts []string
	for _, a := range attributes {
		name, value, _ := strings.Cut(a, "=")
		switch {
		case strings.HasPrefix(value, "{"):
		case value != "" && strings.Trim(value, "0123456789.-") == "" && !strings.Contains(value, "--") && strings.Count(value, "-") < 2:
			value = fmt.Sprintf(`{"N": %q}`, value)
		default:
			value = fmt.Sprintf(`{"S": %q}`, value)
		}
		parts = append(parts, fmt.Sprintf("%q: %s", name, value))
	}
	out, err := source.ParseItem([]byte("{" + strings.Join(parts, ", ") + "}"))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// sequence makes n items from attributes in which %d is a number.
func sequence(t *testing.T, from, n int, attributes ...string) []source.Item {
	t.Helper()
	var out []source.Item
	for i := from; i < from+n; i++ {
		var one []string
		for _, a := range attributes {
			a = strings.ReplaceAll(a, "%d", fmt.Sprint(i))
			a = strings.ReplaceAll(a, "%x", []string{"a", "b"}[i%2])
			a = strings.ReplaceAll(a, "%2", fmt.Sprint(i%2))
			a = strings.ReplaceAll(a, "%t", fmt.Sprintf("2026-01-%02dT10:00:%02d.000Z", 1+i%28, i%60))
			if strings.Contains(a, "%w") {
				a = strings.ReplaceAll(a, "%w", strings.Repeat(string(rune('a'+i%26)), 3+i/26))
			}
			one = append(one, a)
		}
		out = append(out, item(t, one...))
	}
	return out
}

// pkSK is a table with keys PK and SK.
func pkSK(items ...[]source.Item) infer.Table {
	return infer.Table{Name: "Shop", PK: infer.Key{Name: "PK", Type: "S"}, SK: infer.Key{Name: "SK", Type: "S"}, Items: slices.Concat(items...)}
}

func gsi(name string, pk, sk infer.Key) infer.Index {
	x := infer.Index{Name: name, PK: []infer.Key{pk}, Projection: "ALL"}
	if sk.Name != "" {
		x.SK = []infer.Key{sk}
	}
	return x
}

// TestGuesses compares drafts of small sets of items with the expected lines, without comments unless the expected line has
// one.
func TestGuesses(t *testing.T) {
	s := func(name string) infer.Key { return infer.Key{Name: name, Type: "S"} }
	for name, c := range map[string]struct {
		table infer.Table
		want  []string
		// findings are those in the items from which the draft was made, as "kind subject".
		findings []string
	}{
		"values that are only in the key": {
			table: pkSK(sequence(t, 100, 12, "PK=USER#%d", "SK=ORDER#%t", "total=7%d")),
			want: []string{
				`key: { pk: "USER#{userId}", sk: "ORDER#{orderAt}" }  # 12 of 12 items; guess: userId is only in the key; items have no such attribute; ` +
					`guess: orderAt is only in the key; items have no such attribute`,
				"userId: id", "orderAt: time", "total: int  # 12 of 12 items",
			},
			findings: []string{"value UserOrder.orderAt", "value UserOrder.userId"},
		},
		"names as ElectroDB writes them": {
			table: pkSK(sequence(t, 1, 10, "PK=$shop#store_s%2", "SK=$sale_1#id_x%d", "store=s%2", "id=x%d", "__edb_e__=sale", "__edb_v__=1")),
			want: []string{
				`key: { pk: "$shop#store_{store}", sk: "$sale_1#id_{id}" }`,
				"type_attr: __edb_e__", "edbV: { type: int, attr: __edb_v__ }",
			},
		},
		"one dirty item in ten": {
			table: pkSK(
				sequence(t, 1, 9, "PK=USER#u%d", "SK=ORDER#o%d", "userId=u%d", "orderId=o%d"),
				sequence(t, 10, 1, "PK=USER#u%d", "SK=ORDER#o%d", "userId=u%d", "orderId=O-%d")),
			want: []string{
				`key: { pk: "USER#{userId}", sk: "ORDER#{orderId}" }  # 10 of 10 items; orderId is in 9 of 10 keys; the others have another form`,
			},
			findings: []string{"key UserOrder.key"},
		},
		"keys divided by dashes": {
			table: pkSK(sequence(t, 1, 10, "PK=USER-u-%d", "SK=ORDER-o%d-LINE-3%d", "userId=u-%d", "orderId=o%d", "line=3%d")),
			want:  []string{`key: { pk: "USER-{userId}", sk: "ORDER-{orderId}-LINE-{line}" }`},
		},
		"keys divided by dashes behind small words": {
			table: pkSK(sequence(t, 1, 10, "PK=user-u-%d", "SK=order-2024-01-15-o%d", "userId=u-%d", "day=2024-01-15", "orderId=o%d")),
			want:  []string{`key: { pk: "user-{userId}", sk: "order-{day}-{orderId}" }`},
		},
		"dashes that divide nothing": {
			table: pkSK(sequence(t, 1, 10, "PK=red-shirt-%d-x", "SK=order-of-o%d", "kind=shirt", "orderId=o%d", "n=%d")),
			want:  []string{`key: { pk: "{PK}", sk: "{SK}" }`},
		},
		"names as OneTable writes them": {
			table: pkSK(sequence(t, 1, 10, "PK=Account#a%d", "SK=Account#", "id=a%d", "_ot=Account")),
			want:  []string{`key: { pk: "Account#{id}", sk: "Account#" }`, "type_attr: _ot"},
		},
		"attributes that differ in case only": {
			table: pkSK(sequence(t, 1, 10, "PK=USER#u%d", "SK=PROFILE", "userId=u%d", "userid=x%d", "UserID=y%d", "age=%d", "Age=4")),
			want:  []string{`key: { pk: "USER#{userId}", sk: PROFILE }`, "UserID2: { type: text, attr: UserID }", "userid3: { type: text, attr: userid }", "age2: { type: int, attr: age }"},
		},
		"a table of columns": {
			table: infer.Table{
				Name: "Events", PK: s("tenant"), SK: infer.Key{Name: "at", Type: "N"}, Items: sequence(t, 1700000000, 12, "tenant=t%2", "at=%d", "level=%2"),
				Indexes: []infer.Index{gsi("byLevel", infer.Key{Name: "level", Type: "N"}, infer.Key{Name: "at", Type: "N"})},
			},
			want: []string{`key: { pk: tenant, sk: "at:N" }`, `key: { pk: "{tenant}", sk: "{at}" }`, `byLevel: { pk: "{level}", sk: "{at}" }`, "tenant: id", "at: int"},
		},
		"values in a map": {
			table: pkSK(sequence(t, 1, 10, "PK=USER#u%d", "SK=PROFILE", `data={"M": {"userId": {"S": "u%d"}, "name": {"S": "N %d"}, "tags": {"SS": ["a"]}}}`)),
			want: []string{
				`key: { pk: "USER#{userId}", sk: PROFILE }`,
				"userId: { type: id, at: data.userId }", "name: { type: text, at: data.name }", "tags: { type: set<text>, at: data.tags }",
			},
		},
		"words that vary": {
			table:    pkSK(sequence(t, 0, 30, "PK=%w#profile", "SK=main", "email=%w@x.org", "age=%d")),
			want:     []string{`key: { pk: "{id}#profile", sk: main }`, "email: email"},
			findings: []string{"value Profile.id"},
		},
		"a marker without its value": {
			table: pkSK(
				sequence(t, 1, 10, "PK=USER#u%d", "SK=PROFILE", "userId=u%d", "email=E%d@x.org", "name=N"),
				sequence(t, 1, 10, "PK=EMAIL#e%d@x.org", "SK=UNIQUE", "userId=u%d")),
			want: []string{
				`Email: { pk: "EMAIL#{email|lower}", sk: UNIQUE }  # guess: 10 of 10 items lead to an item; ` +
					`guess: |lower renders the key in 10 of 10 items; the markers themselves have no email`,
			},
			findings: []string{"value User.email"},
		},
		"an entry of some": {
			table: func() infer.Table {
				out := pkSK(
					sequence(t, 1, 10, "PK=ORDER#o%d", "SK=METADATA", "orderId=o%d", "status=open", "GSI1PK=OPEN", "GSI1SK=o%d"),
					sequence(t, 20, 10, "PK=ORDER#o%d", "SK=METADATA", "orderId=o%d", "status=paid"),
					sequence(t, 40, 10, "PK=ORDER#o%d", "SK=METADATA", "orderId=o%d", "status=lost", "GSI1PK=OPEN", "GSI1SK=o%d"))
				out.Indexes = []infer.Index{gsi("GSI1", s("GSI1PK"), s("GSI1SK"))}
				return out
			}(),
			want: []string{
				`GSI1: { pk: OPEN, sk: "{orderId}", where: "status IN ('lost', 'open')" }  # 20 of 30 items; guess: the condition selects exactly these`,
				"OrderStatus: { enum: [lost, open, paid] }",
			},
		},
		"an entry of those that have a field": {
			table: func() infer.Table {
				out := pkSK(
					sequence(t, 1, 10, "PK=ORDER#o%d", "SK=METADATA", "orderId=o%d", "driver=d%2", "GSI1PK=DRIVER#d%2", "GSI1SK=o%d"),
					sequence(t, 20, 10, "PK=ORDER#o%d", "SK=METADATA", "orderId=o%d"))
				out.Indexes = []infer.Index{gsi("GSI1", s("GSI1PK"), s("GSI1SK"))}
				return out
			}(),
			want: []string{`GSI1: { pk: "DRIVER#{driver}", sk: "{orderId}" }  # 10 of 20 items; the others lack a field of it`, "driver: id?"},
		},
		"an index the other way round, and one of several attributes": {
			table: func() infer.Table {
				out := pkSK(sequence(t, 1, 12, "PK=ROOM#r%2", "SK=MEMBER#u%d", "room=r%2", "user=u%d", "region=eu-%2", "since=%d"))
				out.Indexes = []infer.Index{
					gsi("inverted", s("SK"), s("PK")),
					{Name: "bySince", PK: []infer.Key{s("region"), s("room")}, SK: []infer.Key{{Name: "since", Type: "N"}}, Projection: "KEYS_ONLY"},
					{Name: "local", Local: true, PK: []infer.Key{s("PK")}, SK: []infer.Key{{Name: "since", Type: "N"}}, Projection: "INCLUDE", Attributes: []string{"region", "gone"}},
				}
				return out
			}(),
			want: []string{
				`inverted: { pk: "MEMBER#{user}", sk: "ROOM#{room}" }`, `bySince: { pk: ["{region}", "{room}"], sk: "{since}" }`, `local: { sk: "{since}" }`,
				`bySince: { pk: [region, room], sk: "since:N", project: keys }`,
				`local: { local: true, sk: "since:N", project: [region] }  # it also projects gone, which no item has`,
			},
		},
		"functions": {
			table: pkSK(sequence(t, 1700000001, 40, "PK=DAY#2026-01#%2", "SK=%d#SEQ", "month=%t", "at=%d", "shard=%2")),
			want:  []string{`key: { pk: "DAY#{month|date(yyyy-MM)}#{shard}", sk: "{at}#SEQ" }`},
		},
		"types": {
			table: pkSK(
				sequence(t, 1, 20, "PK=T#t%d", "SK=A", "tid=t%d", "price=1%d.5", `list={"L": [{"S": "x"}]}`, `flag={"BOOL": true}`, "kind=kind-%x",
					`address={"M": {"street": {"S": "S %d"}, "zip-code": {"N": "%d"}}}`, `scores={"M": {"p%d": {"N": "1"}}}`, `bin={"B": "AAAA"}`,
					"day=2026-01-15", "seen=2026-01-15T10:00:00Z", "mixed=%d"),
				sequence(t, 30, 5, "PK=T#t%d", "SK=A", "tid=t%d", "price=2", `list={"L": []}`, `flag={"BOOL": false}`, `kind={"NULL": true}`,
					`address={"M": {"street": {"S": "S %d"}}}`, `scores={"M": {}}`, `bin={"B": "AAAA"}`, "day=2026-01-16", "seen=2026-01-15T10:00:00Z", "mixed=text %d")),
			want: []string{
				"price: decimal", "list: list<text>", "flag: bool", "kind: TKind?  # 20 of 25 items, and NULL in 5; guess: 2 values in 20 items",
				"address: TAddress", "scores: map<int>", "bin: bytes", "day: date", "mixed: int  # 25 of 25 items; guess: 5 values not of type N",
				"seen: text  # 25 of 25 items; guess: looks like a time, but type time would store it as 2006-01-02T15:04:05.000Z",
				`TAddress: { fields: { street: text, zipCode: { type: "int?", attr: zip-code } } }`,
			},
			findings: []string{"value T.mixed"},
		},
		"keys without order": {
			table: func() infer.Table {
				var list []source.Item
				for i := range 130 {
					list = append(list, item(t, fmt.Sprintf("PK=%c%c#1", 'A'+i/26, 'A'+i%26), "SK=a", fmt.Sprintf("n%d=1", i)))
				}
				return pkSK(list)
			}(),
			want:     []string{`# Omitted: 30 items of Shop, whose keys start in 30 other ways, such as "DW#1 a".`},
			findings: []string{"unknown Shop"},
		},
		"a sample": {
			table: func() infer.Table {
				out := pkSK(sequence(t, 1, 10, "PK=USER#u%d", "SK=PROFILE", "userId=u%d"))
				out.Total = 1000
				return out
			}(),
			want: []string{"# Drafted from 10 items, of about 1000 in the table, of Shop.", "volume: { count: 1000, size: 26, max_size: 28 }  # guess: from a sample"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := infer.Draft(infer.Input{Tables: []infer.Table{c.table}})
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !hasLine(string(text), want) {
					t.Errorf("there is no line %q in\n%s", want, text)
				}
			}
			d, err := design.Parse("draft", text)
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, f := range conformTo(t, d, c.table.Items).Findings {
				found = append(found, string(f.Kind)+" "+f.Subject)
				if f.Kind == conform.Unknown && !strings.Contains(string(text), "# Omitted") {
					t.Errorf("%d items are unknown", f.Items)
				}
			}
			if !slices.Equal(found, c.findings) {
				t.Errorf("findings %q, want %q, of\n%s", found, c.findings, text)
			}
		})
	}
}

// hasLine reports whether a text has a line, without its comment unless one is expected.
func hasLine(text, want string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		bare, _, _ := strings.Cut(line, "  # ")
		if line == want || bare == want || strings.HasSuffix(bare, " "+want) {
			return true
		}
	}
	return false
}

// TestNoItems tests that a table without any information is rejected.
func TestNoItems(t *testing.T) {
	for _, in := range []infer.Input{{}, {Tables: []infer.Table{pkSK()}}} {
		if text, err := infer.Draft(in); err == nil {
			t.Errorf("%+v makes\n%s", in, text)
		}
	}
}
