package conform_test

import (
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/designer/source/sourcetest"
	"github.com/monotable/monotable/monotabletest"
)

// passes are passes over items in memory, each in a different order.
func passes(items map[string][]table.Item) map[string]conform.Pass {
	out := map[string]conform.Pass{}
	r := rand.New(rand.NewPCG(7, 7)) //nolint:gosec // an order
	for name, list := range items {
		out[name] = func() iter.Seq2[table.Item, error] {
			mixed := slices.Clone(list)
			r.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
			return func(yield func(table.Item, error) bool) {
				for _, item := range mixed {
					if !yield(item, nil) {
						return
					}
				}
			}
		}
	}
	return out
}

func check(t *testing.T, d *design.Design, items map[string][]table.Item) *conform.Report {
	t.Helper()
	r, err := conform.Check(d, passes(items), conform.Options{Examples: 3, Now: sourcetest.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asText(t *testing.T, r *conform.Report) string {
	t.Helper()
	var out strings.Builder
	if err := conform.WriteText(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestCorrectedDesigns tests that items made from a design and written to a database conform to it, and are all
// counted.
func TestCorrectedDesigns(t *testing.T) {
	for name, d := range sourcetest.Designs(t) {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
			records := sourcetest.Make(t, d, seed, 12)
			client := monotabletest.NewWith(t, &monotable.Options{Now: sourcetest.Now}).Client() // expiring items exist
			specs := provision.Specs(d, map[string]string{"stage": "test"})
			if err := provision.Apply(t.Context(), client, specs, func(string, ...any) {}); err != nil {
				t.Fatal(err)
			}
			tables := map[string]conform.Pass{}
			for i, table := range d.Tables {
				put(t, client, specs[i].Name, sourcetest.Flat(records)[table.Name])
				s, err := source.OpenTable(t.Context(), client, specs[i].Name, 3)
				if err != nil {
					t.Fatal(err)
				}
				tables[table.Name] = func() iter.Seq2[source.Item, error] { return s.Items(t.Context()) }
			}
			r, err := conform.Check(d, tables, conform.Options{Examples: 3, Now: sourcetest.Now()})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Findings) > 0 {
				t.Errorf("seed %d: %s", seed, asText(t, r))
			}
			want := map[string]int64{}
			for _, record := range records {
				want[record.Entity] += int64(len(record.Items))
			}
			got := map[string]int64{}
			for _, table := range r.Tables {
				for _, p := range table.Places {
					got[p.Entity] += p.Items
				}
			}
			for entity, n := range want {
				if got[entity] != n {
					t.Errorf("seed %d: %d items of %s, want %d", seed, got[entity], entity, n)
				}
			}
		})
	}
}

// put writes items to a table.
func put(t *testing.T, client *dynamodb.Client, name string, items []table.Item) {
	t.Helper()
	for _, item := range items {
		if _, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: item}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestBreaking breaks any one item of the five designs: there must be a finding about that item or one that
// belongs to it.
func TestBreaking(t *testing.T) {
	for name, d := range sourcetest.Designs(t) {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
			records := sourcetest.Make(t, d, seed, 4)
			r := rand.New(rand.NewPCG(seed, 2)) //nolint:gosec // a test's values
			for range 60 {
				record := records[r.IntN(len(records))]
				place := r.IntN(len(record.Items))
				item := record.Items[place]
				names := slices.Sorted(maps.Keys(item))
				attribute := names[r.IntN(len(names))]
				kept := item[attribute]
				if f := fieldAt(d.Entity(record.Entity), attribute); f != nil && f.Optional && place == 0 {
					continue // without it, it is a different and equally valid item
				}
				delete(item, attribute)
				if key := d.Table(record.Table); attribute == key.PK.Name || attribute == key.SK.Name {
					item[attribute] = s("elsewhere")
				}
				found := check(t, d, sourcetest.Flat(records))
				if d.Table(record.Table).TypeAttr != attribute && len(found.Findings) == 0 {
					t.Errorf("seed %d: nothing was found when item %d of %v lost %s", seed, place, record.Values, attribute)
				}
				for _, f := range found.Findings {
					if f.Kind != conform.Unknown && !strings.HasPrefix(f.Subject, record.Entity+".") {
						t.Errorf("seed %d: a finding of %s when an item of %s lost %s", seed, f.Subject, record.Entity, attribute)
					}
				}
				item[attribute] = kept
			}
		})
	}
}

func fieldAt(e *design.Entity, attribute string) *design.Field {
	for _, f := range e.Fields {
		if !f.Nested() && f.Attribute() == attribute {
			return f
		}
	}
	return nil
}

// TestStateBetweenTwoWritesIsNotAFinding tests that what differs only because items are read before and after a write is not a
// finding, even if other writes have the same effect in the next passes.
func TestStateBetweenTwoWritesIsNotAFinding(t *testing.T) {
	counter := func(value string) map[string]string { return map[string]string{"orders": value} }
	copied := func(value string) map[string]string { return map[string]string{"status": value} }
	for _, c := range []struct {
		name      string
		ana, copy []map[string]string // changes by pass; afterwards there are none
		passes    int
		unsettled int
		kinds     []conform.Kind
	}{
		{"in one pass", []map[string]string{counter("1")}, []map[string]string{copied("open")}, 2, 0, nil},
		{"in each of two passes", []map[string]string{counter("1"), counter("3")}, []map[string]string{copied("open"), copied("sent")}, 3, 0, nil},
		{"a counter that is always written", []map[string]string{counter("1"), counter("3"), counter("4"), counter("5"), counter("6")}, nil, 5, 1, nil},
		{
			"wrong, and written once",
			[]map[string]string{counter("1"), counter("3"), counter("3")},
			[]map[string]string{copied("open"), copied("sent"), copied("sent")},
			3, 0,
			[]conform.Kind{conform.CopyDiverged, conform.WrongCount},
		},
		{"wrong", []map[string]string{counter("3"), counter("3")}, []map[string]string{copied("sent"), copied("sent")}, 2, 0, []conform.Kind{conform.CopyDiverged, conform.WrongCount}},
	} {
		t.Run(c.name, func(t *testing.T) {
			pass := 0
			both := map[string]conform.Pass{"Shop": func() iter.Seq2[table.Item, error] {
				list := items()
				if pass < len(c.ana) {
					for name, value := range c.ana[pass] {
						list[ana][name] = n(value)
					}
				}
				if pass < len(c.copy) {
					for name, value := range c.copy[pass] {
						list[paidCopy][name] = s(value)
					}
				}
				pass++
				return func(yield func(table.Item, error) bool) {
					for _, item := range list {
						if !yield(item, nil) {
							return
						}
					}
				}
			}}
			r, err := conform.Check(parsed(t, shop), both, conform.Options{Examples: 3, Now: sourcetest.Now()})
			if err != nil {
				t.Fatal(err)
			}
			var kinds []conform.Kind
			for _, f := range r.Findings {
				kinds = append(kinds, f.Kind)
			}
			if pass != c.passes || r.Unsettled != c.unsettled || !slices.Equal(kinds, c.kinds) {
				t.Errorf("%d passes, %d unsettled, findings %v; want %d, %d, %v", pass, r.Unsettled, kinds, c.passes, c.unsettled, c.kinds)
			}
		})
	}
}

// TestExamples tests that a finding counts all items and shows as many as requested.
func TestExamples(t *testing.T) {
	list := items()
	for i := range 40 {
		id := fmt.Sprintf("u%d", 100+i)
		list = append(list, of("PK=USER#"+id, "SK=PROFILE", "type=USER", "userId="+id, "email="+id+"@x.org", "name=Nn", "orders=1", "spent=0"))
	}
	r := check(t, parsed(t, shop), map[string][]table.Item{"Shop": list})
	if len(r.Findings) != 2 {
		t.Fatalf("findings %+v, want missing markers and wrong counters", r.Findings)
	}
	for _, f := range r.Findings {
		if f.Items != 40 || len(f.Examples) != 3 {
			t.Errorf("%s: %d items with %d examples, want 40 with 3", f.Kind, f.Items, len(f.Examples))
		}
	}
}

// TestUndeclaredAttributesAreCounted counts attributes that the design does not mention.
func TestUndeclaredAttributesAreCounted(t *testing.T) {
	list := items()
	list[ana]["legacy"] = s("x")
	r := check(t, parsed(t, shop), map[string][]table.Item{"Shop": list})
	want := conform.AttributeCount{Entity: "User", Attribute: "legacy", Items: 1}
	if got := r.Tables[0].Undeclared; len(got) != 1 || got[0] != want || len(r.Findings) != 0 {
		t.Errorf("got %+v and findings %+v, want %+v and none", got, r.Findings, want)
	}
}
