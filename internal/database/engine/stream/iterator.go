package stream

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"time"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// IteratorLifetime is how long an iterator can be used.
const IteratorLifetime = 15 * time.Minute

// Iterator is a position in a shard. Its text is self-contained, so it stays valid after a restart.
type Iterator struct {
	ARN    string // of the stream
	Table  keyenc.TableID
	Label  string
	Shard  string
	Next   kv.Seq // no record below it will be returned
	Issued int64  // milliseconds since the epoch
}

// The text consists of the stream's ARN, a constant part, and in URL-safe base64 without padding:
//
//	┌───┬───────┬──────┬────────┬────────┬───────┬────────┬───────┬──────────┐
//	│ 2 │ table │ next │ issued │ length │ label │ length │ shard │ checksum │
//	└───┴───────┴──────┴────────┴────────┴───────┴────────┴───────┴──────────┘
//	  1     4      8       8        1                 1               4
//
// The checksum also covers the ARN.
const (
	iteratorVersion = 2
	iteratorHead    = 1 + 4 + 8 + 8
	checksumLen     = 4
	iteratorMiddle  = "|1|"
)

var iteratorText = base64.RawURLEncoding

// String returns the iterator's text. Label and Shard have at most 255 bytes.
func (it Iterator) String() string {
	b := make([]byte, 0, iteratorHead+2+len(it.Label)+len(it.Shard)+checksumLen)
	b = append(b, iteratorVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(it.Table))
	b = binary.BigEndian.AppendUint64(b, uint64(it.Next))
	b = binary.BigEndian.AppendUint64(b, uint64(it.Issued))
	for _, part := range []string{it.Label, it.Shard} {
		b = append(b, byte(len(part)))
		b = append(b, part...)
	}
	b = binary.BigEndian.AppendUint32(b, iteratorSum(it.ARN, b))
	return it.ARN + iteratorMiddle + iteratorText.EncodeToString(b)
}

func iteratorSum(arn string, b []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE([]byte(arn)), crc32.IEEETable, b)
}

// ParseIterator parses the result of String, and nothing else.
func ParseIterator(text string) (it Iterator, ok bool) {
	arn, opaque, found := strings.Cut(text, iteratorMiddle)
	b, err := iteratorText.DecodeString(opaque)
	if !found || err != nil || len(b) < iteratorHead+2+checksumLen || b[0] != iteratorVersion {
		return Iterator{}, false
	}
	b, sum := b[:len(b)-checksumLen], binary.BigEndian.Uint32(b[len(b)-checksumLen:])
	if iteratorSum(arn, b) != sum {
		return Iterator{}, false
	}
	it.ARN = arn
	it.Table = keyenc.TableID(binary.BigEndian.Uint32(b[1:]))
	it.Next = kv.Seq(binary.BigEndian.Uint64(b[5:]))
	it.Issued = int64(binary.BigEndian.Uint64(b[13:]))
	rest := b[iteratorHead:]
	for _, part := range []*string{&it.Label, &it.Shard} {
		if len(rest) == 0 || int(rest[0]) >= len(rest) {
			return Iterator{}, false
		}
		end := 1 + int(rest[0])
		*part, rest = string(rest[1:end]), rest[end:]
	}
	return it, it.String() == text // base64 decoding ignores line breaks
}

// Expired reports whether the iterator has expired at a time.
func (it Iterator) Expired(now time.Time) bool {
	return now.UnixMilli()-it.Issued > IteratorLifetime.Milliseconds()
}
