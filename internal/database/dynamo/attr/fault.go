package attr

import (
	"errors"
	"hash/fnv"
	"io"
	"unsafe"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Fault is why a client's value is not a valid attribute value. A faulty value has KindInvalid; it is kept until the point in the
// order of checks at which AWS rejects it.
type Fault struct {
	// Code is the kind of fault.
	Code FaultCode
	// Kind is the intended kind of the value, or KindInvalid if it named none or several.
	Kind Kind
	// Text is the number as sent, for a fault of a number.
	Text string
	// Members are the members as sent, for FaultDuplicate: S, N (normal form) or B values.
	Members []Value
}

// FaultCode names a kind of fault.
type FaultCode uint8

// The faults.
const (
	// FaultNoType: the value names none of the ten types.
	FaultNoType FaultCode = 1 + iota
	// FaultManyTypes: the value names more than one type.
	FaultManyTypes
	// FaultNull: {"NULL": false}.
	FaultNull
	// FaultEmptySet: a set without members.
	FaultEmptySet
	// FaultDuplicate: a set with duplicate members; numbers are compared by value.
	FaultDuplicate
	// FaultNumberSyntax: a text that is not a number; Text may be empty.
	FaultNumberSyntax
	// FaultNumberPrecision: more than 38 significant digits.
	FaultNumberPrecision
	// FaultNumberOverflow: a magnitude above 9.99…E+125.
	FaultNumberOverflow
	// FaultNumberUnderflow: a magnitude below 1E-130.
	FaultNumberUnderflow
	// FaultTooDeep: lists and maps nested deeper than MaxDepth, truncated by the reader.
	FaultTooDeep
	// FaultNoName: an attribute, or a map's field, whose name is empty.
	FaultNoName
	// FaultLongName: one whose name has more than MaxNameBytes.
	FaultLongName
)

// Faulty returns a value with the fault f.
func Faulty(f Fault) Value { return Value{kind: KindInvalid, p: unsafe.Pointer(&f)} }

// ParseNumber returns the N value of a client's text, or a faulty value if it is not a number.
func ParseNumber(s string) Value {
	d, err := decimal.Parse(s)
	if err != nil {
		return Faulty(Fault{Code: numberFault(err), Kind: KindNumber, Text: s})
	}
	v := Number(d.String())
	if v.Text() != s {
		hash := fnv.New32a()
		_, _ = io.WriteString(hash, s)
		v.spelling = hash.Sum32()
	}
	return v
}

func numberFault(err error) FaultCode {
	switch {
	case errors.Is(err, decimal.ErrPrecision):
		return FaultNumberPrecision
	case errors.Is(err, decimal.ErrOverflow):
		return FaultNumberOverflow
	case errors.Is(err, decimal.ErrUnderflow):
		return FaultNumberUnderflow
	default:
		return FaultNumberSyntax
	}
}

// NewSet returns the set of kind KindStringSet, KindNumberSet or KindBinarySet with the given members, which it keeps and sorts
// (see OrderedSet). It returns a faulty value if there are no members, a duplicate, or a faulty member (whose fault is then the
// set's). Members must be scalars of the matching kind.
func NewSet(kind Kind, members []Value) Value {
	if len(members) == 0 {
		return Faulty(Fault{Code: FaultEmptySet, Kind: kind})
	}
	for _, m := range members {
		if m.kind == KindInvalid {
			return m
		}
	}
	if Repeats(members) {
		return Faulty(Fault{Code: FaultDuplicate, Kind: kind, Members: members})
	}
	return OrderedSet(kind, members)
}

// Repeats reports whether two of the scalars, all of one kind among S, N and B, are equal.
func Repeats(members []Value) bool {
	if len(members) <= smallSet {
		for i, m := range members {
			if containsText(members[:i], m.Text()) {
				return true
			}
		}
		return false
	}
	seen := make(map[string]struct{}, len(members))
	for _, m := range members {
		seen[m.Text()] = struct{}{}
	}
	return len(seen) < len(members)
}

// Fault returns the first fault in the value or anything inside it, in the order of its elements. The fields of a map are checked
// in the order of their names.
func (v Value) Fault() (f Fault, ok bool) {
	switch v.kind {
	case KindInvalid:
		if v.p == nil {
			return Fault{}, false
		}
		return *(*Fault)(v.p), true
	case KindList:
		for _, e := range v.Elems() {
			if f, ok = e.Fault(); ok {
				return f, true
			}
		}
		return Fault{}, false
	case KindMap:
		_, f, ok = v.Item().Fault()
		return f, ok
	default:
		return Fault{}, false
	}
}

// Fault returns the first fault in a field's name or value, and the field's name.
func (it Item) Fault() (name string, f Fault, ok bool) {
	for i := range it {
		name = it[i].Name
		switch n := len(name); {
		case n == 0:
			return name, Fault{Code: FaultNoName}, true
		case n > MaxNameBytes:
			return name, Fault{Code: FaultLongName}, true
		}
		if f, ok = it[i].Value.Fault(); ok {
			return name, f, true
		}
	}
	return "", Fault{}, false
}
