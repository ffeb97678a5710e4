// Package design is the design language: a single-table design for DynamoDB as a value that a program can
// check, explain, cost, document, provision, compile and run.
//
// # Model
//
//	YAML, strict ──Parse──▶ Design ◀──ParseJSON, JSON──▶ the versioned interchange form
//	     ╰─Format─▶ YAML, canonical           Schema ──▶ JSON Schema, for editors
//
// A Design says what is stored and what is asked. Tables are physical truth: names and types of key
// attributes, indexes and their projections. Entities are what the application means: typed fields, and key
// templates that say how an item's keys are made of them. Reads and collections are questions, told by what is
// known and wanted, not by how; writes are transactions told by their steps. Volumes and rates say how much
// there is and how often. Samples, examples, and invariants with flows and races can be run.
//
// A Design is plain data: other objects are referred to by name, and the methods find them. Every object
// knows where it stands in the text (Pos), for findings that point at it.
//
// # Invariants of a Design that Parse or ParseJSON returned
//
//	I1  Every name that refers to a table, entity, index, field, enum, structure, copy, marker, read or collection is
//	    there. (That templates and orders name fields that are there is a finding of the checker, not an error of
//	    the text.)
//	I2  Every template, condition, expression and assignment is parsed, and there wherever its field says that it is not nil.
//	I3  Names are unique within their kind, and the lists stand in the order of the text. Reads, collections,
//	    writes and flows are one kind; so are the copies and markers of an entity.
//	I4  No two of an entity's fields and keys are stored in the same place, key attributes of one name have one
//	    type, and neither volumes nor required structures go round in a circle.
//
// What Parse refuses is what has no meaning. Whether a design is sound (keys that collide, reads that no key
// serves, races) is the business of the checker, which takes any Design.
//
// Texts are bounded (MaxTextBytes, MaxJSONBytes), and no text makes this package panic or take long.
//
// A Design is not changed after Parse returned it and may then be read from any number of goroutines.
//
// # Errors
//
// Parse, ParseJSON, Load and Format return Errors: all that is wrong, each with its place. ParseTemplate, ParseCondition
// and ParseValue return a *SyntaxError.
package design

// Version is the version of the language, and of the interchange form, that this package reads and writes.
const Version = 1

// Design is one design file.
type Design struct {
	Version int    `json:"design"`
	Name    string `json:"name"`
	Doc     string `json:"doc,omitempty"`
	// Go is how generated Go is named.
	Go GoOptions `json:"go,omitzero"`
	// Tenant is the field that owns items: a read that can return two tenants' items needs a reason. "" where
	// the design has no tenants.
	Tenant string `json:"tenant,omitempty"`
	// Person is the field that names a person, whose items can be exported and erased. "" where the design has no persons.
	Person string `json:"person,omitempty"`

	Tables      []*Table      `json:"tables"`
	Enums       []*Enum       `json:"enums,omitempty"`
	Structs     []*Struct     `json:"structs,omitempty"`
	Entities    []*Entity     `json:"entities"`
	Collections []*Collection `json:"collections,omitempty"`
	Reads       []*Read       `json:"reads,omitempty"`
	Writes      []*Write      `json:"writes,omitempty"`
	Flows       []*Flow       `json:"flows,omitempty"`
	Workload    Workload      `json:"workload,omitzero"`
	Samples     []*Sample     `json:"samples,omitempty"`
	Examples    []*Example    `json:"examples,omitempty"`
	Invariants  []*Invariant  `json:"invariants,omitempty"`
	Races       []*Race       `json:"races,omitempty"`

	// Source is the text that the design was read from, YAML or JSON, for findings that show a line of it; nil for a
	// design that was made in another way.
	Source *Source `json:"-"`
}

// GoOptions name the generated package.
type GoOptions struct {
	Package string `json:"package,omitempty"`
}

// Acceptance is a finding that the authors know and accept, with their reason.
type Acceptance struct {
	Rule   string `json:"rule"` // ST301
	Reason string `json:"reason"`
	Pos    Pos    `json:"-"`
}

// Entity returns the entity of that name, nil where there is none.
func (d *Design) Entity(name string) *Entity {
	return find(d.Entities, func(e *Entity) bool { return e.Name == name })
}

// Table returns the table of that name, nil where there is none.
func (d *Design) Table(name string) *Table {
	return find(d.Tables, func(t *Table) bool { return t.Name == name })
}

// Enum returns the enumeration of that name, nil where there is none.
func (d *Design) Enum(name string) *Enum {
	return find(d.Enums, func(e *Enum) bool { return e.Name == name })
}

// Struct returns the structure of that name, nil where there is none.
func (d *Design) Struct(name string) *Struct {
	return find(d.Structs, func(s *Struct) bool { return s.Name == name })
}

// Collection returns the collection of that name, nil where there is none.
func (d *Design) Collection(name string) *Collection {
	return find(d.Collections, func(c *Collection) bool { return c.Name == name })
}

// Read returns the read of that name, nil where there is none.
func (d *Design) Read(name string) *Read {
	return find(d.Reads, func(r *Read) bool { return r.Name == name })
}

// Write returns the write of that name, nil where there is none.
func (d *Design) Write(name string) *Write {
	return find(d.Writes, func(w *Write) bool { return w.Name == name })
}

// TableOf returns the table that an entity's items are in.
func (d *Design) TableOf(e *Entity) *Table { return d.Table(e.Table) }

func find[T any](list []*T, is func(*T) bool) *T {
	for _, x := range list {
		if is(x) {
			return x
		}
	}
	return nil
}
