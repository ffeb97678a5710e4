package attr

import "github.com/monotable/monotable/internal/database/dynamo/decimal"

// The sizes that DynamoDB adds for a document, besides its content.
const (
	DocumentSize = 3 // for a list or map
	ElementSize  = 1 // for each element of it
)

// MaxDepth is the maximum nesting of lists and maps in an attribute's value.
const MaxDepth = 31

// MaxNameBytes is the maximum length of the name of an attribute or of a map's field.
const MaxNameBytes = 65535

// Size returns the value's size in bytes by DynamoDB's accounting, without its name.
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

// Size returns the item's size by DynamoDB's accounting: names and values.
func (it Item) Size() int {
	size := 0
	for i := range it {
		size += len(it[i].Name) + it[i].Value.Size()
	}
	return size
}

// Depth returns the nesting of lists and maps: 0 for a scalar or a set, 1 for a document of those. DynamoDB rejects a value
// deeper than MaxDepth.
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

// Depth returns the depth of the item's deepest attribute.
func (it Item) Depth() int {
	deepest := 0
	for i := range it {
		deepest = max(deepest, it[i].Value.Depth())
	}
	return deepest
}
