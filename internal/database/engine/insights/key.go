package insights

import (
	"encoding/base64"
	"encoding/binary"
	"hash/fnv"
	"strconv"
	"unicode/utf8"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// textMax is how many bytes of a key's value are kept. A longer value is represented by its beginning and a hash of the whole.
const textMax = 256

// Part is the value of one key attribute: its type (S, N or B) and its text, which is base64 for binary values.
type Part struct {
	Type  string `json:"type"`
	Value string `json:"value"`
}

// Key identifies what was accessed. The zero Key means none.
type Key struct {
	partition string
	item      string // partition and sort key; "" if only the partition is known or there is no sort key
}

// KeyOf returns the key of these values; sk is empty if only the partition is known.
func KeyOf(pk, sk []attr.Value) Key {
	buffer := appendValues(make([]byte, 0, 64), pk)
	k := Key{partition: string(buffer)}
	if len(sk) > 0 {
		k.item = string(appendValues(buffer, sk))
	}
	return k
}

// appendValues appends for each value a byte for its type, the length of its text in two bytes, and its text.
func appendValues(dst []byte, values []attr.Value) []byte {
	for _, v := range values {
		text := display(v)
		dst = append(dst, v.Kind().String()[0])
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(text))) //nolint:gosec // at most textMax and a hash
		dst = append(dst, text...)
	}
	return dst
}

func display(v attr.Value) string {
	text := v.Text()
	if v.Kind() == attr.KindBinary {
		text = base64.StdEncoding.EncodeToString([]byte(text))
	}
	if len(text) <= textMax {
		return text
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(text))
	end := textMax
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "… #" + strconv.FormatUint(h.Sum64(), 16)
}

// partsOf is the inverse of appendValues.
func partsOf(key string) []Part {
	var parts []Part
	for len(key) >= 3 {
		n := int(binary.BigEndian.Uint16([]byte(key[1:3])))
		parts = append(parts, Part{Type: key[:1], Value: key[3 : 3+n]})
		key = key[3+n:]
	}
	return parts
}
