package stream

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// sequenceDigits is the length of a sequence number: the digit 1 and enough digits for any kv.Seq, so that texts and integers
// sort alike.
const sequenceDigits = 21

// SequenceNumber returns a record's number in the API's form.
func SequenceNumber(seq kv.Seq) string { return fmt.Sprintf("1%0*d", sequenceDigits-1, uint64(seq)) }

// ParseSequenceNumber parses the result of SequenceNumber, and nothing else.
func ParseSequenceNumber(text string) (seq kv.Seq, ok bool) {
	if len(text) != sequenceDigits || text[0] != '1' {
		return 0, false
	}
	n, err := strconv.ParseUint(text[1:], 10, 64)
	return kv.Seq(n), err == nil
}

// EventID identifies one record among those of all streams: 32 hexadecimal digits, the same at every read.
func EventID(table keyenc.TableID, label string, seq kv.Seq) string {
	id := binary.BigEndian.AppendUint64(nil, uint64(seq))
	id = binary.BigEndian.AppendUint32(id, uint32(table))
	sum := sha256.Sum256(append(id, label...))
	return hex.EncodeToString(sum[:16])
}
