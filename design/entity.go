package design

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Entity is a kind of item.
type Entity struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Table is the name of the table that holds the items.
	Table string `json:"table"`
	// TypeValue is the value of the table's TypeAttr; "" if the table has none.
	TypeValue string   `json:"typeValue,omitempty"`
	Fields    []*Field `json:"fields"`
	Key       Key      `json:"key"`
	// Copies are additional items with some of the fields, kept in sync in the same transaction.
	Copies []*Copy `json:"copies,omitempty"`
	// Entries are the index entries of an item or its copies.
	Entries []*Entry `json:"entries,omitempty"`
	// Unique are marker items that make combinations of fields unique.
	Unique   []*Marker  `json:"unique,omitempty"`
	Counters []*Counter `json:"counters,omitempty"`
	// Refs are fields that refer to items of other entities.
	Refs []Ref `json:"refs,omitempty"`
	// Snapshots are fields that hold the value of another entity's field at the time of writing, and intentionally do not
	// follow it.
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	TTL       *TTL       `json:"ttl,omitempty"`
	// Personal says what erasing a person does to items that identify them outside of the person's own partition.
	Personal []*Fate `json:"personal,omitempty"`
	Volume   Volume  `json:"volume,omitzero"`
	// Duplicates names an entity that this one repeats without synchronization; the checker reports the consequences.
	Duplicates string       `json:"duplicates,omitempty"`
	Accept     []Acceptance `json:"accept,omitempty"`
	Pos        Pos          `json:"-"`
}

// Field returns the field of that name, or nil if there is none.
func (e *Entity) Field(name string) *Field {
	return find(e.Fields, func(f *Field) bool { return f.Name == name })
}

// Marker returns the marker of that name, or nil if there is none.
func (e *Entity) Marker(name string) *Marker {
	return find(e.Unique, func(m *Marker) bool { return m.Name == name })
}

// Copy returns the copy of that name, or nil if there is none.
func (e *Entity) Copy(name string) *Copy {
	return find(e.Copies, func(c *Copy) bool { return c.Name == name })
}

// Entry returns the first entry of the item itself in an index, nil if it has none.
func (e *Entity) Entry(index string) *Entry {
	return find(e.Entries, func(x *Entry) bool { return x.Index == index && x.Of == "" })
}

// Several returns the alternative entries of an item, or of a copy, in an index, of which at most one applies at a time.
// It returns nil if there is only one entry.
func (e *Entity) Several(index, of string) []*Entry {
	var out []*Entry
	for _, x := range e.Entries {
		if x.Index == index && x.Of == of {
			out = append(out, x)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// Key has the templates that define an item's primary key.
type Key struct {
	PK *Template `json:"pk"`
	SK *Template `json:"sk,omitempty"` // nil in a table without sort key
}

// Copy is a second item with fields of an entity, under a different key.
type Copy struct {
	Name string `json:"name"`
	Key  Key    `json:"key"`
	// Fields are the fields of the copy; All means every field.
	All    bool     `json:"all,omitempty"`
	Fields []string `json:"fields,omitempty"`
	Pos    Pos      `json:"-"`
}

// Entry is an item's entry in an index. Without templates, the index keys are fields of the entity themselves (a
// multi-attribute key, or a plain attribute).
//
// An entity may have several entries in an index, each with a name and a condition. No two conditions hold at the same
// time: the one that holds determines the item's key in the index.
type Entry struct {
	Index string `json:"index"`
	// Name distinguishes several entries in the same index; "" if there is only one.
	Name string `json:"name,omitempty"`
	// Of is the copy that has the entry; "" for the entity's own item.
	Of string      `json:"of,omitempty"`
	PK []*Template `json:"pk"`
	SK []*Template `json:"sk,omitempty"`
	// Where makes the index sparse: an item has the entry only while the condition holds. nil means always.
	Where *Condition `json:"where,omitempty"`
	// Share is the share of items that have the entry: 0.1 is one in ten. 0 means not declared.
	Share float64 `json:"share,omitempty"`
	Pos   Pos     `json:"-"`
}

// Place returns the name of the entry for reads: GSI1, or GSI1.open if there are several.
func (x *Entry) Place() string {
	if x.Name == "" {
		return x.Index
	}
	return x.Index + "." + x.Name
}

// Marker is an item whose existence makes a combination of fields unique: it is created, and must not exist yet, in the
// transaction that creates the entity's item, and has the entity's key fields.
type Marker struct {
	Name string `json:"name"`
	Key  Key    `json:"key"`
	Pos  Pos    `json:"-"`
}

// Counter is a field of one entity that counts or sums items of another, maintained in their transactions.
type Counter struct {
	Field string `json:"field"` // of this entity
	Of    string `json:"of"`    // the entity that is counted
	// Sum is the field of the counted entity to sum; "" counts items.
	Sum string `json:"sum,omitempty"`
	// By is the reference from a counted item to the item that counts it; "" if the counted item has that item's key in
	// fields with the same names.
	By    string     `json:"by,omitempty"`
	Where *Condition `json:"where,omitempty"`
	Pos   Pos        `json:"-"`
}

// Ref declares that a field has the value of a key field of another entity, or of one of several entities, and so refers
// to its item. The other fields of that key have the same names here.
type Ref struct {
	Field string      `json:"field"`
	To    []RefTarget `json:"to"`
	Pos   Pos         `json:"-"`
}

// RefTarget is the key field that a Ref refers to.
type RefTarget struct {
	Entity string `json:"entity"`
	Field  string `json:"field"`
	Pos    Pos    `json:"-"`
}

// Snapshot declares that a field holds an earlier value of another entity's field.
type Snapshot struct {
	Field  string `json:"field"`
	Entity string `json:"entity"`
	From   string `json:"from"`
	Pos    Pos    `json:"-"`
}

// TTL says when items expire. In JSON, After is afterSeconds.
type TTL struct {
	Field string
	After time.Duration // after creation, in whole seconds; 0 where writes set the field
	Pos   Pos
}

type ttlForm struct {
	Field        string `json:"field"`
	AfterSeconds int    `json:"afterSeconds,omitempty"`
	Pos          Pos    `json:"-"`
}

func (f ttlForm) ttl() TTL { return TTL{f.Field, time.Duration(f.AfterSeconds) * time.Second, f.Pos} }

// MarshalJSON writes the seconds.
func (t *TTL) MarshalJSON() ([]byte, error) {
	return json.Marshal(ttlForm{Field: t.Field, AfterSeconds: int(t.After / time.Second)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *TTL) UnmarshalJSON(data []byte) error {
	var f ttlForm
	err := json.Unmarshal(data, &f)
	*t = f.ttl()
	return err
}

func (t *TTL) fromNode(d *syntax.Decoder, n *syntax.Node) {
	var f ttlForm
	d.Value(n, reflect.ValueOf(&f).Elem())
	*t = f.ttl()
}

// Volume declares the number and size of items. Zero means not declared.
type Volume struct {
	Count float64 `json:"count,omitempty"` // in all, where Per is ""
	// Per is the entity of which each item has Typical, and at most Max, of these.
	Per     string  `json:"per,omitempty"`
	Typical float64 `json:"typical,omitempty"`
	Max     float64 `json:"max,omitempty"`
	// Hottest is the share of calls that goes to the busiest item of Per or, without Per, to the busiest item; 0 means
	// not declared. The busiest item of Per is assumed to have Max.
	Hottest float64 `json:"hottest,omitempty"`
	Size    int     `json:"size,omitempty"`    // bytes, typical
	MaxSize int     `json:"maxSize,omitempty"` // bytes
	Pos     Pos     `json:"-"`
}
