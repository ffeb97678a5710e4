// Package itemenc is the compact binary form of an item: what a store keeps, what the change log
// keeps, and what response JSON is written from without decoding.
//
// # The form, version 1
//
//	item    ┌───────┬────────┬────────┬───────┬───────┬──
//	        │ 1     │ size   │ count  │ field │ field │ …
//	        └───────┴────────┴────────┴───────┴───────┴──
//	          1 byte  4 bytes  4 bytes
//	field   ┌────────┬──────┬───────┐
//	        │ length │ name │ value │
//	        └────────┴──────┴───────┘
//	          varint
//	value   ┌─────┬────────┬───────┐
//	        │ tag │ length │ bytes │                    S, N, B: text, normal form, raw bytes
//	        └─────┴────────┴───────┘
//	          1     varint
//	        ┌─────┐
//	        │ tag │                                     false, true, NULL: the tag says it all
//	        └─────┘
//	        ┌─────┬────────┬────────┬─────────┬─────────┬──
//	        │ tag │ length │ count  │ element │ element │ …
//	        └─────┴────────┴────────┴─────────┴─────────┴──
//	          1     4 bytes  varint   L: values · M: fields · SS, NS, BS: length (varint) and bytes
//
// Size is the item's size by DynamoDB's accounting, which every operation needs. Lengths count what
// follows them, so that a reader can skip fields. Numbers of 4 bytes are big
// endian; they have a fixed width because a writer goes back to fill them in: the length of a document once
// its content is written, size and count of a projection once its fields are copied. A varint is unsigned
// LEB128 (encoding/binary). Numbers are kept as text since that is what goes out again.
//
// # Invariants
//
//	I1  Fields, of items and of maps, are sorted by the bytes of their names, and names are unique.
//	I2  Equal attr.Items have equal encodings, up to the order of the members of sets.
//	I3  Reading never panics, never runs past the bytes given, and allocates no more than a small multiple
//	    of their number, whatever the bytes are.
//
// Readers only check what they read. Package verify checks everything, with a separate decoder.
//
// # Reading without decoding
//
// Item.Fields, Item.Lookup, and the methods of Value read an encoded item without allocating; everything
// they return aliases the item.
//
// # Concurrency
//
// An Item is immutable and safe for concurrent use.
//
// # Errors
//
// ErrCorrupt and ErrVersion, possibly wrapped.
package itemenc

import (
	"encoding/binary"
	"errors"
)

// Version is the version of the encoding, the first byte of every item.
const Version = 1

// headLen is the length of the part before the first field: version, size, count.
const headLen = 1 + 4 + 4

// The errors of reading.
var (
	ErrCorrupt = errors.New("itemenc: item is corrupt")
	ErrVersion = errors.New("itemenc: item has a version this program does not know")
)

// Item is an encoded item; nil means absent. The package comment describes the encoding.
type Item []byte

// Size returns the item's size by DynamoDB's accounting, from the head. It is 0 for an absent item.
func (it Item) Size() int {
	if len(it) < headLen {
		return 0
	}
	return int(binary.BigEndian.Uint32(it[1:]))
}

// Len returns the number of top-level attributes, from the head. It is 0 for an absent item.
func (it Item) Len() int {
	if len(it) < headLen {
		return 0
	}
	return int(binary.BigEndian.Uint32(it[5:]))
}

// The tags of values. They are part of the encoding: a number never changes its meaning.
const (
	tagString    = 1
	tagNumber    = 2
	tagBinary    = 3
	tagFalse     = 4
	tagTrue      = 5
	tagNull      = 6
	tagList      = 7
	tagMap       = 8
	tagStringSet = 9
	tagNumberSet = 10
	tagBinarySet = 11
)

// maxDepth limits recursion over an encoded value. It exceeds attr.MaxDepth: a limit on what clients may store is not a reason to
// lose stored data.
const maxDepth = 64
