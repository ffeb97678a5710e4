package itemenc

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Encode appends the encoded form of it to dst. It allocates at most once. An absent item (nil) appends nothing, so Encode(nil,
// nil) is nil.
func Encode(dst []byte, it attr.Item) Item {
	if it == nil {
		return dst
	}
	var m measure
	m.fields(it)
	dst = slices.Grow(dst, headLen+m.length)
	dst = appendHead(dst, m.size, len(it))
	return appendFields(dst, it)
}

func appendHead(dst []byte, size, count int) []byte {
	dst = append(dst, Version)
	dst = binary.BigEndian.AppendUint32(dst, uint32(size))
	return binary.BigEndian.AppendUint32(dst, uint32(count))
}

func appendFields(dst []byte, it attr.Item) []byte {
	for i := range it {
		dst = appendBytes(dst, it[i].Name)
		dst = appendValue(dst, it[i].Value)
	}
	return dst
}

// appendBytes appends s, prefixed with its length.
func appendBytes(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendValue(dst []byte, v attr.Value) []byte {
	switch v.Kind() {
	case attr.KindBool:
		if v.Bool() {
			return append(dst, tagTrue)
		}
		return append(dst, tagFalse)
	case attr.KindString, attr.KindNumber, attr.KindBinary:
		return appendBytes(append(dst, tagOf(v.Kind())), v.Text())
	case attr.KindList, attr.KindMap, attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		return appendCollection(dst, v)
	default: // NULL; faulty values are rejected long before they are stored
		return append(dst, tagNull)
	}
}

func appendCollection(dst []byte, v attr.Value) []byte {
	dst = append(dst, tagOf(v.Kind()), 0, 0, 0, 0)
	start := len(dst)
	if v.Kind() == attr.KindMap {
		dst = binary.AppendUvarint(dst, uint64(len(v.Item())))
		dst = appendFields(dst, v.Item())
	} else {
		dst = binary.AppendUvarint(dst, uint64(len(v.Elems())))
		for _, e := range v.Elems() {
			if v.Kind() == attr.KindList {
				dst = appendValue(dst, e)
			} else {
				dst = appendBytes(dst, e.Text())
			}
		}
	}
	binary.BigEndian.PutUint32(dst[start-4:], uint32(len(dst)-start))
	return dst
}

// tagOf returns the tag of every kind except BOOL, which has two.
func tagOf(k attr.Kind) byte {
	switch k {
	case attr.KindString:
		return tagString
	case attr.KindNumber:
		return tagNumber
	case attr.KindBinary:
		return tagBinary
	case attr.KindList:
		return tagList
	case attr.KindMap:
		return tagMap
	case attr.KindStringSet:
		return tagStringSet
	case attr.KindNumberSet:
		return tagNumberSet
	case attr.KindBinarySet:
		return tagBinarySet
	default:
		return tagNull
	}
}

// measure computes both sums of an item in one walk.
type measure struct {
	length int // bytes of the encoding
	size   int // by DynamoDB's accounting
}

func (m *measure) fields(it attr.Item) {
	for i := range it {
		m.bytes(len(it[i].Name))
		m.size += len(it[i].Name)
		m.value(it[i].Value)
	}
}

// bytes counts n bytes and the length before them.
func (m *measure) bytes(n int) { m.length += uvarintLen(n) + n }

func (m *measure) value(v attr.Value) {
	m.length++ // the tag
	switch v.Kind() {
	case attr.KindString, attr.KindNumber, attr.KindBinary:
		m.bytes(len(v.Text()))
		m.size += v.Size()
	case attr.KindMap:
		n := len(v.Item())
		m.length += 4 + uvarintLen(n)
		m.size += attr.DocumentSize + n*attr.ElementSize
		m.fields(v.Item())
	case attr.KindList:
		n := len(v.Elems())
		m.length += 4 + uvarintLen(n)
		m.size += attr.DocumentSize + n*attr.ElementSize
		for _, e := range v.Elems() {
			m.value(e)
		}
	case attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		m.length += 4 + uvarintLen(len(v.Elems()))
		for _, e := range v.Elems() {
			m.bytes(len(e.Text()))
			m.size += e.Size()
		}
	default:
		m.size += v.Size()
	}
}

func uvarintLen(n int) int {
	length := 1
	for n >= 0x80 {
		n >>= 7
		length++
	}
	return length
}
