package infer_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/conform"
	"github.com/monotable/monotable/internal/tools/designer/infer"
	"github.com/monotable/monotable/internal/tools/designer/provision"
	"github.com/monotable/monotable/internal/tools/designer/source"
	"github.com/monotable/monotable/internal/tools/designer/source/sourcetest"
)

// inputOf is the information about a design's tables without the design.
func inputOf(d *design.Design, items map[string][]table.Item) infer.Input {
	var in infer.Input
	for _, s := range provision.Specs(d, map[string]string{"stage": "test"}) {
		t := infer.Table{Name: s.Name, TTLAttr: s.TTLAttr, Stream: s.Stream}
		key := func(name string) infer.Key {
			for _, a := range s.Attributes {
				if a.Name == name {
					return infer.Key{Name: name, Type: string(a.Type)}
				}
			}
			return infer.Key{}
		}
		t.PK, t.SK = key(s.PK), key(s.SK)
		for _, x := range s.Indexes {
			index := infer.Index{Name: x.Name, Local: x.Local, Projection: x.Projection, Attributes: x.Attributes}
			for _, name := range x.PK {
				index.PK = append(index.PK, key(name))
			}
			for _, name := range x.SK {
				index.SK = append(index.SK, key(name))
			}
			t.Indexes = append(t.Indexes, index)
		}
		for _, of := range d.Tables {
			if of.Physical == s.Name || strings.Contains(of.Physical, "{") {
				t.Items = items[of.Name]
			}
		}
		in.Tables = append(in.Tables, t)
	}
	return in
}

// conformTo checks items against a design with other table names.
func conformTo(t *testing.T, d *design.Design, items []table.Item) *conform.Report {
	t.Helper()
	pass := func() iter.Seq2[source.Item, error] {
		return func(yield func(source.Item, error) bool) {
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
	r, err := conform.Check(d, map[string]conform.Pass{d.Tables[0].Name: pass}, conform.Options{Examples: 3, Now: sourcetest.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// census counts the objects of a design.
func census(d *design.Design) string {
	copies, markers, entries, sparse := 0, 0, 0, 0
	for _, e := range d.Entities {
		copies += len(e.Copies)
		markers += len(e.Unique)
		entries += len(e.Entries)
		for _, x := range e.Entries {
			if x.Where != nil {
				sparse++
			}
		}
	}
	return fmt.Sprintf("%d entities, %d copies, %d markers, %d index entries, %d of them with a condition", len(d.Entities), copies, markers, entries, sparse)
}

// TestRoundTrip tests that a design inferred from the items of another recognizes all of them, with the same keys, copies,
// markers and index entries.
func TestRoundTrip(t *testing.T) {
	for name, d := range sourcetest.Designs(t) {
		t.Run(name, func(t *testing.T) {
			seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
			items := sourcetest.Flat(sourcetest.Make(t, d, seed, 25))
			text, err := infer.Draft(inputOf(d, items))
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			inferred, err := design.Parse(name, text)
			if err != nil {
				t.Fatal(err)
			}
			r := conformTo(t, inferred, items[d.Tables[0].Name])
			if len(r.Findings) > 0 {
				var out strings.Builder
				_ = conform.WriteText(&out, r)
				t.Errorf("seed %d: the items do not match the draft: %s\n%s", seed, out.String(), text)
			}
			if got, want := census(inferred), census(d); got != want {
				t.Errorf("seed %d: it has %s, and was generated with %s\n%s", seed, got, want, text)
			}
			for _, f := range check.Check(inferred) {
				if f.Severity == check.Error {
					t.Errorf("seed %d: %s %s: %s\n%s", seed, f.Rule, f.Subject, f.Message, text)
				}
			}
		})
	}
}

// TestOrder tests that the draft does not depend on the order of the items.
func TestOrder(t *testing.T) {
	d := sourcetest.Designs(t)["catfecito"]
	seed := uint64(time.Now().UnixNano()) //nolint:gosec // any number is a seed
	items := sourcetest.Flat(sourcetest.Make(t, d, seed, 15))
	want, err := infer.Draft(inputOf(d, items))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 3)) //nolint:gosec // an order
	for _, list := range items {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	got, err := infer.Draft(inputOf(d, items))
	if err != nil || string(got) != string(want) {
		t.Errorf("seed %d: %v, in another order the draft is another:\n%s\n%s", seed, err, want, got)
	}
}
