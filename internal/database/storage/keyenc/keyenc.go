// Package keyenc lays out the database's key space: tables, indexes, TTL, catalog, statistics,
// jobs, tokens, metrics, identities as ordered bytes.
//
// # Key space
//
// The first byte of a key says which space it is in. Numbers are big endian, so that byte order is numeric
// order; a table's and an index's id are never used again, so nothing of a dropped table can be mistaken
// for something of its successor. No key begins with a byte of 0xE0 or more: those are the store's own.
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
// Hash is a hash of the whole partition key. It spreads partitions evenly over the range of a table, so that
// a parallel scan splits by it and a distributed store's regions fill alike; within one hash partitions
// stand in the order of their keys. An index entry ends with the table's key since index keys are not
// unique; a page of an index resumes after both.
//
// # Values
//
// A value is self-delimiting and the bytes of two values of one kind order as the values do, whatever
// follows them. Its first byte tells the kind, so a key can be read without its table's definition.
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
//	I2  The encoding of a key is what it is for ever: format_v1 holds it, the hash included.
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

// TableID names a table for ever: table names can be reused, ids never are.
type TableID uint32

// IndexID names one index of a table for ever. 0 is the table itself.
type IndexID uint16

// ErrCorrupt says that bytes are no key of the kind that was asked for.
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

// Statistics is the counter key of a table (x=0) or index: counters {items, bytes}.
func Statistics(t TableID, x IndexID) []byte {
	key := append(tableKey(spaceStatistics, t), statisticsIndex)
	return binary.BigEndian.AppendUint16(key, uint16(x))
}

// Collection is the counter key of one item collection of a table with local indexes: a counter {bytes}.
func Collection(t TableID, pk attr.Value) []byte {
	key := make([]byte, 0, tableKeyLen+1+valueRoom(pk))
	key = appendTable(key, spaceStatistics, t)
	return AppendSort(append(key, statisticsCollection), pk)
}

// IsCollection tells the counter key of an item collection from other keys.
func IsCollection(key []byte) bool {
	return len(key) > tableKeyLen && key[0] == spaceStatistics && key[tableKeyLen] == statisticsCollection
}

// IsCounter tells the keys that have counters from those that have values.
func IsCounter(key []byte) bool {
	return len(key) > 0 && key[0] == spaceStatistics || bytes.Equal(key, Definitions()) || bytes.Equal(key, IdentityChanges())
}

// StatisticsBounds is the range of all counters of a table: its own, its indexes', its item collections'.
func StatisticsBounds(t TableID) (lo, hi []byte) { return prefixBounds(tableKey(spaceStatistics, t)) }

// FormatVersion is the key of the store's format version.
func FormatVersion() []byte { return []byte{spaceCatalog, catalogFormat} }

// NextTableID is the key of the id that the next table gets.
func NextTableID() []byte { return []byte{spaceCatalog, catalogNextID} }

// TableDescriptor is the key of a table's definition.
func TableDescriptor(name string) []byte {
	return append([]byte{spaceCatalog, catalogDescriptor}, name...)
}

// TableDescriptors is the range of all definitions, in the order of the names' bytes.
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

// TableVersion guards a table's shape: every write checks it, every change of shape writes it.
func TableVersion(t TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogVersion}, uint32(t))
}

// IsTableVersion reports whether a key is a TableVersion.
func IsTableVersion(key []byte) bool {
	return len(key) == 6 && key[0] == spaceCatalog && key[1] == catalogVersion
}

// Stream is the key of what is known of one stream of a table; it may outlive the table.
func Stream(t TableID, label string) []byte {
	key := binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogStream}, uint32(t))
	return append(key, label...)
}

// Streams is the range of all streams, by table.
func Streams() (lo, hi []byte) { return prefixBounds([]byte{spaceCatalog, catalogStream}) }

// Backup is the key of what is known of one backup.
func Backup(id string) []byte { return append([]byte{spaceCatalog, catalogBackup}, id...) }

// Delivery holds how far the changes of a table have been delivered to its Kinesis destination.
func Delivery(t TableID) []byte {
	return binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogDelivery}, uint32(t))
}

// Backups is the range of all backups, in the order of their ids' bytes.
func Backups() (lo, hi []byte) { return prefixBounds([]byte{spaceCatalog, catalogBackup}) }

// Transfer is the key of what is known of one transfer between a table and a bucket. No transfer has the id "".
func Transfer(kind byte, id string) []byte {
	return append([]byte{spaceCatalog, catalogTransfer, kind}, id...)
}

// Transfers is the range of all transfers of a kind, in the order of their ids' bytes.
func Transfers(kind byte) (lo, hi []byte) {
	return prefixBounds([]byte{spaceCatalog, catalogTransfer, kind})
}

// Token is the key of a TransactWriteItems idempotency record.
func Token(token string) []byte { return append([]byte{spaceToken}, token...) }

// Tokens is the range of all idempotency records.
func Tokens() (lo, hi []byte) { return prefixBounds([]byte{spaceToken}) }

// Identity is the key of a user, role or policy, or of what the directory of these has one of. kind is a character of the
// directory's.
func Identity(kind byte, name string) []byte { return append([]byte{spaceIdentity, kind}, name...) }

// Identities is the range of the whole directory.
func Identities() (lo, hi []byte) { return prefixBounds([]byte{spaceIdentity}) }

// ParseIdentity returns the parts of such a key.
func ParseIdentity(key []byte) (kind byte, name string, err error) {
	if len(key) < 2 || key[0] != spaceIdentity {
		return 0, "", ErrCorrupt
	}
	return key[1], string(key[2:]), nil
}

// tableKeyLen is the length of what all keys of a table within a space begin with.
const tableKeyLen = 1 + 4

func tableKey(space byte, t TableID) []byte {
	return appendTable(make([]byte, 0, tableKeyLen+3), space, t)
}

func appendTable(dst []byte, space byte, t TableID) []byte {
	return binary.BigEndian.AppendUint32(append(dst, space), uint32(t))
}

// PrefixEnd returns the smallest key greater than every key that has the prefix. A prefix of 0xFF bytes
// only, which no key here begins with, has no such key: then it is nil.
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
