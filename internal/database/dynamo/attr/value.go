package attr

import (
	"slices"
	"unsafe"
)

// Value is one attribute value. Values are immutable, so sharing parts is safe. The zero Value has KindInvalid and means absent.
//
// A value is three words, so that it fits in registers and an item's fields are adjacent in memory: the content is a pointer and
// a length whose meaning depends on the kind, as in slog.Value.
type Value struct {
	_    [0]func() // disables ==, which would compare pointers: see Equal
	kind Kind
	b    bool
	// spelling is a hash of a number as sent, if that is not the normal form.
	spelling uint32
	n        int
	// p points to the bytes of S, N and B (n bytes), the elements of L and the members of sets (n Values), the fields of M (n
	// Fields) or, for KindInvalid, the Fault of a faulty value, if any.
	p unsafe.Pointer
}

// String returns an S value.
func String(s string) Value { return textValue(KindString, s) }

// Binary returns a B value of raw bytes, not base64.
func Binary(raw string) Value { return textValue(KindBinary, raw) }

// Number returns an N value for a text in decimal's normal form (decimal.Decimal.String()).
func Number(canonical string) Value { return textValue(KindNumber, canonical) }

// Bool returns a BOOL value.
func Bool(b bool) Value { return Value{kind: KindBool, b: b} }

// Null returns the NULL value.
func Null() Value { return Value{kind: KindNull} }

// List returns an L value, which keeps elems.
func List(elems []Value) Value { return elementsValue(KindList, elems) }

// Map returns an M value, which keeps m. A nil item becomes an empty map.
func Map(m Item) Value {
	return Value{kind: KindMap, n: len(m), p: unsafe.Pointer(unsafe.SliceData(m))}
}

// Set returns a set of kind KindStringSet, KindNumberSet or KindBinarySet of members with the matching scalar kind, which the
// caller has checked to be distinct. NewSet does the check. The members keep their order: to write a set, use NewSet or
// OrderedSet.
func Set(kind Kind, members []Value) Value { return elementsValue(kind, members) }

// OrderedSet is Set with sorted members, strings and binaries by bytes, numbers by value. It keeps members and may reorder them.
// Sets are sorted when written, so that reading needs no sorting.
func OrderedSet(kind Kind, members []Value) Value {
	order := func(a, b Value) int {
		c, _ := a.Compare(b)
		return c
	}
	if !slices.IsSortedFunc(members, order) {
		slices.SortFunc(members, order)
	}
	return Set(kind, members)
}

func textValue(kind Kind, s string) Value {
	return Value{kind: kind, n: len(s), p: unsafe.Pointer(unsafe.StringData(s))}
}

func elementsValue(kind Kind, elems []Value) Value {
	return Value{kind: kind, n: len(elems), p: unsafe.Pointer(unsafe.SliceData(elems))}
}

// Kind returns the value's type, or KindInvalid for an absent or faulty value.
func (v Value) Kind() Kind { return v.kind }

// IsZero reports whether the value is absent. A faulty value is not.
func (v Value) IsZero() bool { return v.kind == KindInvalid && v.p == nil }

// Text returns the text of S, the normal form of N, the raw bytes of B, and "" for other kinds.
func (v Value) Text() string {
	if !v.kind.IsKey() {
		return ""
	}
	return unsafe.String((*byte)(v.p), v.n)
}

// Bool returns the value of BOOL.
func (v Value) Bool() bool { return v.b }

// Spelling distinguishes equal numbers that were sent differently, such as 1e3 and 1000: it is 0 for the normal form, and a hash
// of any other. Only values from ParseNumber have it.
func (v Value) Spelling() uint32 { return v.spelling }

// Elems returns the elements of L or the members of a set, and nil for other kinds. Read only.
func (v Value) Elems() []Value {
	if v.kind != KindList && !v.kind.IsSet() {
		return nil
	}
	return unsafe.Slice((*Value)(v.p), v.n)
}

// Item returns the content of M: never nil for a map, nil for other kinds. Read only.
func (v Value) Item() Item {
	if v.kind != KindMap {
		return nil
	}
	if v.n == 0 {
		return Item{}
	}
	return unsafe.Slice((*Field)(v.p), v.n)
}
