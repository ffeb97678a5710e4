package attr

import (
	"slices"
	"strings"
)

// Field is one named value of an item or map.
type Field struct {
	Name  string
	Value Value
}

// Item is an item or a map: fields sorted by Name (bytewise), names unique. nil means absent,
// an empty non-nil Item means present and empty.
type Item []Field

// NewItem sorts fields in place and returns them as an item; ok is false if a name is repeated. If the fields are already sorted,
// each costs one comparison. The result is never nil.
func NewItem(fields []Field) (it Item, ok bool) {
	if fields == nil {
		return Item{}, true
	}
	first := 1 // the first field that is not greater than all before it
	for first < len(fields) && fields[first-1].Name < fields[first].Name {
		first++
	}
	if first >= len(fields) {
		return fields, true
	}
	if len(fields) <= insertionMax {
		return insert(fields, first)
	}
	slices.SortFunc(fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	for i := 1; i < len(fields); i++ {
		if fields[i-1].Name == fields[i].Name {
			return nil, false
		}
	}
	return fields, true
}

// insertionMax is the number of fields up to which insertion sort is faster: moving a few fields is cheaper than comparing names.
const insertionMax = 64

// insert sorts fields, of which those before first are already sorted.
func insert(fields Item, first int) (it Item, ok bool) {
	for i := first; i < len(fields); i++ {
		f := fields[i]
		at, found := fields[:i].find(f.Name)
		if found {
			return nil, false
		}
		copy(fields[at+1:i+1], fields[at:i])
		fields[at] = f
	}
	return fields, true
}

// Get returns the value of a top-level attribute.
func (it Item) Get(name string) (Value, bool) {
	if i, found := it.find(name); found {
		return it[i].Value, true
	}
	return Value{}, false
}

// find returns the index of name, or the index at which it would be inserted.
func (it Item) find(name string) (i int, found bool) {
	lo, hi := 0, len(it)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch c := strings.Compare(it[mid].Name, name); {
		case c == 0:
			return mid, true
		case c < 0:
			lo = mid + 1
		default:
			hi = mid
		}
	}
	return lo, false
}

// With returns the item with name set to v; it never modifies the receiver's backing array.
func (it Item) With(name string, v Value) Item {
	i, found := it.find(name)
	if found {
		out := slices.Clone(it)
		out[i].Value = v
		return out
	}
	out := make(Item, 0, len(it)+1)
	out = append(out, it[:i]...)
	out = append(out, Field{Name: name, Value: v})
	return append(out, it[i:]...)
}

// Without returns the item without name; it never modifies the receiver's backing array.
func (it Item) Without(name string) Item {
	i, found := it.find(name)
	if !found {
		return it
	}
	out := make(Item, 0, len(it)-1)
	out = append(out, it[:i]...)
	return append(out, it[i+1:]...)
}
