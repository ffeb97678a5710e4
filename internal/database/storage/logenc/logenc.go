// Package logenc is the stored form of a change-log record: the effect of one commit on one item.
//
// # The form, version 2
//
//	┌───┬───────┬────────┬─────┬────────┬─────┬────────┬─────┐
//	│ 2 │ flags │ length │ key │ length │ old │ length │ new │
//	└───┴───────┴────────┴─────┴────────┴─────┴────────┴─────┘
//	  1     1
//
// If the table is a replica of a global table, the flags are followed by 8 bytes: the version that the change assigned to the
// item, big endian, which determines the last writer.
//
// A length is a varint (encoding/binary). The flags contain the origin of the change, whether the item existed before and exists
// after it, and whether there is a version. A length of 0 means an image that is absent, or that the table's log does not keep:
// an encoded item is never empty. Images are items in their stored form, so that a record is assembled by copying.
//
// The store assigns a record's number in the log, which is also its time (kv.Seq); the record contains neither.
//
// # Version 1
//
// Decode also reads version 1. It has the origin instead of the flags, then 8 bytes of time, big endian, and keeps every image.
package logenc

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// Version is the version of the form that Append writes, the first byte of every record.
const Version = 2

// The errors of Decode.
var (
	ErrCorrupt = errors.New("logenc: record is corrupt")
	ErrVersion = errors.New("logenc: the record has a version that this program does not support")
)

// Origin is the cause of a change.
type Origin uint8

// The origins. They are part of the form.
const (
	OriginClient Origin = iota
	OriginTTL
	OriginReplica // another replica of the global table
)

// Change is one record.
type Change struct {
	Time   int64 // of a record of version 1, in milliseconds since the epoch; 0: its number in the log is its time
	Origin Origin
	// Existed and Exists report whether the item existed before the change, and exists after it.
	Existed, Exists bool
	Version         uint64       // assigned to a replica's item; 0 if the table was not a replica
	Key             []byte       // the item's key in the store (keyenc.Item), which includes hash and order
	Old             itemenc.Item // nil if the item did not exist, or if this image is not kept
	New             itemenc.Item
}

const (
	flagTTL = 1 << iota
	flagExisted
	flagExists
	flagReplica
	flagVersion
	flagsEnd
)

const (
	headLen    = 2
	versionLen = 8
	timeLen1   = 8 // of version 1
)

// Append appends the encoded record, without Time. An item with an image exists, whatever the flags. It allocates at most once.
func Append(dst []byte, c Change) []byte {
	room := headLen + versionLen + len(c.Key) + len(c.Old) + len(c.New) + 3*binary.MaxVarintLen32
	dst = slices.Grow(dst, room)
	dst = append(dst, Version, flags(&c))
	if c.Version != 0 {
		dst = binary.BigEndian.AppendUint64(dst, c.Version)
	}
	for _, part := range [...][]byte{c.Key, c.Old, c.New} {
		dst = binary.AppendUvarint(dst, uint64(len(part)))
		dst = append(dst, part...)
	}
	return dst
}

func flags(c *Change) (f byte) {
	switch c.Origin {
	case OriginTTL:
		f |= flagTTL
	case OriginReplica:
		f |= flagReplica
	default:
	}
	if c.Version != 0 {
		f |= flagVersion
	}
	if c.Existed || len(c.Old) > 0 {
		f |= flagExisted
	}
	if c.Exists || len(c.New) > 0 {
		f |= flagExists
	}
	return f
}

// Decode decodes a record; its slices alias data. It does not decode the items.
func Decode(data []byte) (Change, error) {
	if len(data) < headLen {
		return Change{}, ErrCorrupt
	}
	switch data[0] {
	case 1:
		return decode1(data)
	case Version:
	default:
		return Change{}, ErrVersion
	}
	f := data[1]
	c := Change{Existed: f&flagExisted != 0, Exists: f&flagExists != 0}
	switch {
	case f&flagTTL != 0 && f&flagReplica != 0:
		return Change{}, ErrCorrupt
	case f&flagTTL != 0:
		c.Origin = OriginTTL
	case f&flagReplica != 0:
		c.Origin = OriginReplica
	}
	rest := data[headLen:]
	if f&flagVersion != 0 {
		if len(rest) < versionLen {
			return Change{}, ErrCorrupt
		}
		c.Version, rest = binary.BigEndian.Uint64(rest), rest[versionLen:]
	}
	err := c.decodeParts(rest)
	if err != nil || f >= flagsEnd || f&flagVersion != 0 && c.Version == 0 || c.Old != nil && !c.Existed || c.New != nil && !c.Exists {
		return Change{}, ErrCorrupt
	}
	return c, nil
}

// decode1 decodes a record of version 1.
func decode1(data []byte) (Change, error) {
	if len(data) < headLen+timeLen1 || data[1] > byte(OriginTTL) {
		return Change{}, ErrCorrupt
	}
	c := Change{Origin: Origin(data[1]), Time: int64(binary.BigEndian.Uint64(data[headLen:]))}
	if err := c.decodeParts(data[headLen+timeLen1:]); err != nil {
		return Change{}, err
	}
	c.Existed, c.Exists = c.Old != nil, c.New != nil
	return c, nil
}

// decodeParts decodes key and images, to the end of the record.
func (c *Change) decodeParts(rest []byte) error {
	for _, part := range [...]*[]byte{&c.Key, (*[]byte)(&c.Old), (*[]byte)(&c.New)} {
		n, length := binary.Uvarint(rest)
		if length <= 0 || n > uint64(len(rest)-length) {
			return ErrCorrupt
		}
		rest = rest[length:]
		if n > 0 {
			*part = rest[:n:n]
		}
		rest = rest[n:]
	}
	if len(rest) > 0 {
		return ErrCorrupt
	}
	return nil
}
