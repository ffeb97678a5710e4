// Package attr holds DynamoDB's attribute values and items: their ten types, equality, order and size.
package attr

// Kind is the type of a value.
type Kind uint8

// The ten types. KindInvalid is the zero value, which stands for an absent value.
const (
	KindInvalid Kind = iota
	KindString
	KindNumber
	KindBinary
	KindBool
	KindNull
	KindList
	KindMap
	KindStringSet
	KindNumberSet
	KindBinarySet
)

// String returns DynamoDB's type name: S, N, B, BOOL, NULL, L, M, SS, NS, BS.
func (k Kind) String() string { panic("skeleton") }

// KindOf returns the kind of a DynamoDB type name, KindInvalid for any other text.
func KindOf(name string) Kind { panic("skeleton") }

// Value is one attribute value. Values are immutable once built: sharing parts is safe.
type Value struct {
	kind  Kind
	b     bool
	s     string  // S: text; N: decimal's normal form; B: the raw bytes
	elems []Value // L: elements; SS, NS, BS: members as S, N, B values
	m     Item    // M
}

func String(s string) Value    { return Value{kind: KindString, s: s} }
func Binary(raw string) Value  { return Value{kind: KindBinary, s: raw} }
func Bool(b bool) Value        { return Value{kind: KindBool, b: b} }
func Null() Value              { return Value{kind: KindNull} }
func List(elems []Value) Value { return Value{kind: KindList, elems: elems} }
func Map(m Item) Value         { return Value{kind: KindMap, m: m} }

// Number takes a text in decimal's normal form (decimal.Decimal.String()).
func Number(canonical string) Value { return Value{kind: KindNumber, s: canonical} }

// Set builds a set of kind KindStringSet, KindNumberSet or KindBinarySet from members of the matching
// scalar kind that the caller has checked to be distinct.
func Set(kind Kind, members []Value) Value { return Value{kind: kind, elems: members} }

func (v Value) Kind() Kind   { return v.kind }
func (v Value) IsZero() bool { return v.kind == KindInvalid }

// Text is the text of S, the normal form of N, the raw bytes of B.
func (v Value) Text() string { return v.s }
func (v Value) Bool() bool   { return v.b }

// Elems are the elements of L or the members of a set; read only.
func (v Value) Elems() []Value { return v.elems }

// Item is the content of M; read only.
func (v Value) Item() Item { return v.m }

// Equal is DynamoDB's equality: numbers by value, sets without order, lists and maps deeply.
func (v Value) Equal(o Value) bool { panic("skeleton") }

// Compare orders two values of one kind among S, N, B; ok is false for any other pair.
func (v Value) Compare(o Value) (c int, ok bool) { panic("skeleton") }

// Size is the value's size in bytes by DynamoDB's accounting, without its name.
func (v Value) Size() int { panic("skeleton") }

// Field is one named value of an item or map.
type Field struct {
	Name  string
	Value Value
}

// Item is an item or a map: fields sorted by Name (bytewise), names unique. nil means absent,
// an empty non-nil Item means present and empty.
type Item []Field

// Get returns the value of a top-level attribute.
func (it Item) Get(name string) (Value, bool) { panic("skeleton") }

// With returns the item with name set to v; it never modifies the receiver's backing array.
func (it Item) With(name string, v Value) Item { panic("skeleton") }

// Without returns the item without name; it never modifies the receiver's backing array.
func (it Item) Without(name string) Item { panic("skeleton") }

// Equal compares field by field.
func (it Item) Equal(o Item) bool { panic("skeleton") }

// Size is the item's size in bytes by DynamoDB's accounting: names and values.
func (it Item) Size() int { panic("skeleton") }

// NewItem sorts fields and returns them as an item; ok is false where a name repeats.
func NewItem(fields []Field) (it Item, ok bool) { panic("skeleton") }

// Fault says why a value that came in is not an attribute value. A faulty value has KindInvalid; it is
// carried to the place in the order of checks where AWS refuses it.
type Fault struct {
	// Code is one of the Fault… constants (the owner of this package completes them: no type, several
	// types, empty set, duplicate member, bad number with decimal's error, NULL not true, empty member).
	Code FaultCode
	// Text is what the sentence needs: the number as sent, the repeated members …
	Text string
}

// FaultCode names a kind of fault.
type FaultCode uint8

// Faulty returns the value that carries f.
func Faulty(f Fault) Value { panic("skeleton") }

// Fault returns the first fault in the value or anything inside it, in document order.
func (v Value) Fault() (f Fault, ok bool) { panic("skeleton") }

// Fault returns the first fault of any field.
func (it Item) Fault() (name string, f Fault, ok bool) { panic("skeleton") }
