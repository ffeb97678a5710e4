package attr

import "github.com/monotable/monotable/internal/database/dynamo/decimal"

// What DynamoDB charges for a document beside its content.
const (
	DocumentSize = 3 // for a list or map
	ElementSize  = 1 // for each element of it
)

// MaxDepth is the number of lists and maps that may stand inside each other in one attribute's value.
const MaxDepth = 31

// MaxNameBytes is the length of an attribute's name, and of the name of a map's field.
const MaxNameBytes = 65535

// Size is the value's size in bytes by DynamoDB's accounting, without its name.
func (v Value) Size() int {
	switch v.kind {
	case KindString, KindBinary:
		return v.n
	case KindNumber:
		return decimal.ParseCanonical(v.Text()).Size()
	case KindBool, KindNull:
		return 1
	case KindList:
		size := DocumentSize
		for _, e := range v.Elems() {
			size += ElementSize + e.Size()
		}
		return size
	case KindMap:
		return DocumentSize + ElementSize*v.n + v.Item().Size()
	case KindStringSet, KindNumberSet, KindBinarySet:
		size := 0
		for _, m := range v.Elems() {
			size += m.Size()
		}
		return size
	default:
		return 0
	}
}

// Size is the item's size by DynamoDB's accounting: names and values.
func (it Item) Size() int {
	size := 0
	for i := range it {
		size += len(it[i].Name) + it[i].Value.Size()
	}
	return size
}

// Depth is the number of lists and maps that stand inside each other: 0 for a scalar or a set, 1 for a
// document of those. DynamoDB refuses a value deeper than MaxDepth.
func (v Value) Depth() int {
	switch v.kind {
	case KindList:
		deepest := 0
		for _, e := range v.Elems() {
			deepest = max(deepest, e.Depth())
		}
		return 1 + deepest
	case KindMap:
		return 1 + v.Item().Depth()
	default:
		return 0
	}
}

// Depth is the depth of the item's deepest attribute.
func (it Item) Depth() int {
	deepest := 0
	for i := range it {
		deepest = max(deepest, it[i].Value.Depth())
	}
	return deepest
}
