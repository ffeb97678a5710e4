package verify

import (
	"encoding/binary"
	"hash/fnv"
	"strings"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// The layout of keys, as documented by package keyenc.

// dataPrefix returns the prefix of the keys of a table's items (index 0) or an index's entries.
func dataPrefix(t keyenc.TableID, x keyenc.IndexID) string {
	return tablePrefix('d', t) + string(binary.BigEndian.AppendUint16(nil, uint16(x)))
}

// tablePrefix returns the prefix of the keys of a table in one space.
func tablePrefix(space byte, t keyenc.TableID) string {
	return string(space) + string(binary.BigEndian.AppendUint32(nil, uint32(t)))
}

// partitionKey returns the key of an item or entry. The hash covers the encoded partition key.
func partitionKey(t keyenc.TableID, x keyenc.IndexID, pk, rest string) string {
	return dataPrefix(t, x) + string(binary.BigEndian.AppendUint16(nil, partitionHash(pk))) + pk + rest
}

// partitionHash is the upper end of FNV-1a, mixed by the finalizer of MurmurHash3.
func partitionHash(pk string) uint16 {
	fnv1a := fnv.New64a()
	fnv1a.Write([]byte(pk))
	h := fnv1a.Sum64()
	for _, factor := range []uint64{0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53} {
		h ^= h >> 33
		h *= factor
	}
	return uint16((h ^ h>>33) >> 48)
}

// ttlKey returns the key of the TTL entry of the item whose table key is encoded in key.
func ttlKey(t keyenc.TableID, seconds int64, key string) string {
	return tablePrefix('t', t) + string(binary.BigEndian.AppendUint64(nil, uint64(seconds)+1<<63)) + key //nolint:gosec // the sign bit, inverted
}

// collectionKey returns the key of an item collection's counter.
func collectionKey(t keyenc.TableID, pk string) string { return tablePrefix('s', t) + "\x01" + pk }

// statisticsKey returns the key of the counters of a table (index 0) or an index.
func statisticsKey(t keyenc.TableID, x keyenc.IndexID) string {
	return tablePrefix('s', t) + "\x00" + string(binary.BigEndian.AppendUint16(nil, uint16(x)))
}

// bounds returns the range of keys with a prefix. No prefix here ends with a byte 0xFF except within its ids.
func bounds(prefix string) (lo, hi []byte) {
	hi = []byte(prefix)
	for i := len(hi) - 1; i >= 0; i-- {
		hi[i]++
		if hi[i] != 0 {
			return []byte(prefix), hi[:i+1]
		}
	}
	return []byte(prefix), nil
}

// encodeKey encodes a value of kind S, N or B as part of a key.
func encodeKey(v value) string {
	switch v.kind {
	case "S":
		return "\x20" + escaped(v.text)
	case "B":
		return "\x28" + escaped(v.text)
	default:
		return encodeNumber(v.text)
	}
}

func escaped(text string) string { return strings.ReplaceAll(text, "\x00", "\x00\xFF") + "\x00\x01" }

// encodeNumber encodes a number: tag, exponent, pairs of digits, end.
func encodeNumber(text string) string {
	n, _ := parseNumber(text)
	if n.digits == "" {
		return "\x11"
	}
	digits := n.digits
	if len(digits)%2 == 1 {
		digits += "0"
	}
	body := []byte{byte(n.exponent + 129)} //nolint:gosec // the bounds of a number make it a byte
	for i := 0; i < len(digits); i += 2 {
		body = append(body, 1+10*(digits[i]-'0')+digits[i+1]-'0')
	}
	body = append(body, 0)
	if !n.negative {
		return "\x12" + string(body)
	}
	for i := range body {
		body[i] = ^body[i]
	}
	return "\x10" + string(body)
}

// cutKey splits the first encoded value off a key; it returns "" if there is none.
func cutKey(key string) (first, rest string) {
	if key == "" {
		return "", ""
	}
	head, end := key[:1], "\x00\x01"
	switch head {
	case "\x11":
		return head, key[1:]
	case "\x12":
		head, end = key[:min(2, len(key))], "\x00" // the exponent may be any byte
	case "\x10":
		head, end = key[:min(2, len(key))], "\xFF"
	}
	body, rest, found := strings.Cut(key[len(head):], end)
	if !found {
		return "", key
	}
	return head + body + end, rest
}
