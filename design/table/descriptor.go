package table

import (
	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// The descriptors of a design, which generated code is made of. Package schema documents their fields.

type (
	// Table is a table that a design describes.
	Table = schema.Table
	// Attribute is a key attribute.
	Attribute = schema.Attribute
	// Entity is a kind of items: how they are stored, and what belongs to them.
	Entity = schema.Entity
	// Field is a field of an entity or structure.
	Field = schema.Field
	// Type is the type of a field.
	Type = schema.Type
	// Kind is the sort of value that a field has; the kinds are those of package design.
	Kind = schema.Kind
	// KeyAttribute is an attribute of a key with the Template of its value: literals and fields with functions.
	KeyAttribute = schema.KeyAttribute
	// Template is what a key attribute is made of: literals and fields with functions.
	Template = schema.Template
	// Part is a literal of a template, or a field with its functions.
	Part = schema.Part
	// Func is a function that a field goes through in a template.
	Func = schema.Func
	// Entry is a place in an index.
	Entry = schema.Entry
	// Copy is a further item with some of an entity's fields, kept equal in the same transaction.
	Copy = schema.Copy
	// Marker is an item whose key makes values unique.
	Marker = schema.Marker
	// Count is a field of another entity that counts items, or sums a field of them.
	Count = schema.Count
	// TTL says which field has the time at which an item expires, and when that is where writes do not set it.
	TTL = schema.TTL
	// Condition is a condition in DynamoDB's grammar.
	Condition = schema.Condition
	// ConditionParam is a value that a condition is asked with.
	ConditionParam = schema.ConditionParam

	// Read is a pattern that finds items of one entity.
	Read = schema.Read
	// Place is where a read finds its items.
	Place = schema.Place
	// PlaceKind says what a place is: the table's key, a copy, an index entry or a marker.
	PlaceKind = schema.PlaceKind
	// Comparison says how a request bounds a sort key attribute.
	Comparison = schema.Comparison
	// SortCondition bounds one sort key attribute.
	SortCondition = schema.SortCondition
	// Collection is a pattern that finds items of several entities in one partition.
	Collection = schema.Collection
	// Member is an entity of a collection.
	Member = schema.Member
	// Found is an entity's items in the response of a collection.
	Found = schema.Found
	// Write is a pattern that changes items as a whole or not at all.
	Write = schema.Write
	// Param is what a write is given beside the fields of its items.
	Param = schema.Param
	// Action is what a step does to its item.
	Action = schema.Action
	// Step is one action of a write on one item, or on one for each line.
	Step = schema.Step
	// Assignment gives a field a value.
	Assignment = schema.Assignment
	// Term is a part of a value: values are sums of terms.
	Term = schema.Term
	// TermKind says where a term has its value from.
	TermKind = schema.TermKind
	// Else is an error of a refused write, with the condition under which it is the one.
	Else = schema.Else
	// Idempotent says how a repeated write is recognised.
	Idempotent = schema.Idempotent
	// Person says how the items of a person are exported and erased.
	Person = schema.Person
	// PersonPart is a way to items of a person.
	PersonPart = schema.PersonPart
	// Kept says which items of a person are not deleted.
	Kept = schema.Kept
)

// What patterns take and return.

type (
	// Item is an item as it is stored: values by attribute.
	Item = schema.Item
	// Values are an entity's values by the names of its fields, or a pattern's input by the names of what it takes. A value
	// is in its stored form; an absent one is not there.
	Values = schema.Values
	// Input is what a pattern is asked with.
	Input = schema.Input
	// Outcome is what a write did.
	Outcome = schema.Outcome
	// Record is an item to be loaded.
	Record = schema.Record
	// Cursor continues a list behind a page; "" is the beginning, and the end.
	Cursor = cursor.Cursor
	// ValueError is a value that is none of its field's type.
	ValueError = schema.ValueError
	// Refusal says which step of a write was refused and what it found.
	Refusal = schema.Refusal //nolint:errname // what is refused has an error of its own, which it wraps
	// UnfinishedError says which lines of a batch are not known to be done. All others are, and a line may be given again: what a
	// batch does twice is as if it were done once.
	UnfinishedError = schema.UnfinishedError
)

// The places.
const (
	KeyPlace    = schema.KeyPlace
	CopyPlace   = schema.CopyPlace
	EntryPlace  = schema.EntryPlace
	MarkerPlace = schema.MarkerPlace
)

// The comparisons.
const (
	Equal      = schema.Equal
	BeginsWith = schema.BeginsWith
	Between    = schema.Between
	Within     = schema.Within
)

// The actions.
const (
	Create = schema.Create
	Put    = schema.Put
	Update = schema.Update
	Upsert = schema.Upsert
	Delete = schema.Delete
	Check  = schema.Check
)

// The kinds of terms.
const (
	ConstantTerm = schema.ConstantTerm
	InputTerm    = schema.InputTerm
	LineTerm     = schema.LineTerm
	FieldTerm    = schema.FieldTerm
	NowTerm      = schema.NowTerm
	NewIDTerm    = schema.NewIDTerm
	SumTerm      = schema.SumTerm
	CountTerm    = schema.CountTerm
)

// The errors that patterns fail with; test for them with errors.Is.
var (
	// ErrNotFound is for an item that is not there, or is somebody else's.
	ErrNotFound = schema.ErrNotFound
	// ErrExists is for an item, or a unique value, that is there already.
	ErrExists = schema.ErrExists
	// ErrConflict is for a write that met other writes of the same items at each of its attempts.
	ErrConflict = schema.ErrConflict
	// ErrCursor is for a cursor that is damaged, of an earlier release, or of another pattern, input, owner or caller.
	ErrCursor = schema.ErrCursor
	// ErrReused is for a request key that was used with another request.
	ErrReused = schema.ErrReused
	// ErrRefused is for a condition that does not hold and for which the design declares no error.
	ErrRefused = schema.ErrRefused
	// ErrOverlap is for a Tx of writes of which two touch the same item. A transaction does with an item one thing.
	ErrOverlap = schema.ErrOverlap
	// ErrLines is for a write with no lines, with more than it takes, or with two lines for one item; and for a read with more keys than
	// it takes.
	ErrLines = schema.ErrLines
)

// Recognize finds the entity that an item stands for, with its values: nil if it is none of them. Copies and markers are
// recognized as their entity's, at their place.
func Recognize(entities []*Entity, it Item) (*Entity, Place, Values) {
	return schema.Recognize(entities, it)
}

// Items are an item, its copies and markers, as a record is stored.
func Items(e *Entity, v Values) ([]Item, error) { return schema.Items(e, v) }
