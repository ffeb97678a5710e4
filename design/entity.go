package design

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/monotable/monotable/design/internal/syntax"
)

// Entity is a kind of thing that items stand for.
type Entity struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	// Table is the name of the table that holds the items.
	Table string `json:"table"`
	// TypeValue is what the table's TypeAttr holds; "" where the table has none.
	TypeValue string   `json:"typeValue,omitempty"`
	Fields    []*Field `json:"fields"`
	Key       Key      `json:"key"`
	// Copies are further items with some of the fields, kept equal in the same transaction.
	Copies []*Copy `json:"copies,omitempty"`
	// Entries are the places that an item, or a copy of it, has in indexes.
	Entries []*Entry `json:"entries,omitempty"`
	// Unique are marker items that make a combination of fields unique.
	Unique   []*Marker  `json:"unique,omitempty"`
	Counters []*Counter `json:"counters,omitempty"`
	// Refs are fields that name items of other entities.
	Refs []Ref `json:"refs,omitempty"`
	// Snapshots are fields that hold what another entity's field was at the time, and stay so on purpose.
	Snapshots []Snapshot `json:"snapshots,omitempty"`
	TTL       *TTL       `json:"ttl,omitempty"`
	// Personal says what erasing a person does to the items that name them, where the key does not tell.
	Personal []*Fate `json:"personal,omitempty"`
	Volume   Volume  `json:"volume,omitzero"`
	// Duplicates names an entity that this one repeats by hand, as documents often do; the checker says what that
	// costs.
	Duplicates string       `json:"duplicates,omitempty"`
	Accept     []Acceptance `json:"accept,omitempty"`
	Pos        Pos          `json:"-"`
}

// Field returns the field of that name, nil where there is none.
func (e *Entity) Field(name string) *Field {
	return find(e.Fields, func(f *Field) bool { return f.Name == name })
}

// Marker returns the marker of that name, nil where there is none.
func (e *Entity) Marker(name string) *Marker {
	return find(e.Unique, func(m *Marker) bool { return m.Name == name })
}

// Copy returns the copy of that name, nil where there is none.
func (e *Entity) Copy(name string) *Copy {
	return find(e.Copies, func(c *Copy) bool { return c.Name == name })
}

// Entry returns the first entry of the item itself in an index, nil where it has none.
func (e *Entity) Entry(index string) *Entry {
	return find(e.Entries, func(x *Entry) bool { return x.Index == index && x.Of == "" })
}

// Several are the entries that an item, or a copy of it, has in an index by turns: of each pair one at most is there. It is nil where
// there is one entry.
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

// Key says how the primary key of an item is made of its fields.
type Key struct {
	PK *Template `json:"pk"`
	SK *Template `json:"sk,omitempty"` // nil in a table without sort key
}

// Copy is a second item with fields of an entity, under another key.
type Copy struct {
	Name string `json:"name"`
	Key  Key    `json:"key"`
	// Fields are the fields that the copy holds; All is every field.
	All    bool     `json:"all,omitempty"`
	Fields []string `json:"fields,omitempty"`
	Pos    Pos      `json:"-"`
}

// Entry is the place of an item in an index. Without templates the index keys are fields of the entity as they are
// (a multi-attribute key, or an attribute that exists for its own sake).
//
// An item may have several entries in an index, each with a name and a condition, of which never two hold: the one that does
// says what the item's keys there are.
type Entry struct {
	Index string `json:"index"`
	// Name tells several entries in one index apart; "" where there is one.
	Name string `json:"name,omitempty"`
	// Of is the copy whose item has the entry; "" for the entity's own.
	Of string      `json:"of,omitempty"`
	PK []*Template `json:"pk"`
	SK []*Template `json:"sk,omitempty"`
	// Where makes the index sparse: an item has the entry only while the condition holds. nil is always.
	Where *Condition `json:"where,omitempty"`
	// Share is the part of the items that have the entry, where not all do: 0.1 is one in ten. 0 is not told.
	Share float64 `json:"share,omitempty"`
	Pos   Pos     `json:"-"`
}

// Place is the entry as reads name it: GSI1, or GSI1.open of several.
func (x *Entry) Place() string {
	if x.Name == "" {
		return x.Index
	}
	return x.Index + "." + x.Name
}

// Marker is an item whose existence makes a combination of fields unique: it is put, if it does not exist, in the
// transaction that creates the entity, and holds the entity's key fields.
type Marker struct {
	Name string `json:"name"`
	Key  Key    `json:"key"`
	Pos  Pos    `json:"-"`
}

// Counter is a number on one entity that counts, or sums, items of another: kept in their transactions.
type Counter struct {
	Field string `json:"field"` // of this entity
	Of    string `json:"of"`    // the entity that is counted
	// Sum is the counted entity's field that is summed; "" counts items.
	Sum string `json:"sum,omitempty"`
	// By is the reference by which a counted item tells the item that counts it; "" where it has that item's key in fields of the same
	// names.
	By    string     `json:"by,omitempty"`
	Where *Condition `json:"where,omitempty"`
	Pos   Pos        `json:"-"`
}

// Ref says that a field has the value of a field of another entity's key, and so names its item: one of several entities, where there
// are several. The other fields of that key have the same names here.
type Ref struct {
	Field string      `json:"field"`
	To    []RefTarget `json:"to"`
	Pos   Pos         `json:"-"`
}

// RefTarget is the field of a key that a Ref has the value of.
type RefTarget struct {
	Entity string `json:"entity"`
	Field  string `json:"field"`
	Pos    Pos    `json:"-"`
}

// Snapshot says that a field holds another entity's field as it was.
type Snapshot struct {
	Field  string `json:"field"`
	Entity string `json:"entity"`
	From   string `json:"from"`
	Pos    Pos    `json:"-"`
}

// TTL is when items go by themselves. In JSON, After is afterSeconds.
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

// Volume is how many items there are, and how large. Zero is not told.
type Volume struct {
	Count float64 `json:"count,omitempty"` // in all, where Per is ""
	// Per is the entity that each has Typical, and at most Max, of these.
	Per     string  `json:"per,omitempty"`
	Typical float64 `json:"typical,omitempty"`
	Max     float64 `json:"max,omitempty"`
	// Hottest is the part of all calls about these that goes to the busiest of Per, or, without Per, to the busiest item; 0 is not
	// told. The busiest of Per is taken to have Max.
	Hottest float64 `json:"hottest,omitempty"`
	Size    int     `json:"size,omitempty"`    // bytes, typical
	MaxSize int     `json:"maxSize,omitempty"` // bytes
	Pos     Pos     `json:"-"`
}
