package keyenc

import "encoding/binary"

// HashOf returns the partition hash in the key of an item or an index entry.
func HashOf(key []byte) (uint16, error) {
	if len(key) < partitionAt || key[0] != spaceData {
		return 0, ErrCorrupt
	}
	return binary.BigEndian.Uint16(key[indexKeyLen:]), nil
}
