// Package vector has the vectors of vector indexes: how they are read from attribute values, how an index stores them, how
// near two of them are, and which of many are nearest.
//
// # Model
//
// A vector is a list of numbers, each of which an index keeps as the nearest 32-bit floating point number. An entry of an
// index begins with its vector, so that a search can compare without looking at the rest:
//
//	┌────────────┬────────────────────┐
//	│ components │ the projected item │      4 bytes each, little endian; then package itemenc
//	└────────────┴────────────────────┘
//
// # Invariants
//
//	I1  A score is computed in 64 bits, in one order of summation, with no product rounded twice: the same vectors have
//	    the same score on every machine. It is always finite, since no component is larger than 3.4e38.
//	I2  The nearest are ordered by score, and those of equal score by key: a search over the same entries has one result.
//
// # Concurrency
//
// All functions are pure. A Query may be used by many goroutines at once, a Nearest by one.
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

// ComponentBytes is what one component takes in an index.
const ComponentBytes = 4

// ErrCorrupt says that bytes are no entry of an index of that many dimensions.
var ErrCorrupt = errors.New("vector: entry is corrupt")

// FaultKind says in which way a value is no vector.
type FaultKind uint8

// The faults, in the order in which they are looked for.
const (
	NoFault        FaultKind = iota
	NotList                  // another type than a list
	WrongLength              // another number of elements than the index has dimensions
	ElementType              // an element of another type than number
	ElementTooHigh           // an element that does not fit into 32 bits
)

// Fault is what is wrong with a value that is to be a vector.
type Fault struct {
	Kind    FaultKind
	Element int    // at which the fault is, for the faults of elements
	Actual  string // type, length or number
}

// Parse reads the components of a vector of so many dimensions; a fault of kind NoFault is none.
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

// Check finds what is wrong with an attribute that is to be a vector.
func Check(v attr.Value, dimensions int) Fault {
	if v.Kind() != attr.KindList {
		return Fault{Kind: NotList, Actual: v.Kind().String()}
	}
	_, fault := Parse(v.Elems(), dimensions)
	return fault
}

// component reads a number in normal form; not ok where it is beyond what 32 bits hold.
func component(number string) (f float32, ok bool) {
	wide, err := strconv.ParseFloat(number, 32)
	return float32(wide), err == nil
}

// Append appends the components of a stored value to dst; ok is false where it is not a vector of so many dimensions.
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

// Split cuts an entry of an index into its components and the projected item, which share its bytes.
func Split(entry []byte, dimensions int) (components []byte, projected itemenc.Item, err error) {
	n := dimensions * ComponentBytes
	if len(entry) <= n {
		return nil, nil, ErrCorrupt
	}
	return entry[:n:n], itemenc.Item(entry[n:]), nil
}

// Value is the attribute value of stored components: of each the shortest number that reads back as it is.
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

// at is the first of the stored components.
func at(components []byte) float32 {
	return math.Float32frombits(binary.LittleEndian.Uint32(components))
}
