package verify

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

const componentBytes = 4

// vectorOf returns the first part of an item's entry in a vector index: the components of its vector. ok is false if the item has
// no valid vector.
func vectorOf(x *catalog.IndexDescriptor, it item) (components string, ok bool) {
	v := it[x.Vector.Attribute]
	if v.kind != "L" {
		return "", false
	}
	r := reader{rest: v.encoded}
	r.byte()
	r.uint32()
	if r.varint() != x.Vector.Dimensions {
		return "", false
	}
	for range x.Vector.Dimensions {
		element := r.value(1)
		number, isNumber := new(big.Rat).SetString(element.text)
		if element.kind != "N" || !isNumber {
			return "", false
		}
		f, _ := number.Float32()
		if math.IsInf(float64(f), 0) {
			return "", false
		}
		components += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)))
	}
	return components, r.err == nil && r.rest == ""
}

// cutVector splits an entry of a vector index into components and the projected item. Other entries have no components.
func cutVector(x *catalog.IndexDescriptor, entry []byte) (components string, projected []byte) {
	if x.Vector == nil {
		return "", entry
	}
	n := min(x.Vector.Dimensions*componentBytes, len(entry))
	return string(entry[:n]), entry[n:]
}
