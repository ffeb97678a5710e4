// Package infer drafts the design of an existing table: from its description, from its items, or from a model of NoSQL
// Workbench. It also translates models of object mappers (mapper.go), which state what would otherwise be inferred from
// items.
//
// # Model
//
//	items ──type attribute──▶ kinds ──tokens of their keys──▶ shapes: USER#… / ORDER#…#…
//	                                                           │ each varying token, through functions, is
//	                                                           │ a field whose values equal it in all items
//	                                                           ▼
//	                        copies, markers ◀──join on keys── shapes with templates ──▶ entities
//	                        index entries, fields and their types, volumes, reads       │
//	                                                                                    ▼
//	                                                    text with comments ──Format──▶ draft
//
// A shape is a set of items whose keys have the same literals in the same places. The shape with the fewest fields in its
// key is the entity itself; one that has the same values under another key is its copy; one that only leads from a value
// to the entity's key is a marker.
//
// # Invariants
//
//	I1  The draft loads, and is in the canonical form.
//	I2  Where a template was found in all items of a shape, rendering it from an item's fields makes the item's key.
//	I3  Everything that is not in the table's description has a comment that says in how many items it was found, or
//	    that it is a guess, and why.
//	I4  The draft is a pure function of the input, whatever the order of the items.
//	I5  The templates of a translation produce the library's keys, byte by byte; keys that they cannot produce are listed in
//	    Translation.Left. test/mappers checks this with the libraries.
//
// Errors mean that the input is not a valid table or model.
package infer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/source"
)

// Input is the input of a draft.
type Input struct {
	// Name is the design's name; "" uses the name of the first table.
	Name   string
	Tables []Table
}

// Table is a table with some of its items.
type Table struct {
	Name    string
	PK, SK  Key // SK has no name if there is none
	Indexes []Index
	TTLAttr string
	Stream  string // a StreamViewType; "" for none
	// Provisioned says whether the table has provisioned capacity.
	Provisioned bool
	// Guessed means that the indexes and the TTL attribute are guessed, because only items are available, and GuessedKey
	// that the primary key is.
	Guessed, GuessedKey bool

	Items []source.Item
	// Total is the approximate number of items in the table; 0 if Items are all.
	Total int64
	// Facets are the facets of a Workbench model.
	Facets []Facet
}

// Key is a key attribute; its type is S, N or B.
type Key struct{ Name, Type string }

// Index is a secondary index.
type Index struct {
	Name   string
	Local  bool
	PK, SK []Key
	// Projection is ALL, KEYS_ONLY or INCLUDE, with Attributes for the last.
	Projection string
	Attributes []string
}

// Draft writes the draft of a design.
func Draft(in Input) ([]byte, error) {
	if len(in.Tables) == 0 {
		return nil, errors.New("there is no table to draft a design from")
	}
	in.Name = cmp.Or(in.Name, pascal(in.Tables[0].Name), "Draft")
	d := &draft{name: in.Name, types: map[string]string{}}
	for i := range in.Tables {
		t := &in.Tables[i]
		if len(t.Items) == 0 && len(t.Facets) == 0 {
			return nil, fmt.Errorf("table %s has no items to draft a design from", t.Name)
		}
		if i := slices.IndexFunc([]Key{t.PK, t.SK}, unnameable); i >= 0 {
			return nil, fmt.Errorf("the key of table %s has the attribute %q: a design cannot have {, }, #, \" or a line break in the name of a key attribute",
				t.Name, []Key{t.PK, t.SK}[i].Name)
		}
		d.tables = append(d.tables, d.analyze(t))
	}
	written := d.text()
	if len(written) > design.MaxTextBytes {
		return nil, fmt.Errorf("the draft has %d bytes, more than the maximum of %d: draft fewer tables at a time", len(written), design.MaxTextBytes)
	}
	text, err := design.Format("draft", []byte(written))
	if err == nil {
		_, err = design.Parse("draft", text)
	}
	if err != nil {
		return nil, fmt.Errorf("the draft does not load, which is a bug in monotable: %w", err)
	}
	return text, nil
}

// draft is a design under construction.
type draft struct {
	name   string
	tables []*tableDraft
	// types are the texts of enumerations and structures by name, in the order of typeNames.
	types     map[string]string
	typeNames []string
	entities  []string // names in use
	patterns  []string // names of reads in use
}

// tableDraft is a table with the findings about it.
type tableDraft struct {
	*Table
	draft    *draft
	rows     []*row
	notes    []string // about omissions
	typeAttr string
	typeNote string
	// synthetic are the attributes that exist only as index keys.
	synthetic map[string]bool
	snake     bool
	names     map[string]string // field names by path
	shapes    []*shape
	entities  []*entity
}

// unnameable reports whether no design can have a key attribute of that name.
func unnameable(k Key) bool { return strings.ContainsAny(k.Name, "{}#\"\n") }

// analyze analyzes a table.
func (d *draft) analyze(in *Table) *tableDraft {
	own := *in
	t := &tableDraft{Table: &own, draft: d, names: map[string]string{}}
	own.Indexes = nil
	for _, x := range in.Indexes {
		keys := slices.Concat(x.PK, x.SK)
		if i := slices.IndexFunc(keys, unnameable); i >= 0 {
			t.notes = append(t.notes, fmt.Sprintf("Omitted: the index %s, because a design cannot have a key attribute %q.", x.Name, keys[i].Name))
			continue
		}
		own.Indexes = append(own.Indexes, x)
	}
	t.snake = snakeNamed(in)
	t.rows = rowsOf(in)
	t.findTypeAttribute()
	t.findShapes()
	for _, s := range t.shapes {
		t.readKeys(s)
	}
	t.nameByFacets()
	t.relate()
	for _, e := range t.entities {
		t.describe(e)
	}
	t.facets()
	t.measure()
	return t
}

// unique reserves and returns a name that is not in use.
func unique(taken *[]string, name string) string {
	out := name
	for n := 2; slices.Contains(*taken, out); n++ {
		out = fmt.Sprintf("%s%d", name, n)
	}
	*taken = append(*taken, out)
	return out
}
