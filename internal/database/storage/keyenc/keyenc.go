// Package keyenc lays out the database's key space: tables, indexes, TTL, catalog, statistics,
// jobs, tokens, metrics, identities as ordered bytes.
//
// # Key space
//
// The first byte of a key determines its space. Numbers are big endian, so that byte order is numeric
// order. The ids of tables and indexes are never reused, so data of a dropped table cannot be mistaken
// for its successor's. No key begins with a byte of 0xE0 or more: those are reserved for the store.
//
//	item            ┌───┬───────┬───────┬──────┬────┬────┐
//	                │ d │ table │ 0     │ hash │ pk │ sk │       sk only in tables that have a sort key
//	                └───┴───────┴───────┴──────┴────┴────┘
//	                      4       2       2      value values
//	index entry     ┌───┬───────┬───────┬──────┬─────┬─────┬────┬────┐
//	                │ d │ table │ index │ hash │ pk… │ sk… │ pk │ sk │   index key, then table key
//	                └───┴───────┴───────┴──────┴─────┴─────┴────┴────┘
//	TTL entry       ┌───┬───────┬─────────┬────┬────┐
//	                │ t │ table │ seconds │ pk │ sk │            the table's key
//	                └───┴───────┴─────────┴────┴────┘
//	                      4       8, sign bit inverted
//	item version    ┌───┬───────┬────┬────┐
//	                │ v │ table │ pk │ sk │                      of a replica of a global table
//	                └───┴───────┴────┴────┘
//	statistics      ┌───┬───────┬───┬───────┐
//	                │ s │ table │ 0 │ index │                    of a table (index 0) or index
//	                └───┴───────┴───┴───────┘
//	                ┌───┬───────┬───┬────┐
//	                │ s │ table │ 1 │ pk │                       of one item collection
//	                └───┴───────┴───┴────┘
//	catalog         c f · c n · c d name · c v table             format, next id, descriptor, version
//	                c s table label · c b backup · c k table     stream, backup, delivery to Kinesis
//	                c t kind id                                  export, import or bulk operation
//	                c p table Region                             position of replication from a Region
//	job             ┌───┬───────┬───────┬──────┐
//	                │ j │ table │ index │ kind │
//	                └───┴───────┴───────┴──────┘
//	                      4       2       1
//	token           ┌───┬───────┐
//	                │ k │ token │
//	                └───┴───────┘
//	metrics         ┌───┬────────┐
//	                │ m │ minute │                               minutes since the epoch
//	                └───┴────────┘
//	                      8
//	identity        ┌───┬──────┬──────┐
//	                │ i │ kind │ name │                          users, roles, policies; the seal of their secrets
//	                └───┴──────┴──────┘
//	                      1
//	cluster         l s server · l w                             leases of the servers that share a store, of their leader
//	                l d · l i                                    counters: changes of definitions, of identities
//
// Hash is a hash of the whole partition key. It distributes partitions evenly over the range of a table, so
// that a parallel scan can split by it and a distributed store's regions fill evenly; partitions with the
// same hash are ordered by key. An index entry ends with the table's key, because index keys are not
// unique; a page of an index resumes after both.
//
// # Values
//
// A value is self-delimiting, and the bytes of two values of the same kind sort like the values, whatever
// follows them. Its first byte is the kind, so a key can be parsed without its table's definition.
//
//	S, B            ┌─────┬───────┬───────┐
//	                │ tag │ bytes │ 00 01 │     00 in the bytes is written 00 FF
//	                └─────┴───────┴───────┘
//	N > 0           ┌─────┬──────────┬────────┬────┐
//	                │ tag │ exponent │ pairs… │ 00 │     ±0.d1d2… × 10^exponent, biased to 0…255
//	                └─────┴──────────┴────────┴────┘     a pair is 1 + the number of two digits, 1…100
//	N = 0           ┌─────┐
//	                │ tag │
//	                └─────┘
//	N < 0           as N > 0, every byte after the tag inverted
//
// The end of a string sorts before every byte that could follow it, and an escaped 00 after the end but
// before every other byte; a prefix without its end is therefore a prefix of all strings that begin with it
// and of no others. The bias fits the exponents of DynamoDB's numbers into one byte exactly.
//
// # Invariants
//
//	I1  For values a, b of one kind, a < b exactly when AppendSort(a) < AppendSort(b), and neither
//	    encoding is a prefix of the other unless a = b. FuzzSortOrder.
//	I2  The encoding of a key never changes: format_v1 pins it, including the hash.
//	I3  Parsing never panics; bytes that no function here could have written are ErrCorrupt.
//
// # Concurrency
//
// All functions are pure.
package keyenc

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// TableID identifies a table permanently: table names can be reused, ids are not.
type TableID uint32

// IndexID identifies an index of a table permanently. 0 is the table itself.
type IndexID uint16

// ErrCorrupt means that bytes are not a key of the expected kind.
var ErrCorrupt = errors.New("keyenc: key is corrupt")

// The key spaces, by first byte. 'r' is package kv/part's: whole stores of other Regions.
const (
	spaceCatalog    = 'c'
	spaceCluster    = 'l'
	spaceData       = 'd'
	spaceIdentity   = 'i'
	spaceJob        = 'j'
	spaceMetrics    = 'm'
	spaceToken      = 'k'
	spaceStatistics = 's'
	spaceTTL        = 't'
	spaceVersion    = 'v'
)

// Within the statistics of a table.
const (
	statisticsIndex      = 0
	statisticsCollection = 1
)

// Within the catalog.
const (
	catalogFormat     = 'f'
	catalogNextID     = 'n'
	catalogDescriptor = 'd'
	catalogVersion    = 'v'
	catalogStream     = 's'
	catalogBackup     = 'b'
	catalogDelivery   = 'k'
	catalogTransfer   = 't'
	catalogPosition   = 'p'
)

// Statistics returns the counter key of a table (x=0) or index: counters {items, bytes}.
func Statistics(t TableID, x IndexID) []byte {
	key := append(tableKey(spaceStatistics, t), statisticsIndex)
	return binary.BigEndian.AppendUint16(key, uint16(x))
}

// Collection returns the counter key of an item collection in a table with local indexes: a counter {bytes}.
func Collection(t TableID, pk attr.Value) []byte {
	key := make([]byte, 0, tableKeyLen+1+valueRoom(pk))
	key = appendTable(key, spaceStatistics, t)
	return AppendSort(append(key, statisticsCollection), pk)
}

// IsCollection reports whether a key is the counter key of an item collection.
func IsCollection(key []byte) bool {
	return len(key) > tableKeyLen && key[0] == spaceStatistics && key[tableKeyLen] == statisticsCollection
}

// IsCounter distinguishes keys with counters from those with values.
func IsCounter(key []byte) bool {
	return len(key) > 0 && key[0] == spaceStatistics || bytes.Equal(key, Definitions()) || bytes.Equal(key, IdentityChanges())
}

// StatisticsBounds returns the range of all counters of a table: its own, those of its indexes and of its item collections.
func StatisticsBounds(t TableID) (lo, hi []byte) { return prefixBounds(tableKey(spaceStatistics, t)) }

// FormatVersion returns the key of the store's format version.
func FormatVersion() []byte { return []byte{spaceCatalog, catalogFormat} }

// NextTableID returns the key of the next table's id.
func NextTableID() []byte { return []byte{spaceCatalog, catalogNextID} }

// TableDescriptor returns the key of a table's definition.
func TableDescriptor(name string) []byte {
	return append([]byte{spaceCatalog, catalogDescriptor}, name...)
}

// TableDescriptors returns the range of all definitions, in bytewise order of the names.
func TableDescriptors() (lo, hi []byte) {
	return prefixBounds([]byte{spaceCatalog, catalogDescriptor})
}

// ParseTableDescriptor returns the name in a definition's key.
func ParseTableDescriptor(key []byte) (name string, err error) {
	if len(key) <= 2 || key[0] != spaceCatalog || key[1] != catalogDescriptor {
		return "", ErrCorrupt
	}
	return string(key[2:]), nil
}

// TableVersion returns the key that guards a table's definition: every write checks it, every change of the definition writes it.
func TableVersion(t TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogVersion}, uint32(t))
}

// IsTableVersion reports whether a key is a TableVersion.
func IsTableVersion(key []byte) bool {
	return len(key) == 6 && key[0] == spaceCatalog && key[1] == catalogVersion
}

// Stream returns the key of a stream's record, which may outlive the table.
func Stream(t TableID, label string) []byte {
	key := binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogStream}, uint32(t))
	return append(key, label...)
}

// Streams returns the range of all streams, by table.
func Streams() (lo, hi []byte) { return prefixBounds([]byte{spaceCatalog, catalogStream}) }

// Backup returns the key of a backup's record.
func Backup(id string) []byte { return append([]byte{spaceCatalog, catalogBackup}, id...) }

// Delivery returns the key of the progress of a table's delivery to its Kinesis destination.
func Delivery(t TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogDelivery}, uint32(t))
}

// Backups returns the range of all backups, in bytewise order of their ids.
func Backups() (lo, hi []byte) { return prefixBounds([]byte{spaceCatalog, catalogBackup}) }

// Transfer returns the key of the record of a transfer between a table and a bucket. An empty id is never used for a transfer.
func Transfer(kind byte, id string) []byte {
	return append([]byte{spaceCatalog, catalogTransfer, kind}, id...)
}

// Transfers returns the range of all transfers of a kind, in bytewise order of their ids.
func Transfers(kind byte) (lo, hi []byte) {
	return prefixBounds([]byte{spaceCatalog, catalogTransfer, kind})
}

// Token returns the key of a TransactWriteItems idempotency record.
func Token(token string) []byte { return append([]byte{spaceToken}, token...) }

// Identity returns the key of a user, role or policy, or of a unique record of the identity directory. kind is defined by the
// directory.
func Identity(kind byte, name string) []byte { return append([]byte{spaceIdentity, kind}, name...) }

// Identities returns the range of the whole identity directory.
func Identities() (lo, hi []byte) { return prefixBounds([]byte{spaceIdentity}) }

// ParseIdentity returns the parts of such a key.
func ParseIdentity(key []byte) (kind byte, name string, err error) {
	if len(key) < 2 || key[0] != spaceIdentity {
		return 0, "", ErrCorrupt
	}
	return key[1], string(key[2:]), nil
}

// tableKeyLen is the length of the common prefix of all keys of a table within a space.
const tableKeyLen = 1 + 4

func tableKey(space byte, t TableID) []byte {
	return appendTable(make([]byte, 0, tableKeyLen+3), space, t)
}

func appendTable(dst []byte, space byte, t TableID) []byte {
	return binary.BigEndian.AppendUint32(append(dst, space), uint32(t))
}

// PrefixEnd returns the smallest key greater than every key with the prefix. It is nil for a prefix of only 0xFF bytes, which no
// key here has.
func PrefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] < 0xFF {
			end := append(make([]byte, 0, i+1), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

func prefixBounds(prefix []byte) (lo, hi []byte) { return prefix, PrefixEnd(prefix) }
