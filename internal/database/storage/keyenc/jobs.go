package keyenc

import "encoding/binary"

const jobKeyLen = tableKeyLen + 2 + 1

// Job is the key of the record of one job, which is work on a table that goes on after the request that
// caused it. kind is a character of the engine's; index is 0 for a job on the whole table.
func Job(t TableID, x IndexID, kind byte) []byte {
	key := binary.BigEndian.AppendUint16(tableKey(spaceJob, t), uint16(x))
	return append(key, kind)
}

// Jobs is the range of all job records.
func Jobs() (lo, hi []byte) { return prefixBounds([]byte{spaceJob}) }
