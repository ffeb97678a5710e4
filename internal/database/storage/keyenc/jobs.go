package keyenc

import "encoding/binary"

const jobKeyLen = tableKeyLen + 2 + 1

// Job returns the key of the record of a background job on a table. kind is defined by the engine; index is 0 for a job on the
// whole table.
func Job(t TableID, x IndexID, kind byte) []byte {
	key := binary.BigEndian.AppendUint16(tableKey(spaceJob, t), uint16(x))
	return append(key, kind)
}

// Jobs returns the range of all job records.
func Jobs() (lo, hi []byte) { return prefixBounds([]byte{spaceJob}) }
