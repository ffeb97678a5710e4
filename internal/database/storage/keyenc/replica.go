package keyenc

import (
	"encoding/binary"
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// ItemVersion appends the key of the version of a replica's item: 'v' table pk sk.
func ItemVersion(dst []byte, t TableID, pk, sk attr.Value) []byte {
	dst = slices.Grow(dst, tableKeyLen+valueRoom(pk)+valueRoom(sk))
	return AppendSort(AppendSort(appendTable(dst, spaceVersion, t), pk), sk)
}

// ItemVersions returns the range of the versions of all items of a table.
func ItemVersions(t TableID) (lo, hi []byte) { return prefixBounds(tableKey(spaceVersion, t)) }

// ParseItemVersion returns the parts of a version's key. sk is the zero Value if the table has no sort key.
func ParseItemVersion(key []byte) (t TableID, pk, sk attr.Value, err error) {
	if len(key) < tableKeyLen || key[0] != spaceVersion {
		return 0, attr.Value{}, attr.Value{}, ErrCorrupt
	}
	if pk, sk, err = parsePrimary(key[tableKeyLen:]); err != nil {
		return 0, attr.Value{}, attr.Value{}, err
	}
	return TableID(binary.BigEndian.Uint32(key[1:])), pk, sk, nil
}

// Position returns the key of how far the changes of the replica in another Region have arrived at a table.
func Position(t TableID, region string) []byte {
	key := binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogPosition}, uint32(t))
	return append(key, region...)
}

// Positions returns the range of the positions of a table.
func Positions(t TableID) (lo, hi []byte) {
	return prefixBounds(binary.BigEndian.AppendUint32([]byte{spaceCatalog, catalogPosition}, uint32(t)))
}
