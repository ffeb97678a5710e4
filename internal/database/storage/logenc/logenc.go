// Package logenc is the stored form of a change-log record: what one commit did to one item.
//
// # The form, version 1
//
//	┌───────┬────────┬──────┬────────┬─────┬────────┬─────┬────────┬─────┐
//	│ 1     │ origin │ time │ length │ key │ length │ old │ length │ new │
//	└───────┴────────┴──────┴────────┴─────┴────────┴─────┴────────┴─────┘
//	  1       1        8
//
// Time is big endian, a length is a varint (encoding/binary). A length of 0 stands for an absent item, since an encoded item is never empty. Old and
// new are the items as they are stored, so that a record is put together by copying.
//
// The store gives a record its place in the log; a record does not know its own sequence number.
package logenc

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// Version is the version of the form that Append writes, the first byte of every record.
const Version = 1

// The errors of Decode.
var (
	ErrCorrupt = errors.New("logenc: record is corrupt")
	ErrVersion = errors.New("logenc: record has a version this program does not know")
)

// Origin says who caused a change.
type Origin uint8

// The origins. They are part of the form.
const (
	OriginClient Origin = iota
	OriginTTL
)

// Change is one record. Old is nil for an insert, New for a removal.
type Change struct {
	Time   int64 // milliseconds since the epoch, the database's clock
	Origin Origin
	Key    []byte // the base item's key in the store (keyenc.Item), so hash and order travel along
	Old    itemenc.Item
	New    itemenc.Item
}

const (
	timeAt  = 2
	headLen = timeAt + 8
)

// Append appends the encoded record. It allocates at most once.
func Append(dst []byte, c Change) []byte {
	room := headLen + len(c.Key) + len(c.Old) + len(c.New) + 3*binary.MaxVarintLen32
	dst = slices.Grow(dst, room)
	dst = append(dst, Version, byte(c.Origin))
	dst = binary.BigEndian.AppendUint64(dst, uint64(c.Time))
	for _, part := range [...][]byte{c.Key, c.Old, c.New} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

// Decode reads a record; its slices alias data. It does not look into the items.
func Decode(data []byte) (Change, error) {
	if len(data) > 0 && data[0] != Version {
		return Change{}, ErrVersion
	}
	if len(data) < headLen || data[1] > byte(OriginTTL) {
		return Change{}, ErrCorrupt
	}
	c := Change{Origin: Origin(data[1]), Time: int64(binary.BigEndian.Uint64(data[timeAt:]))}
	rest := data[headLen:]
	for _, part := range [...]*[]byte{&c.Key, (*[]byte)(&c.Old), (*[]byte)(&c.New)} {
		n, length := binary.Uvarint(rest)
		if length <= 0 || n > uint64(len(rest)-length) {
			return Change{}, ErrCorrupt
		}
		rest = rest[length:]
		if n > 0 {
			*part = rest[:n:n]
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return Change{}, ErrCorrupt
	}
	return c, nil
}
