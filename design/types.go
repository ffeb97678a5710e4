package design

import "github.com/monotable/monotable/design/internal/syntax"

// Kind is the kind of a field's value: its meaning, how it is stored, and its possible texts in a key.
type Kind string

// The kinds. The last column describes the value's text in a key.
const (
	KindID      Kind = "id"      // S: A-Z a-z 0-9 . _ : @ - , given by the caller
	KindUUID    Kind = "uuid"    // S: 36 characters, lower case
	KindULID    Kind = "ulid"    // S: 26 characters of Crockford's base 32, which sort by time
	KindKSUID   Kind = "ksuid"   // S: 27 characters of base 62, which sort by time
	KindSlug    Kind = "slug"    // S: a-z 0-9 and -
	KindEmail   Kind = "email"   // S: an address; A-Z unless |lower
	KindText    Kind = "text"    // S: any text
	KindSecret  Kind = "secret"  // S: any text; must not be in an index, a copy or a log
	KindInt     Kind = "int"     // N: digits, with a sign; sorts only with |pad(n)
	KindDecimal Kind = "decimal" // N: digits with a point
	KindMoney   Kind = "money"   // N: a whole number of the currency's smallest unit
	KindBool    Kind = "bool"    // BOOL: true or false
	KindTime    Kind = "time"    // S: 2006-01-02T15:04:05.000Z, UTC, which sorts by time
	KindDate    Kind = "date"    // S: 2006-01-02
	KindTTL     Kind = "ttl"     // N: seconds since the epoch
	KindBytes   Kind = "bytes"   // B
	KindEnum    Kind = "enum"    // S: one of the enumeration's values
	KindStruct  Kind = "struct"  // M
	KindList    Kind = "list"    // L of Elem
	KindSet     Kind = "set"     // SS, NS or BS of Elem
	KindMap     Kind = "map"     // M of text to Elem
)

// Type is the type of a field.
type Type struct {
	Kind Kind `json:"kind"`
	// Name is the name of the enum or struct; "" for other kinds.
	Name string `json:"name,omitempty"`
	// Elem is the element type of a list, set or map.
	Elem *Type `json:"elem,omitempty"`
}

// Scalar reports whether a value of the type is a single attribute value that can be used in a key.
func (t Type) Scalar() bool {
	switch t.Kind {
	case KindStruct, KindList, KindSet, KindMap:
		return false
	default:
		return true
	}
}

// Numeric reports whether a value of the type is stored as a number.
func (t Type) Numeric() bool {
	switch t.Kind {
	case KindInt, KindDecimal, KindMoney, KindTTL:
		return true
	default:
		return false
	}
}

// String returns the type as written in a design: list<text>, OrderStatus.
func (t Type) String() string {
	switch {
	case t.Elem != nil:
		return string(t.Kind) + "<" + t.Elem.String() + ">"
	case t.Name != "":
		return t.Name
	default:
		return string(t.Kind)
	}
}

// Enum is a closed list of values.
type Enum struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc,omitempty"`
	Values []string `json:"values"`
	Pos    Pos      `json:"-"`
}

// Nearest returns the value that a misspelt one most likely means; "" if none is close.
func (e *Enum) Nearest(value string) string { return syntax.Nearest(value, e.Values) }

// Struct is a group of fields stored as one map.
type Struct struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc,omitempty"`
	Fields []*Field `json:"fields"`
	Pos    Pos      `json:"-"`
}

// Field is a named, typed part of an entity or structure.
type Field struct {
	Name string `json:"name"`
	Doc  string `json:"doc,omitempty"`
	Type Type   `json:"type"`
	// Optional fields may be absent; all others are required.
	Optional bool `json:"optional,omitempty"`
	// Path is where the field is stored: one attribute name, or several steps into maps (data, nombre).
	Path []string `json:"path"`
	// MaxBytes is the maximum size of the value's text in a key; 0 if neither the type nor the design bounds
	// it.
	MaxBytes int `json:"maxBytes,omitempty"`
	// MinBytes is the minimum size of a text, or of bytes, and of the result of lower, fold and slug in a
	// key.
	MinBytes int `json:"minBytes,omitempty"`
	Pos      Pos `json:"-"`
}

// Attribute is the top-level attribute that holds the field.
func (f *Field) Attribute() string { return f.Path[0] }

// Nested reports whether the field is inside a map: such a field can be neither an index key nor projected.
func (f *Field) Nested() bool { return len(f.Path) > 1 }
