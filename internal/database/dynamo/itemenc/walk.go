package itemenc

import (
	"encoding/binary"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Value is one encoded value inside an item. It aliases the item. The zero Value has kind KindInvalid.
type Value struct {
	tag  byte
	body []byte // S, N, B: the bytes; L, M and sets: count and elements
}

// Kind returns the value's type.
func (v Value) Kind() attr.Kind {
	switch v.tag {
	case tagString:
		return attr.KindString
	case tagNumber:
		return attr.KindNumber
	case tagBinary:
		return attr.KindBinary
	case tagFalse, tagTrue:
		return attr.KindBool
	case tagNull:
		return attr.KindNull
	case tagList:
		return attr.KindList
	case tagMap:
		return attr.KindMap
	case tagStringSet:
		return attr.KindStringSet
	case tagNumberSet:
		return attr.KindNumberSet
	case tagBinarySet:
		return attr.KindBinarySet
	default:
		return attr.KindInvalid
	}
}

// Text returns the text of S, the normal form of N, the raw bytes of B, and nil for other kinds. Read only.
func (v Value) Text() []byte {
	if v.tag > tagBinary {
		return nil
	}
	return v.body
}

// Bool returns the value of BOOL.
func (v Value) Bool() bool { return v.tag == tagTrue }

// Elems iterates over the elements of L, or the members of SS, NS and BS as S, N and B values.
func (v Value) Elems() Elems {
	var e Elems
	switch v.tag {
	case tagList:
		e.beginCollection(v.body, 1)
	case tagStringSet, tagNumberSet, tagBinarySet:
		e.beginCollection(v.body, 1)
		e.member = v.tag - tagStringSet + tagString
	}
	return e
}

// Fields iterates over the fields of M.
func (v Value) Fields() Fields {
	var f Fields
	if v.tag == tagMap {
		f.beginCollection(v.body, fieldMin)
	}
	return f
}

// Fields iterates over the item's top-level fields, sorted by name:
//
//	fields := item.Fields()
//	for fields.Next() {
//		… fields.Name() … fields.Value() …
//	}
//	return fields.Err()
func (it Item) Fields() Fields {
	var f Fields
	switch {
	case it == nil:
	case len(it) > 0 && it[0] != Version:
		f.state = unknownVersion
	case len(it) < headLen:
		f.state = corrupt
	default:
		f.begin(it, headLen, uint64(it.Len()), fieldMin)
	}
	return f
}

// cursor is the common part of both iterators. It keeps offsets rather than slices, which are faster to set for fields that are
// only skipped.
type cursor struct {
	data     []byte
	pos      int // where the next element begins
	left     int
	tag      byte // the current value's tag and the offsets of its body
	from, to int
	state    state
}

// state is how an iteration ended.
type state uint8

const (
	sound state = iota
	corrupt
	unknownVersion
)

// begin goes to the first of count elements, each of at least elementMin bytes.
func (c *cursor) begin(data []byte, pos int, count uint64, elementMin int) {
	if count > uint64((len(data)-pos)/elementMin) {
		c.state = corrupt
		return
	}
	c.data, c.pos, c.left = data, pos, int(count)
}

// beginCollection starts with the count at the beginning of a collection's body.
func (c *cursor) beginCollection(body []byte, elementMin int) {
	count, length := binary.Uvarint(body)
	if length <= 0 {
		c.state = corrupt
		return
	}
	c.begin(body, length, count, elementMin)
}

// more reports whether there should be another element, and records why not.
func (c *cursor) more() bool {
	if c.left > 0 {
		c.left--
		return true
	}
	if c.pos < len(c.data) {
		c.fail()
	}
	c.tag, c.from, c.to = 0, 0, 0
	return false
}

func (c *cursor) fail() bool {
	*c = cursor{state: corrupt}
	return false
}

// Left returns the number of remaining elements. It never exceeds what the item's length allows.
func (c *cursor) Left() int { return c.left }

// Value returns the current value.
func (c *cursor) Value() Value { return Value{tag: c.tag, body: c.data[c.from:c.to:c.to]} }

// Err returns why Next returned false: nil at the end of a well-formed collection.
func (c *cursor) Err() error {
	switch c.state {
	case unknownVersion:
		return ErrVersion
	case corrupt:
		return ErrCorrupt
	default:
		return nil
	}
}

// bytes skips a length and that many bytes, and returns their offsets.
func (c *cursor) bytes() (from, to int, ok bool) {
	if c.pos >= len(c.data) {
		return 0, 0, false
	}
	from, to = c.pos+1, c.pos+1+int(c.data[c.pos])
	if c.data[c.pos] >= 0x80 {
		n, length := binary.Uvarint(c.data[c.pos:])
		if length <= 0 || n > uint64(len(c.data)) {
			return 0, 0, false
		}
		from = c.pos + length
		to = from + int(n)
	}
	c.pos = to
	return from, to, to <= len(c.data)
}

// passValue skips a value and makes it the current one.
func (c *cursor) passValue() bool {
	if c.pos >= len(c.data) {
		return false
	}
	c.tag = c.data[c.pos]
	c.pos++
	ok := true
	switch {
	case c.tag == 0 || c.tag > tagBinarySet:
		return false
	case c.tag <= tagBinary:
		c.from, c.to, ok = c.bytes()
	case c.tag <= tagNull:
		c.from, c.to = c.pos, c.pos
	default:
		if len(c.data)-c.pos < 4 {
			return false
		}
		length := binary.BigEndian.Uint32(c.data[c.pos:])
		c.from = c.pos + 4
		if uint64(length) > uint64(len(c.data)-c.from) {
			return false
		}
		c.to = c.from + int(length)
		c.pos = c.to
	}
	return ok
}

// Fields iterates over the fields of an item or map. The zero value has none.
type Fields struct {
	cursor
	nameFrom, nameTo int
}

const fieldMin = 2 // an empty name's length and a tag

// Next goes to the next field; it returns false at the end and if the bytes are corrupt.
func (f *Fields) Next() bool {
	if !f.more() {
		return false
	}
	var ok bool
	if f.nameFrom, f.nameTo, ok = f.bytes(); !ok || !f.passValue() {
		f.nameFrom, f.nameTo = 0, 0
		return f.fail()
	}
	return true
}

// Name returns the current field's name.
func (f *Fields) Name() []byte { return f.data[f.nameFrom:f.nameTo:f.nameTo] }

// Elems iterates over the elements of a list or set. The zero value has none.
type Elems struct {
	cursor
	member byte // the members' tag in a set, 0 in a list
}

// Next goes to the next element; it returns false at the end and if the bytes are corrupt.
func (e *Elems) Next() bool {
	if !e.more() {
		return false
	}
	var ok bool
	if e.member == 0 {
		ok = e.passValue()
	} else {
		e.tag = e.member
		e.from, e.to, ok = e.bytes()
	}
	if !ok {
		return e.fail()
	}
	return true
}
