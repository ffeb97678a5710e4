// Package design is the design language: a single-table design for DynamoDB as a value that a program can
// check, explain, cost, document, provision, compile and run.
//
// # Model
//
//	YAML, strict ──Parse──▶ Design ◀──ParseJSON, JSON──▶ the versioned interchange form
//	     ╰─Format─▶ YAML, canonical           Schema ──▶ JSON Schema, for editors
//
// A Design describes the stored data and its access patterns. Tables are physical: names and types of key attributes,
// indexes and their projections. Entities are logical: typed fields, and templates that define an item's keys. Reads and
// collections declare which fields are known and what is wanted, not how to get it; writes are transactions, declared
// step by step. Volumes and rates state the amount of data and the load. Samples, examples, and invariants with flows and
// races can be run.
//
// A Design is plain data: objects refer to each other by name, and methods look them up. Every object has its position in
// the text (Pos), to which findings point.
//
// # Invariants of a Design returned by Parse or ParseJSON
//
//	I1  Every reference to a table, entity, index, field, enum, struct, copy, marker, read or collection resolves.
//	    (Unknown fields in templates and orders are findings of the checker instead of errors
//	    in the text.)
//	I2  Every template, condition, expression and assignment is parsed, and non-nil wherever its field says so.
//	I3  Names are unique within their kind, and lists are in the order of the text. Reads, collections,
//	    writes and flows are one kind; so are the copies and markers of an entity.
//	I4  No two fields or keys of an entity are stored in the same place, key attributes with the same name have the same
//	    type, and neither volumes nor required structs are cyclic.
//
// Parse only rejects text without a meaning. Whether a design is sound (colliding keys, reads that no key can serve,
// races) is decided by the checker, which accepts any Design.
//
// The size of texts is limited (MaxTextBytes, MaxJSONBytes), and no text makes this package panic or run for long.
//
// A Design does not change after Parse returns it, and is safe for concurrent reads.
//
// # Errors
//
// Parse, ParseJSON, Load and Format return Errors: all errors in the text, each with its position. ParseTemplate,
// ParseCondition and ParseValue return a *SyntaxError.
package design

// Version is the version of the language and of the interchange format that this package reads and writes.
const Version = 1

// Design is one design file.
type Design struct {
	Version int    `json:"design"`
	Name    string `json:"name"`
	Doc     string `json:"doc,omitempty"`
	// Go has options for generated Go code.
	Go GoOptions `json:"go,omitzero"`
	// Tenant is the field that identifies the owner of an item: a read that can return items of two tenants needs a
	// reason. "" if the design has no tenants.
	Tenant string `json:"tenant,omitempty"`
	// Person is the field that identifies a person, whose items can be exported and erased. "" if the design has no persons.
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

	// Source is the YAML or JSON text of the design, for findings that quote it; nil if the design was created in another
	// way.
	Source *Source `json:"-"`
}

// GoOptions name the generated package.
type GoOptions struct {
	Package string `json:"package,omitempty"`
}

// Acceptance is a finding that the authors accept, with their reason.
type Acceptance struct {
	Rule   string `json:"rule"` // ST301
	Reason string `json:"reason"`
	Pos    Pos    `json:"-"`
}

// Entity returns the entity of that name, or nil if there is none.
func (d *Design) Entity(name string) *Entity {
	return find(d.Entities, func(e *Entity) bool { return e.Name == name })
}

// Table returns the table of that name, or nil if there is none.
func (d *Design) Table(name string) *Table {
	return find(d.Tables, func(t *Table) bool { return t.Name == name })
}

// Enum returns the enumeration of that name, or nil if there is none.
func (d *Design) Enum(name string) *Enum {
	return find(d.Enums, func(e *Enum) bool { return e.Name == name })
}

// Struct returns the structure of that name, or nil if there is none.
func (d *Design) Struct(name string) *Struct {
	return find(d.Structs, func(s *Struct) bool { return s.Name == name })
}

// Collection returns the collection of that name, or nil if there is none.
func (d *Design) Collection(name string) *Collection {
	return find(d.Collections, func(c *Collection) bool { return c.Name == name })
}

// Read returns the read of that name, or nil if there is none.
func (d *Design) Read(name string) *Read {
	return find(d.Reads, func(r *Read) bool { return r.Name == name })
}

// Write returns the write of that name, or nil if there is none.
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
