// Package schema has the descriptors of a design (tables, entities, patterns) as plain data, and everything that follows
// from them and a value alone: whether a value has a type, the keys and items of an entity's values, the entity of an
// item, and whether a condition holds.
//
// It represents values in two forms: Values by field name, and an Item by attribute, as DynamoDB stores it. It sends no
// requests. Its exported methods are for the packages below design/table, which re-exports the types for generated code.
//
// Descriptors are immutable; all functions are safe for concurrent use.
package schema

import (
	"cmp"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Table is a table that a design describes.
type Table struct {
	Name     string // in the design
	Physical string // may have placeholders: shop-{stage}
	PK       Attribute
	SK       Attribute // without a name if the table has no sort key
	// TypeAttr holds an item's entity, TTLAttr its expiry time; "" if there is none.
	TypeAttr, TTLAttr string
}

// Attribute is a key attribute.
type Attribute struct {
	Name string
	Type types.ScalarAttributeType
}

// Entity is a kind of item: how it is stored, and its copies, markers and index entries.
type Entity struct {
	Name  string
	Table *Table
	// TypeValue is the value of the table's TypeAttr.
	TypeValue string
	Fields    []Field
	// Key is the primary key: one KeyAttribute, or two.
	Key     []KeyAttribute
	Entries []Entry // of the item itself
	Copies  []Copy
	Markers []Marker
	// Counts are the counters, of other entities, that count or sum items of this one.
	Counts []Count
	TTL    *TTL
	// NotFound is the error of an update of a missing item, and Exists that of a creation of an existing one; they wrap
	// ErrNotFound and ErrExists.
	NotFound, Exists error
}

// Field is a field of an entity or structure.
type Field struct {
	Name string
	// Path is its location in the item: an attribute, followed by steps into maps.
	Path     []string
	Type     Type
	Optional bool
	// MaxBytes bounds the text that the value has in keys; 0 does not.
	MaxBytes int
	// MinBytes is the least that a text has, and what lower, fold and slug make of it in keys.
	MinBytes int
	// Counter is set for a field that only writes of counted entities change: it starts at 0.
	Counter bool
}

// Type is the type of a field.
type Type struct {
	Kind Kind
	// Enum has the values of an enum, Fields the fields of a struct (a pointer, because structs may be recursive), Elem the
	// element type of a list, set or map.
	Enum   []string
	Fields *[]Field
	Elem   *Type
}

// Kind is the kind of a field's value; the kinds are those of package design.
type Kind string

// KeyAttribute is an attribute of a key, with its template.
type KeyAttribute struct {
	Attribute
	Template Template
	// Field is the field stored in this attribute itself, so nothing is written in addition; "" if the attribute exists only for
	// the key.
	Field string
}

// Template is literals and fields by turns.
type Template []Part

// Part is a literal, or a field with its functions.
type Part struct {
	Literal string // where Field is ""
	Field   string
	Funcs   []Func
}

// Func is a function of templates with its argument; Apply says what each does.
type Func struct {
	Name, Arg string
}

// Entry is a place in an index: partition key attributes, then sort key attributes. Of several in an index, which have
// names, never do the conditions of two hold, so that an item is in one of them at most.
type Entry struct {
	Index  string
	Name   string // "" if there is one in the index
	PK, SK []KeyAttribute
	// Where is the condition under which an item has the entry; nil is always.
	Where *Condition
}

// Copy is a further item with fields of an entity.
type Copy struct {
	Name string
	Key  []KeyAttribute
	// Fields are the fields of the copy, in addition to those of its key; nil means all.
	Fields  []string
	Entries []Entry
}

// Marker is an item whose existence makes the fields of its key unique. It contains the entity's key fields and those of its
// own key, and is deleted with the item.
type Marker struct {
	Name string
	Key  []KeyAttribute
	// Taken is the error of a write whose marker already exists; it wraps ErrExists.
	Taken error
}

// Count is a counter that counts, or sums, an entity's items.
type Count struct {
	// Entity has the counter: its key fields equal the counted item's fields of the same names, except for those in By.
	Entity *Entity
	Field  string
	Sum    string // the counted entity's field; "" counts items
	// By maps the key fields of Entity to fields of the counted item, if the names differ.
	By    map[string]string
	Where *Condition
}

// KeyFields are the counted item's fields that identify the item with the counter.
func (c *Count) KeyFields() []string { return Each(FieldsOf(c.Entity.Key), c.own) }

// Owner are the key fields of the item which has the counter, out of a counted item's values; nil if the item lacks one of them,
// an optional reference, and so is not counted.
func (c *Count) Owner(v Values) Values {
	out := Values{}
	for _, name := range FieldsOf(c.Entity.Key) {
		value := v[c.own(name)]
		if value == nil {
			return nil
		}
		out[name] = value
	}
	return out
}

func (c *Count) own(field string) string { return cmp.Or(c.By[field], field) }

// TTL is when items go by themselves.
type TTL struct {
	Field string
	After time.Duration // after creation; 0 where writes set the field
}

// Condition is a condition in DynamoDB's grammar.
type Condition struct {
	Expression string
	// Names maps aliases to attributes, each a single step.
	Names map[string]string
	// Params maps placeholders to inputs: "total", or "line.price" for a value of the line. The input now, if the write or read
	// has none with that name, is the time of the call.
	Params []ConditionParam
	// Constants maps placeholders to literals.
	Constants map[string]types.AttributeValue
}

// ConditionParam is a placeholder and its input.
type ConditionParam struct {
	Placeholder, Input string
	// Type is the required type of the input.
	Type Type
}

// Inner is a structure's field of a name, a map's element or a list's; nil if the type has none.
func (t Type) Inner(name string) *Field {
	switch _, element := Index(name); {
	case element && t.Kind == KindList && t.Elem != nil, t.Kind == KindMap && t.Elem != nil:
		return &Field{Name: name, Path: []string{name}, Type: *t.Elem, Optional: true}
	case t.Kind == KindStruct && t.Fields != nil:
		for i := range *t.Fields {
			if f := &(*t.Fields)[i]; f.Name == name {
				return f
			}
		}
	default:
	}
	return nil
}
