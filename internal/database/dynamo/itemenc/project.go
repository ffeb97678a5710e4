package itemenc

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// chooser iterates over an item's fields whose names are in a list.
type chooser struct {
	Fields
	names  []string // sorted; the rest of the list
	chosen string   // the current field's name, from the list
}

func (it Item) choose(names []string) chooser { return chooser{Fields: it.Fields(), names: names} }

// next advances to the next field that is in both lists. It stops when either ends: the fields after the last name are not read.
func (c *chooser) next() bool {
	for len(c.names) > 0 && c.Next() {
		name := alias(c.Name())
		order := strings.Compare(c.names[0], name)
		for order < 0 {
			if c.names = c.names[1:]; len(c.names) == 0 {
				return false
			}
			order = strings.Compare(c.names[0], name)
		}
		if order == 0 {
			c.chosen, c.names = c.names[0], c.names[1:]
			return true
		}
	}
	return false
}

// Project appends the encoded form of the item with only the named top-level attributes (names sorted and unique), copying their
// bytes. It allocates at most once. An absent item appends nothing.
func (it Item) Project(dst []byte, names []string) (Item, error) {
	if it == nil {
		return dst, nil
	}
	length, size, count := headLen, 0, 0
	for chosen := it.choose(names); chosen.next(); count++ {
		length += uvarintLen(len(chosen.chosen)) + len(chosen.chosen) + chosen.Value().length()
		valueSize, err := chosen.Value().size(0)
		if err != nil {
			return nil, err
		}
		size += len(chosen.chosen) + valueSize
	}
	dst = slices.Grow(dst, length)
	dst = appendHead(dst, size, count)
	chosen := it.choose(names)
	for chosen.next() {
		dst = appendBytes(dst, chosen.chosen)
		dst = chosen.Value().append(dst)
	}
	return dst, chosen.Err()
}

// length returns the length of the encoded value.
func (v Value) length() int {
	switch {
	case v.tag <= tagBinary:
		return 1 + uvarintLen(len(v.body)) + len(v.body)
	case v.tag < tagList:
		return 1
	}
	return 1 + 4 + len(v.body)
}

// append appends the encoded value.
func (v Value) append(dst []byte) []byte {
	dst = append(dst, v.tag)
	switch {
	case v.tag <= tagBinary:
		return appendBytes(dst, alias(v.body))
	case v.tag < tagList:
		return dst
	}
	n := len(v.body)
	dst = append(dst, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	return append(dst, v.body...)
}

// size returns the value's size by DynamoDB's accounting, without decoding it.
func (v Value) size(depth int) (int, error) {
	switch v.tag {
	case tagString, tagBinary:
		return len(v.body), nil
	case tagNumber:
		return decimal.ParseCanonical(alias(v.body)).Size(), nil
	case tagFalse, tagTrue, tagNull:
		return 1, nil
	}
	if depth == maxDepth {
		return 0, ErrCorrupt
	}
	size := 0
	if v.tag == tagMap {
		size = attr.DocumentSize
		fields := v.Fields()
		for fields.Next() {
			n, err := fields.Value().size(depth + 1)
			if err != nil {
				return 0, err
			}
			size += attr.ElementSize + len(fields.Name()) + n
		}
		return size, fields.Err()
	}
	overhead := 0
	if v.tag == tagList {
		size, overhead = attr.DocumentSize, attr.ElementSize
	}
	elems := v.Elems()
	for elems.Next() {
		n, err := elems.Value().size(depth + 1)
		if err != nil {
			return 0, err
		}
		size += overhead + n
	}
	return size, elems.Err()
}
