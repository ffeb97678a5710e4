package keyenc

import "encoding/binary"

// metricsKeyLen is the length of the key of a minute's metrics.
const metricsKeyLen = 1 + 8

// Metrics returns the key of the metrics of a minute, counted since the epoch and not negative.
func Metrics(minute int64) []byte {
	return binary.BigEndian.AppendUint64([]byte{spaceMetrics}, uint64(minute))
}

// ParseMetrics returns the minute in such a key.
func ParseMetrics(key []byte) (minute int64, err error) {
	if len(key) != metricsKeyLen || key[0] != spaceMetrics || key[1] >= 0x80 {
		return 0, ErrCorrupt
	}
	return int64(binary.BigEndian.Uint64(key[1:])), nil
}
