package keyenc

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// indexKeyLen is the length of the common prefix of all keys of a table or index, and partitionAt that of the part before the
// partition key.
const (
	indexKeyLen = tableKeyLen + 2
	hashLen     = 2
	partitionAt = indexKeyLen + hashLen
)

// Hashes is the number of partition hashes, and thus of the segments of a parallel scan that can be non-empty.
const Hashes = 1 << (8 * hashLen)

// PartitionHash returns the 2-byte hash of a partition key (of all its values, in order).
func PartitionHash(pk []attr.Value) uint16 {
	var room [128]byte
	return hash(appendValues(room[:0], pk))
}

// hash is the upper end of 64-bit FNV-1a over encoded values, after a finalizer: FNV alone leaves the last bytes of short keys in
// the lower bits. It determines where every item is stored and must never change.
func hash(encoded []byte) uint16 {
	const (
		offset = 14695981039346656037
		prime  = 1099511628211
	)
	h := uint64(offset)
	for _, b := range encoded {
		h = (h ^ uint64(b)) * prime
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd // the finalizer of MurmurHash3
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return uint16(h >> 48)
}

// Item appends the key of an item: 'd' table index=0 hash pk sk. sk is the zero Value for a table without a sort key. It
// allocates at most once.
func Item(dst []byte, t TableID, pk, sk attr.Value) []byte {
	dst = slices.Grow(dst, partitionAt+valueRoom(pk)+valueRoom(sk))
	dst = appendIndex(dst, t, 0)
	at := len(dst)
	dst = AppendSort(append(dst, 0, 0), pk)
	putHash(dst, at)
	return AppendSort(dst, sk)
}

// IndexEntry appends the key of an index entry: 'd' table index hash pk… sk… followed by the table's own pk and sk. It allocates
// at most once.
func IndexEntry(dst []byte, t TableID, x IndexID, pk, sk []attr.Value, basePK, baseSK attr.Value) []byte {
	dst = slices.Grow(dst, partitionAt+valuesRoom(pk)+valuesRoom(sk)+valueRoom(basePK)+valueRoom(baseSK))
	dst = Partition(dst, t, x, pk)
	dst = appendValues(dst, sk)
	return AppendSort(AppendSort(dst, basePK), baseSK)
}

// Partition returns the common prefix of all entries of one partition of a table (x=0) or index.
func Partition(dst []byte, t TableID, x IndexID, pk []attr.Value) []byte {
	dst = slices.Grow(dst, partitionAt+valuesRoom(pk))
	dst = appendIndex(dst, t, x)
	at := len(dst)
	dst = appendValues(append(dst, 0, 0), pk)
	putHash(dst, at)
	return dst
}

// putHash writes the hash of what follows into the two bytes at dst[at:].
func putHash(dst []byte, at int) {
	binary.BigEndian.PutUint16(dst[at:], hash(dst[at+hashLen:]))
}

func appendIndex(dst []byte, t TableID, x IndexID) []byte {
	return binary.BigEndian.AppendUint16(appendTable(dst, spaceData, t), uint16(x))
}

func appendValues(dst []byte, values []attr.Value) []byte {
	for _, v := range values {
		dst = AppendSort(dst, v)
	}
	return dst
}

func valuesRoom(values []attr.Value) int {
	room := 0
	for _, v := range values {
		room += valueRoom(v)
	}
	return room
}

// TableBounds returns the range of all items and index entries of a table.
func TableBounds(t TableID) (lo, hi []byte) { return prefixBounds(tableKey(spaceData, t)) }

// IndexBounds returns the whole range [lo, hi) of a table (x=0) or one index.
func IndexBounds(t TableID, x IndexID) (lo, hi []byte) {
	return prefixBounds(appendIndex(nil, t, x))
}

// SegmentBounds returns the part of IndexBounds for one segment of a parallel scan, split by hash: 0 ≤ segment < total. Together
// the segments cover the range, each key once; with more segments than hashes some are empty (lo = hi).
func SegmentBounds(t TableID, x IndexID, segment, total int64) (lo, hi []byte) {
	return hashBound(t, x, segment*Hashes/total), hashBound(t, x, (segment+1)*Hashes/total)
}

// hashBound returns the first key of a hash, or the end of the range for the one after the last.
func hashBound(t TableID, x IndexID, h int64) []byte {
	key := appendIndex(make([]byte, 0, partitionAt), t, x)
	if h == Hashes {
		return PrefixEnd(key)
	}
	return binary.BigEndian.AppendUint16(key, uint16(h))
}

// InTable appends to dst the counterpart of a key in another table. key is that of an item, an index entry or a counter.
func InTable(dst, key []byte, t TableID) []byte {
	return append(appendTable(dst, key[0], t), key[tableKeyLen:]...)
}

// ParseIndex returns the table and the index, or 0 for the table itself, of a data key.
func ParseIndex(key []byte) (t TableID, x IndexID, err error) {
	if len(key) < partitionAt || key[0] != spaceData {
		return 0, 0, ErrCorrupt
	}
	return TableID(binary.BigEndian.Uint32(key[1:])), IndexID(binary.BigEndian.Uint16(key[tableKeyLen:])), nil
}

// ParseItem returns the parts of an item's key.
func ParseItem(key []byte) (t TableID, pk, sk attr.Value, err error) {
	t, x, rest, err := cutPartition(key, 1)
	if err != nil || x != 0 {
		return 0, attr.Value{}, attr.Value{}, ErrCorrupt
	}
	pk, sk, err = parsePrimary(rest)
	return t, pk, sk, err
}

// ParseIndexEntry returns the parts of an index entry's key, given the number of values in its index key.
func ParseIndexEntry(key []byte, nPK, nSK int) (t TableID, x IndexID, pk, sk []attr.Value, basePK, baseSK attr.Value, err error) {
	t, x, rest, err := cutPartition(key, nPK)
	if err == nil {
		pk, rest, err = cutValues(rest, nPK)
	}
	if err == nil {
		sk, rest, err = cutValues(rest, nSK)
	}
	if err == nil {
		basePK, baseSK, err = parsePrimary(rest)
	}
	if err != nil {
		return 0, 0, nil, nil, attr.Value{}, attr.Value{}, err
	}
	return t, x, pk, sk, basePK, baseSK, nil
}

// cutPartition returns table, index, and the values of a data key whose partition key has nPK values; its hash must match them.
func cutPartition(key []byte, nPK int) (t TableID, x IndexID, values []byte, err error) {
	if t, x, err = ParseIndex(key); err != nil {
		return 0, 0, nil, err
	}
	values = key[partitionAt:]
	rest := values
	for range nPK {
		if _, rest, err = cutValue(rest); err != nil {
			return 0, 0, nil, err
		}
	}
	if hash(values[:len(values)-len(rest)]) != binary.BigEndian.Uint16(key[indexKeyLen:]) {
		return 0, 0, nil, ErrCorrupt
	}
	return t, x, values, nil
}

// parsePrimary parses a table's key, to the end of b: a partition key, and optionally a sort key.
func parsePrimary(b []byte) (pk, sk attr.Value, err error) {
	pk, rest, err := cutValue(b)
	if err == nil && len(rest) > 0 {
		sk, rest, err = cutValue(rest)
	}
	if err != nil || len(rest) > 0 {
		return attr.Value{}, attr.Value{}, ErrCorrupt
	}
	return pk, sk, nil
}

func cutValues(b []byte, n int) (values []attr.Value, rest []byte, err error) {
	for range n {
		var v attr.Value
		if v, b, err = cutValue(b); err != nil {
			return nil, nil, err
		}
		values = append(values, v)
	}
	return values, b, nil
}
