package table

import (
	"github.com/monotable/monotable/design/table/internal/cursor"
	"github.com/monotable/monotable/design/table/internal/schema"
)

// The descriptors of a design, for generated code. Package schema documents their fields.

type (
	// Table is a table that a design describes.
	Table = schema.Table
	// Attribute is a key attribute.
	Attribute = schema.Attribute
	// Entity is a kind of item: how it is stored, and its copies, markers and index entries.
	Entity = schema.Entity
	// Field is a field of an entity or structure.
	Field = schema.Field
	// Type is the type of a field.
	Type = schema.Type
	// Kind is the kind of a field's value; the kinds are those of package design.
	Kind = schema.Kind
	// KeyAttribute is an attribute of a key with the Template of its value: literals and fields with functions.
	KeyAttribute = schema.KeyAttribute
	// Template describes how a key attribute is built: literals, and fields with functions.
	Template = schema.Template
	// Part is a literal of a template, or a field with its functions.
	Part = schema.Part
	// Func is a function applied to a field in a template.
	Func = schema.Func
	// Entry is an entry in an index.
	Entry = schema.Entry
	// Copy is an additional item with some of an entity's fields, kept in sync in the same transaction.
	Copy = schema.Copy
	// Marker is an item whose key enforces unique values.
	Marker = schema.Marker
	// Count is a field of another entity that counts items or sums one of their fields.
	Count = schema.Count
	// TTL says which field has an item's expiry time, and what it is if writes do not set it.
	TTL = schema.TTL
	// Condition is a condition in DynamoDB's grammar.
	Condition = schema.Condition
	// ConditionParam is a value used by a condition.
	ConditionParam = schema.ConditionParam

	// Read is a pattern that finds items of one entity.
	Read = schema.Read
	// Place is where a read finds its items.
	Place = schema.Place
	// PlaceKind is the kind of a place: the table's key, a copy, an index entry or a marker.
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
	// Write is a pattern that changes items atomically.
	Write = schema.Write
	// Param is an input of a write in addition to the fields of its items.
	Param = schema.Param
	// Action is the operation of a step on its item.
	Action = schema.Action
	// Step is an action of a write on one item, or on one item per line.
	Step = schema.Step
	// Assignment gives a field a value.
	Assignment = schema.Assignment
	// Term is a part of a value: values are sums of terms.
	Term = schema.Term
	// TermKind is the source of a term's value.
	TermKind = schema.TermKind
	// Else is an error of a failed write, with the condition that selects it.
	Else = schema.Else
	// Idempotent declares how retries of a write are recognised.
	Idempotent = schema.Idempotent
	// Person describes how the items of a person are exported and erased.
	Person = schema.Person
	// PersonPart is a way to reach items of a person.
	PersonPart = schema.PersonPart
	// Kept says which items of a person are not deleted.
	Kept = schema.Kept
)

// What patterns take and return.

type (
	// Item is a stored item: values by attribute.
	Item = schema.Item
	// Values are an entity's values by field name, or a pattern's input by name. Values are in stored form; absent values have no
	// entry.
	Values = schema.Values
	// Input has the inputs of a pattern.
	Input = schema.Input
	// Outcome is the result of a write.
	Outcome = schema.Outcome
	// Record is an item to be loaded.
	Record = schema.Record
	// Cursor continues a list after a page; "" is the start, and the end.
	Cursor = cursor.Cursor
	// ValueError reports a value of the wrong type for its field.
	ValueError = schema.ValueError
	// Refusal says which step of a write failed its condition, and which item it found.
	Refusal = schema.Refusal //nolint:errname // what is refused has an error of its own, which it wraps
	// UnfinishedError lists the lines of a batch that may not have been written. All others have been. Lines can be
	// retried safely, since batches are idempotent.
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
	// ErrNotFound means that the item does not exist or has another owner.
	ErrNotFound = schema.ErrNotFound
	// ErrExists means that the item, or a unique value, already exists.
	ErrExists = schema.ErrExists
	// ErrConflict means that every attempt of a write conflicted with other writes of the same items.
	ErrConflict = schema.ErrConflict
	// ErrCursor means that a cursor is damaged, from an earlier release, or for another pattern, input, owner or caller.
	ErrCursor = schema.ErrCursor
	// ErrReused means that an idempotency key was already used with a different request.
	ErrReused = schema.ErrReused
	// ErrRefused means that a condition failed and the design declares no error for it.
	ErrRefused = schema.ErrRefused
	// ErrOverlap means that two writes of a Tx touch the same item. A transaction allows only one action per item.
	ErrOverlap = schema.ErrOverlap
	// ErrLines means that a write has no lines, too many lines, or two lines for the same item, or that a read has too
	// many keys.
	ErrLines = schema.ErrLines
)

// Recognize returns the entity of an item and its values; nil if it matches none. Copies and markers are recognized as
// items of their entity, with their place.
func Recognize(entities []*Entity, it Item) (*Entity, Place, Values) {
	return schema.Recognize(entities, it)
}

// Items returns the item, copies and markers that store a record.
func Items(e *Entity, v Values) ([]Item, error) { return schema.Items(e, v) }
