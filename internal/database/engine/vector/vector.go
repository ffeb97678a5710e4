// Package vector implements the vectors of vector indexes: reading them from attribute values, their form in an index, the
// distance of two of them, and the selection of the nearest of many.
//
// # Model
//
// A vector is a list of numbers, each of which an index stores as the nearest 32-bit floating point number. An index entry begins
// with its vector, so that a search can compare it without decoding the rest:
//
//	┌────────────┬────────────────────┐
//	│ components │ the projected item │      4 bytes each, little endian; then package itemenc
//	└────────────┴────────────────────┘
//
// # Invariants
//
//	I1  A score is computed in 64 bits, with a fixed order of summation and no product rounded twice: the same vectors
//	    have the same score on every machine. It is always finite, since no component is larger than 3.4e38.
//	I2  The nearest are ordered by score, and those with equal scores by key: the result of a search is deterministic.
//
// # Concurrency
//
// All functions are pure. A Query is safe for concurrent use, a Nearest is not.
package vector

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// ComponentBytes is the size of one component in an index.
const ComponentBytes = 4

// ErrCorrupt means that bytes are not an index entry with that many dimensions.
var ErrCorrupt = errors.New("vector: entry is corrupt")

// FaultKind is the reason why a value is not a valid vector.
type FaultKind uint8

// The faults, in the order in which they are checked.
const (
	NoFault        FaultKind = iota
	NotList                  // a type other than list
	WrongLength              // a number of elements other than the index's dimensions
	ElementType              // an element that is not a number
	ElementTooHigh           // an element that does not fit 32 bits
)

// Fault describes why a value is not a valid vector.
type Fault struct {
	Kind    FaultKind
	Element int    // the invalid element, for faults of elements
	Actual  string // type, length or number
}

// Parse reads the components of a vector with a number of dimensions; the kind NoFault means success.
func Parse(elements []attr.Value, dimensions int) ([]float32, Fault) {
	if len(elements) != dimensions {
		return nil, Fault{Kind: WrongLength, Actual: strconv.Itoa(len(elements))}
	}
	components := make([]float32, dimensions)
	for i, e := range elements {
		if e.Kind() != attr.KindNumber {
			return nil, Fault{Kind: ElementType, Element: i, Actual: e.Kind().String()}
		}
		f, ok := component(e.Text())
		if !ok {
			return nil, Fault{Kind: ElementTooHigh, Element: i, Actual: e.Text()}
		}
		components[i] = f
	}
	return components, Fault{}
}

// Check checks an attribute that should be a vector.
func Check(v attr.Value, dimensions int) Fault {
	if v.Kind() != attr.KindList {
		return Fault{Kind: NotList, Actual: v.Kind().String()}
	}
	_, fault := Parse(v.Elems(), dimensions)
	return fault
}

// component parses a number in normal form; ok is false if it does not fit 32 bits.
func component(number string) (f float32, ok bool) {
	wide, err := strconv.ParseFloat(number, 32)
	return float32(wide), err == nil
}

// Append appends the components of a stored value to dst; ok is false if it is not a vector with that many dimensions.
func Append(dst []byte, stored itemenc.Value, dimensions int) (out []byte, ok bool, err error) {
	elements := stored.Elems()
	if stored.Kind() != attr.KindList || elements.Left() != dimensions {
		return dst, false, nil
	}
	start := len(dst)
	for elements.Next() {
		if elements.Value().Kind() != attr.KindNumber {
			return dst[:start], false, nil
		}
		f, fits := component(string(elements.Value().Text()))
		if !fits {
			return dst[:start], false, nil
		}
		dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(f))
	}
	return dst, true, elements.Err()
}

// Split splits an index entry into its components and the projected item, which share its bytes.
func Split(entry []byte, dimensions int) (components []byte, projected itemenc.Item, err error) {
	n := dimensions * ComponentBytes
	if len(entry) <= n {
		return nil, nil, ErrCorrupt
	}
	return entry[:n:n], itemenc.Item(entry[n:]), nil
}

// Value returns the attribute value of stored components, each as the shortest number that reads back as the same component.
func Value(components []byte) (attr.Value, error) {
	elements := make([]attr.Value, 0, len(components)/ComponentBytes)
	for ; len(components) >= ComponentBytes; components = components[ComponentBytes:] {
		d, err := decimal.Parse(strconv.FormatFloat(float64(at(components)), 'e', -1, 32))
		if err != nil {
			return attr.Value{}, err
		}
		elements = append(elements, attr.Number(d.String()))
	}
	return attr.List(elements), nil
}

// at returns the first of the stored components.
func at(components []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(components))
}
