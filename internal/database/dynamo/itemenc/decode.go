package itemenc

import (
	"bytes"
	"strings"
	"unsafe"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Decode returns the whole item, or nil for an absent one. The result does not alias it.
func (it Item) Decode() (attr.Item, error) {
	if it == nil {
		return nil, nil
	}
	own := Item(bytes.Clone(it))
	return decodeFields(own.Fields(), 0)
}

// Get decodes one top-level attribute. The result does not alias it.
func (it Item) Get(name string) (attr.Value, bool, error) {
	v, found, err := it.Lookup(name)
	if err != nil || !found {
		return attr.Value{}, false, err
	}
	value, err := v.Decode()
	return value, err == nil, err
}

// Lookup finds one top-level attribute, skipping the others.
func (it Item) Lookup(name string) (Value, bool, error) {
	fields := it.Fields()
	for fields.Next() {
		switch order := strings.Compare(alias(fields.Name()), name); {
		case order == 0:
			return fields.Value(), true, nil
		case order > 0:
			return Value{}, false, nil
		}
	}
	return Value{}, false, fields.Err()
}

// Select decodes only the named top-level attributes (names sorted and unique), for filters. The result is only nil for an absent
// item, and does not alias it.
func (it Item) Select(names []string) (attr.Item, error) {
	if it == nil {
		return nil, nil
	}
	out := make(attr.Item, 0, len(names))
	chosen := it.choose(names)
	for chosen.next() {
		value, err := chosen.Value().Decode()
		if err != nil {
			return nil, err
		}
		out = append(out, attr.Field{Name: chosen.chosen, Value: value})
	}
	return out, chosen.Err()
}

// Borrow is Select without copies: it fills dst[:0], whose memory it reuses, and the values' texts are the item's own bytes, so
// they are only valid while those are unchanged. A filter over a million items allocates nothing for the scalars it reads.
func (it Item) Borrow(dst attr.Item, names []string) (attr.Item, error) {
	dst = dst[:0]
	chosen := it.choose(names)
	for chosen.next() {
		value, err := decodeValue(chosen.Value(), 0)
		if err != nil {
			return nil, err
		}
		dst = append(dst, attr.Field{Name: chosen.chosen, Value: value})
	}
	return dst, chosen.Err()
}

// Decode returns the value. The result does not alias v.
func (v Value) Decode() (attr.Value, error) {
	v.body = bytes.Clone(v.body)
	return decodeValue(v, 0)
}

// Borrow is Decode without copies: the result's texts are the item's own bytes, valid only while those are unchanged.
func (v Value) Borrow() (attr.Value, error) { return decodeValue(v, 0) }

// decodeValue returns v with texts that alias its bytes.
func decodeValue(v Value, depth int) (attr.Value, error) {
	switch v.tag {
	case tagString:
		return attr.String(alias(v.body)), nil
	case tagNumber:
		return attr.Number(alias(v.body)), nil
	case tagBinary:
		return attr.Binary(alias(v.body)), nil
	case tagFalse, tagTrue:
		return attr.Bool(v.tag == tagTrue), nil
	case tagNull:
		return attr.Null(), nil
	}
	if depth == maxDepth {
		return attr.Value{}, ErrCorrupt
	}
	if v.tag == tagMap {
		m, err := decodeFields(v.Fields(), depth+1)
		return attr.Map(m), err
	}
	elems, err := decodeElems(v.Elems(), depth+1)
	if v.tag == tagList {
		return attr.List(elems), err
	}
	return attr.Set(v.Kind(), elems), err
}

func decodeFields(fields Fields, depth int) (attr.Item, error) {
	out := make(attr.Item, 0, fields.Left())
	for fields.Next() {
		value, err := decodeValue(fields.Value(), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, attr.Field{Name: alias(fields.Name()), Value: value})
	}
	if err := fields.Err(); err != nil {
		return nil, err
	}
	return out, nil
}

func decodeElems(elems Elems, depth int) ([]attr.Value, error) {
	out := make([]attr.Value, 0, elems.Left())
	for elems.Next() {
		value, err := decodeValue(elems.Value(), depth)
		if err != nil {
			return nil, err
		}
		out = append(out, value)
	}
	return out, elems.Err()
}

// alias returns b as a string without copying it: b is either a copy that only the decoded values use, or Borrow's caller is
// responsible for it.
func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
