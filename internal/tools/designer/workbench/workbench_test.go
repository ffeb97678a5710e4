package workbench_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/workbench"
)

// TestRoundTrip tests that a model made from a design is read as a design with the same entities, keys, index keys, copies
// and markers.
func TestRoundTrip(t *testing.T) {
	names, err := filepath.Glob("../../../../design/testdata/drafts/*.design.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.Contains(name, ".documented.") {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(name), ".design.yaml"), func(t *testing.T) {
			d, err := design.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			m, left := modelOf(t, d)
			for _, one := range left {
				if !strings.Contains(one, "items expire by") && !strings.Contains(one, "a sample of") {
					t.Errorf("left out: %s", one)
				}
			}
			back := read(t, m)
			want, got := placesOf(d), placesOf(back)
			for i, place := range want {
				// The format cannot express expiry, and a marker has nothing besides keys.
				if want[i], _ = strings.CutPrefix(place, "Room.Code: "); want[i] != place {
					want[i] = "RoomCode: " + want[i]
				}
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(want, got) {
				t.Errorf("places\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

// TestSamplesFitTheirFields tests that made-up values respect min and max.
func TestSamplesFitTheirFields(t *testing.T) {
	d, err := design.Parse("", []byte(`
design: 1
name: Arena
tables: { Arena: { key: { pk: PK, sk: SK } } }
types: { Mark: { fields: { sign: { type: text, min: 30 } } } }
entities:
  Guild:
    key: { pk: "COUNTRY#{country}", sk: "{tag|fold}" }
    fields: { country: { type: slug, max: 2 }, tag: { type: text, min: 2, max: 5 }, code: { type: text, min: 20, max: 40 }, mark: Mark }
`))
	if err != nil {
		t.Fatal(err)
	}
	modelOf(t, d)
}

// TestInexpressiblePartsAreReported tests that what the format cannot express is reported, and the rest is written; an invalid sample is
// reported, too.
func TestInexpressiblePartsAreReported(t *testing.T) {
	d, err := design.Parse("", []byte(`
design: 1
name: Log
doc: What happened.
tables:
  Log:
    key: { pk: "tenant", sk: at }
    type_attr: kind
    ttl_attr: gone
    billing: provisioned
    indexes:
      Local: { local: true, sk: "size:N" }
      Many: { pk: [tenant, region], sk: [status, at] }
      One: { pk: region, sk: "size:N", project: [status] }
entities:
  Event:
    index: { Local: {}, Many: {}, One: {} }
    fields: { tenant: id, region: slug, status: text, size: int, at: time, gone: "ttl?", tags: "set<text>", raw: bytes, parts: "map<decimal>", where: Place }
    ttl: { attr: gone }
types:
  Place: { fields: { city: text, inside: "Place?" } }
reads:
  EventsOf: { many: Event, by: [tenant] }
writes:
  Note: { do: [{ create: Event }] }
samples:
  Event:
    - { tenant: t, region: r, status: s, size: x, at: now, tags: [a], raw: AA==, parts: { a: 1 }, where: { city: c } }
    - { tenant: "t#1", region: r, status: s, size: 1, at: 2024-01-15T10:00:00Z, tags: [a], raw: AA==, parts: { a: 1 }, where: { city: c } }
`))
	if err != nil {
		t.Fatal(err)
	}
	m, left := modelOf(t, d)
	for _, want := range []string{"Log: the local index Local", "Log: the index Many, whose keys have several attributes", "Log: that items expire by gone", `Log: a sample of Event: at is not of type time: "now" is not a time`, `Log: a sample of Event: tenant, "t#1", is not an id`} {
		if !slices.ContainsFunc(left, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q is not reported: %q", want, left)
		}
	}
	for _, want := range []string{
		`"Description":"What happened. Reads: EventsOf. Writes: Note."`, `"DateCreated":"Mar 01, 2024, 02:30 PM"`, `"BillingMode":"PROVISIONED"`,
		`"ProvisionedThroughput":{"ReadCapacityUnits":1,"WriteCapacityUnits":1}`,
		`"IndexName":"One","KeyAttributes":{"PartitionKey":{"AttributeName":"region","AttributeType":"S"},"SortKey":{"AttributeName":"size","AttributeType":"N"}}`,
		`"Projection":{"ProjectionType":"INCLUDE","NonKeyAttributes":["kind","status"]}`, `"kind":{"S":"EVENT"}`, `"tags":{"SS":[`,
		`"KeyAttributeAlias":{"PartitionKeyAlias":"{tenant}","SortKeyAlias":"{at}"}`, `{"AttributeName":"parts","AttributeType":"M"}`, `"DataAccess":{"MySql":{}}`,
	} {
		if !strings.Contains(string(m), want) {
			t.Errorf("there is no %s in\n%s", want, m)
		}
	}
	if back := read(t, m); back.Entity("Event") == nil {
		t.Error("the model is read without its entity")
	}
}

func modelOf(t *testing.T, d *design.Design) (data []byte, left []string) {
	t.Helper()
	m, left, err := workbench.Of(d, provision.Specs(d, nil), time.Date(2024, 3, 1, 14, 30, 0, 0, time.UTC))
	if err != nil {
		t.Fatal(err)
	}
	if data, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return data, left
}

func read(t *testing.T, model []byte) *design.Design {
	t.Helper()
	in, err := infer.ParseWorkbench(model)
	if err != nil {
		t.Fatal(err)
	}
	text, err := infer.Draft(in)
	if err != nil {
		t.Fatal(err)
	}
	d, err := design.Parse("", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d
}

// placesOf are the keys of a design's items and entries, with their places.
func placesOf(d *design.Design) []string {
	var out []string
	for _, e := range d.Entities {
		out = append(out, fmt.Sprintf("%s: %v %v", e.Name, e.Key.PK, e.Key.SK))
		for _, c := range e.Copies {
			out = append(out, fmt.Sprintf("%s.%s: %v %v", e.Name, c.Name, c.Key.PK, c.Key.SK))
		}
		for _, m := range e.Unique {
			out = append(out, fmt.Sprintf("%s.%s: %v %v", e.Name, m.Name, m.Key.PK, m.Key.SK))
		}
		for _, x := range e.Entries {
			out = append(out, fmt.Sprintf("%s.%s.%s: %v %v", e.Name, x.Of, x.Index, x.PK, x.SK))
		}
	}
	return out
}
