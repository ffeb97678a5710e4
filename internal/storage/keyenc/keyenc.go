// Package keyenc lays out the database's key space: tables, indexes, TTL, catalog, statistics, tokens
// as ordered bytes.
package keyenc

import "github.com/monotable/monotable/internal/dynamo/attr"

// TableID and IndexID name a table and one of its indexes for ever; names can be reused, ids never are.
// IndexID 0 is the table itself.
type (
	TableID uint32
	IndexID uint16
)

// PartitionHash is the 2-byte hash of a partition key (of all its values, in order).
func PartitionHash(pk []attr.Value) uint16 { panic("skeleton") }

// Item is the key of a base item: 'd' table index=0 hash pk sk. sk is the zero Value for a table without sort key.
func Item(dst []byte, t TableID, pk, sk attr.Value) []byte { panic("skeleton") }

// IndexEntry is the key of an index entry: 'd' table index hash pk… sk… then the table's own pk and sk.
func IndexEntry(dst []byte, t TableID, x IndexID, pk, sk []attr.Value, basePK, baseSK attr.Value) []byte {
	panic("skeleton")
}

// Partition is the prefix that all entries of one partition of a table (x=0) or index share.
func Partition(dst []byte, t TableID, x IndexID, pk []attr.Value) []byte { panic("skeleton") }

// AppendSort appends the encoding of one sort key value, self-delimiting and order-preserving, to a
// Partition prefix (or to a key that already has earlier sort key values).
func AppendSort(dst []byte, v attr.Value) []byte { panic("skeleton") }

// AppendSortPrefix appends the encoding of the beginning of an S or B value without its terminator:
// the prefix of all keys whose value begins with v (begins_with).
func AppendSortPrefix(dst []byte, v attr.Value) []byte { panic("skeleton") }

// PrefixEnd returns the smallest key greater than every key that has the prefix.
func PrefixEnd(prefix []byte) []byte { panic("skeleton") }

// IndexBounds is the whole range [lo, hi) of a table (x=0) or one index.
func IndexBounds(t TableID, x IndexID) (lo, hi []byte) { panic("skeleton") }

// SegmentBounds is the part of IndexBounds that belongs to one segment of a parallel scan, split by hash.
// With more segments than hashes some are empty.
func SegmentBounds(t TableID, x IndexID, segment, total int64) (lo, hi []byte) { panic("skeleton") }

// TableBounds is the range that holds all items and index entries of a table.
func TableBounds(t TableID) (lo, hi []byte) { panic("skeleton") }

// TTL is the key of a TTL entry: 't' table seconds(8, big endian) pk sk; ordered by time.
func TTL(dst []byte, t TableID, seconds int64, pk, sk attr.Value) []byte { panic("skeleton") }

// TTLBounds is the range of TTL entries of a table with seconds in [from, to).
func TTLBounds(t TableID, from, to int64) (lo, hi []byte) { panic("skeleton") }

// ParseTTL returns the parts of a TTL key; nSort tells whether the table has a sort key.
func ParseTTL(key []byte) (t TableID, seconds int64, pk, sk attr.Value, err error) { panic("skeleton") }

// ParseItem returns the parts of a base item's key.
func ParseItem(key []byte) (t TableID, pk, sk attr.Value, err error) { panic("skeleton") }

// ParseIndexEntry returns the parts of an index entry's key, given how many values its index key has.
func ParseIndexEntry(key []byte, nPK, nSK int) (t TableID, x IndexID, pk, sk []attr.Value, basePK, baseSK attr.Value, err error) {
	panic("skeleton")
}

// Statistics is the counter key of a table (x=0) or index: counters {items, bytes}.
func Statistics(t TableID, x IndexID) []byte { panic("skeleton") }

// Catalog keys: the store's format version, the next table id, one descriptor a table, one version a table.
func FormatVersion() []byte              { panic("skeleton") }
func NextTableID() []byte                { panic("skeleton") }
func TableDescriptor(name string) []byte { panic("skeleton") }
func TableDescriptors() (lo, hi []byte)  { panic("skeleton") }

// TableVersion guards a table's shape: every write checks it, every change of shape writes it.
func TableVersion(t TableID) []byte { panic("skeleton") }

// Token is the key of a TransactWriteItems idempotency record.
func Token(token string) []byte { panic("skeleton") }
func Tokens() (lo, hi []byte)   { panic("skeleton") }
