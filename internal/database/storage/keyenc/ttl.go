package keyenc

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

const secondsLen = 8

// TTL appends the key of a TTL entry: 't' table seconds(8, big endian) pk sk; ordered by time.
func TTL(dst []byte, t TableID, seconds int64, pk, sk attr.Value) []byte {
	dst = slices.Grow(dst, tableKeyLen+secondsLen+valueRoom(pk)+valueRoom(sk))
	dst = appendSeconds(dst, t, seconds)
	return AppendSort(AppendSort(dst, pk), sk)
}

// appendSeconds inverts the sign bit, so that times before 1970 sort first.
func appendSeconds(dst []byte, t TableID, seconds int64) []byte {
	return binary.BigEndian.AppendUint64(appendTable(dst, spaceTTL, t), uint64(seconds)^1<<63)
}

// TTLBounds returns the range of the TTL entries of a table with seconds in [from, to).
func TTLBounds(t TableID, from, to int64) (lo, hi []byte) {
	return appendSeconds(nil, t, from), appendSeconds(nil, t, to)
}

// TTLTableBounds returns the range of all TTL entries of a table.
func TTLTableBounds(t TableID) (lo, hi []byte) { return prefixBounds(tableKey(spaceTTL, t)) }

// ParseTTL returns the parts of a TTL key. sk is the zero Value if the table has no sort key.
func ParseTTL(key []byte) (t TableID, seconds int64, pk, sk attr.Value, err error) {
	t, seconds, ok := ExpiryOf(key)
	if !ok {
		return 0, 0, attr.Value{}, attr.Value{}, ErrCorrupt
	}
	pk, sk, err = parsePrimary(key[tableKeyLen+secondsLen:])
	if err != nil {
		return 0, 0, attr.Value{}, attr.Value{}, err
	}
	return t, seconds, pk, sk, nil
}

// ExpiryOf returns the table and the seconds of a TTL key; ok is false for any other key.
func ExpiryOf(key []byte) (t TableID, seconds int64, ok bool) {
	if len(key) < tableKeyLen+secondsLen || key[0] != spaceTTL {
		return 0, 0, false
	}
	return TableID(binary.BigEndian.Uint32(key[1:])), int64(binary.BigEndian.Uint64(key[tableKeyLen:]) ^ 1<<63), true
}
