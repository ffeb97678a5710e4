package trial

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
)

const people = `
design: 1
name: People
tables: { People: { key: { pk: PK, sk: SK }, indexes: { ByDay: { pk: GPK, sk: GSK }, ByNick: { pk: HPK, sk: HSK } } } }
entities:
  Person:
    key: { pk: "C#{city|lower}", sk: "{name|fold}#{age|pad(3)}#{id}" }
    index:
      ByDay: { pk: "{day|date(yyyy-MM)}", sk: "{age|pad(3)}#{id}", where: "age > 17" }
      ByNick: { pk: "{nick}", sk: "{id}" }
    fields: { id: id, city: text, name: text, age: int, day: date, nick: "text?", owner: id }
reads:
  In: { many: Person, by: [city], page: 5 }
  Called: { many: Person, by: [city], prefix: name, order: [name asc, age desc], page: 5 }
  Between: { many: Person, by: [city], range: name, page: 5 }
  Adults: { many: Person, via: ByDay, by: [day], range: age, order: [age asc], page: 5 }
  Elders: { many: Person, via: ByDay, by: [day], filter: "age > :than", page: 5 }
  Nicked: { many: Person, via: ByNick, by: [nick], page: 5 }
  Mine: { many: Person, by: [city], owner: owner, filter: "age < :limit", page: 5 }
`

// TestCorrectResults tests the correct results of reads, grouped by the rule that decides.
func TestCorrectResults(t *testing.T) {
	d, err := design.Parse("people.yaml", []byte(people))
	if err != nil {
		t.Fatal(err)
	}
	run, err := New(d, Options{Seed: 1, Items: 1})
	if err != nil {
		t.Fatal(err)
	}
	var records []*record
	for _, line := range []string{ // id city name age day nick owner
		"1 Lima Ana 9 2024-01-15 x a",
		"2 LIMA áná 10 2024-01-31 - a",
		"3 lima Anabel 18 2024-02-01 y b",
		"4 Limas Ana 100 2024-01-01 x b",
	} {
		v := strings.Fields(line)
		r := newRecord(run.program, d.Entity("Person"))
		r.values = table.Values{
			"id": textValue(v[0]), "city": textValue(v[1]), "name": textValue(v[2]), "age": numberValue(v[3]), "day": textValue(v[4]), "owner": textValue(v[6]),
		}
		if v[5] != "-" {
			r.values["nick"] = textValue(v[5])
		}
		records = append(records, r)
	}
	for _, c := range []struct {
		read, given string
		from, to    string
		want        string
	}{
		{"In", "city=lima", "", "", "1 2 3"},
		{"In", "city=LIMA", "", "", "1 2 3"},
		{"In", "city=lim", "", "", ""},
		{"Called", "city=lima name=an", "", "", "1 2 3"},
		{"Called", "city=lima name=ÁNÁ", "", "", "1 2 3"},
		{"Called", "city=lima name=anab", "", "", "3"},
		{"Called", "city=lima name=ana#", "", "", ""},
		{"Called", "city=lima", "", "", "1 2 3"},
		{"Between", "city=lima", "ana", "ana", "1 2"},
		{"Between", "city=lima", "anaa", "", "3"},
		{"Between", "city=lima", "", "anb", "1 2 3"},
		{"Adults", "day=2024-01-20", "", "", "4"}, // that month, and the index holds adults
		{"Adults", "day=2024-01-20", "99", "", "4"},
		{"Adults", "day=2024-01-20", "101", "", ""},
		{"Elders", "day=2024-01-20 than=8", "", "", "1 2 4"}, // the read's own filter covers age
		{"Nicked", "nick=x", "", "", "1 4"},
		{"Mine", "city=lima owner=a limit=10", "", "", "1"},
		{"Mine", "city=lima owner=b limit=10", "", "", ""},
	} {
		l := run.program.Read(c.read)
		of := newTruth(d, l, run.now)
		in := table.Input{Values: table.Values{}}
		for given := range strings.FieldsSeq(c.given) {
			name, v, _ := strings.Cut(given, "=")
			in.Values[name] = textValue(v)
			if name == "than" || name == "limit" {
				in.Values[name] = numberValue(v)
			}
		}
		bound := func(s string) types.AttributeValue {
			if s == "" {
				return nil
			}
			return ofText(l.Range.Type, s)
		}
		in.From, in.To = bound(c.from), bound(c.to)
		got, err := of.expected(records, in)
		if err != nil {
			t.Errorf("%s %s: %v", c.read, c.given, err)
		}
		var ids []string
		for _, r := range got {
			ids = append(ids, scalarText(r.values["id"]))
		}
		if strings.Join(ids, " ") != c.want {
			t.Errorf("%s of %s from %q to %q is %v, want %s", c.read, c.given, c.from, c.to, ids, c.want)
		}
	}
	order := newTruth(d, run.program.Read("Called"), run.now)
	slices.SortStableFunc(records, func(a, b *record) int { return order.before(a.values, b.values) })
	var ids []string
	for _, r := range records {
		ids = append(ids, scalarText(r.values["id"]))
	}
	if got := strings.Join(ids, " "); got != "4 2 1 3" { // names ignoring accents and case, then ages as numbers, the greatest first
		t.Errorf("by name and age descending they are %s, want 4 2 1 3", got)
	}
}

// TestJudge tests the mismatches reported for a list that differs from the truth.
func TestJudge(t *testing.T) {
	d, err := design.Parse("people.yaml", []byte(people))
	if err != nil {
		t.Fatal(err)
	}
	run, err := New(d, Options{Seed: 1, Items: 1})
	if err != nil {
		t.Fatal(err)
	}
	var records []*record
	for _, id := range []string{"1", "2", "3"} {
		r := newRecord(run.program, d.Entity("Person"))
		r.values = table.Values{
			"id": textValue(id), "city": textValue("lima"), "name": textValue("ana"), "age": numberValue(id + "0"), "day": textValue("2024-01-01"), "owner": textValue("a"),
		}
		records = append(records, r)
	}
	altered := func(r *record, field string, v types.AttributeValue) table.Values {
		out := table.Values{}
		maps.Copy(out, r.values)
		if delete(out, field); v != nil {
			out[field] = v
		}
		return out
	}
	other := altered(records[0], "id", textValue("9"))
	other["owner"] = textValue("z")
	a, b, c := records[0].values, records[1].values, records[2].values
	for _, x := range []struct {
		name  string
		got   []table.Values
		limit int
		want  Kind
	}{
		{"right", []table.Values{c, b, a}, 0, ""},
		{"right with a limit", []table.Values{c, b}, 2, ""},
		{"wrong order", []table.Values{c, a, b}, 0, WrongOrder},
		{"not the first", []table.Values{c, a}, 2, WrongOrder},
		{"missing", []table.Values{c, b}, 0, WrongSet},
		{"missing below the limit", []table.Values{c}, 2, WrongSet},
		{"above the limit", []table.Values{c, b, a}, 2, WrongPage},
		{"twice", []table.Values{c, b, b, a}, 0, WrongSet},
		{"somebody else", []table.Values{c, b, other, a}, 0, WrongSet},
		{"another value", []table.Values{c, b, altered(records[0], "owner", textValue("b"))}, 0, WrongFields},
		{"a value that lacks", []table.Values{c, b, altered(records[0], "owner", nil)}, 0, WrongFields},
		{"a value too much", []table.Values{c, b, altered(records[0], "secret", textValue("b"))}, 0, WrongFields},
	} {
		l := listing{
			truth: newTruth(d, run.program.Read("Called"), run.now), records: records, got: x.got, limit: x.limit,
			in: table.Input{Values: table.Values{"city": textValue("lima")}},
		}
		m, err := l.judge()
		if err != nil {
			t.Fatal(err)
		}
		if x.want == "" && m != nil || x.want != "" && m.of(x.want) == nil {
			t.Errorf("%s: %+v, want %s", x.name, m, x.want)
		}
	}
}

// TestPools tests that the values of a pool are valid for its type in the runtime, and distinct.
func TestPools(t *testing.T) {
	const fields = "a: id, b: uuid, c: ulid, d: ksuid, e: slug, f: email, g: text, h: secret, i: int, j: decimal, k: money, l: bool, m: time, n: date, o: ttl, p: bytes, " +
		"q: { type: text, max: 12 }, r: { type: id, max: 3 }"
	d, err := design.Parse("types.yaml", []byte(`
design: 1
name: Types
tables: { Types: { key: { pk: PK } } }
entities: { E: { key: { pk: "{a}#{i|pad(4)}" }, fields: { `+fields+` } } }
`))
	if err != nil {
		t.Fatal(err)
	}
	run, err := New(d, Options{Seed: 1, Items: 1})
	if err != nil {
		t.Fatal(err)
	}
	e := d.Entity("E")
	base := run.records[0]
	for _, f := range e.Fields {
		p := run.generator.pool(f.Name, f.Type)
		met := map[string]bool{}
		for i := range 120 {
			v := p.at(i)
			values := table.Values{}
			maps.Copy(values, base.values)
			values[f.Name] = v
			if _, err := table.Items(base.run, values); err != nil {
				t.Errorf("value %d of %s, %s: %v", i, f.Type, show(v), err)
			}
			if f.Name == "i" && len(scalarText(v)) > 4 {
				t.Errorf("%s has more digits than |pad(4) takes", show(v))
			}
			met[canonical(v)] = true
		}
		if f.Type.Kind != design.KindBool && len(met) < 100 {
			t.Errorf("of 120 values of %s there are %d", f.Type, len(met))
		}
	}
}

// TestReducedItemsAreCounted tests that counters are correct while a failure is reduced to fewer items: wrong ones would be
// reported instead of the failure.
func TestReducedItemsAreCounted(t *testing.T) {
	run := newShop(t)
	w, err := newWorld(t.Context(), run.program, run.now, run.records, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.close() }() // nothing in it is needed
	p := &probe{run: func(_ context.Context, w *world) (*mismatch, error) {
		sums := tallies(run.design, w.records)
		for _, r := range w.records {
			for _, c := range r.entity.Counters {
				if want := sums[c][r.identity()].String(); scalarText(r.values[c.Field]) != want {
					t.Errorf("%s is %s among %d items, want %s", c.Field, show(r.values[c.Field]), len(w.records), want)
				}
			}
		}
		return &mismatch{kind: Inconsistent}, nil
	}}
	if _, left := shrink(t.Context(), w, p, &mismatch{kind: Inconsistent}); len(left) > 1 {
		t.Errorf("%d items are left", len(left))
	}
}
