package keyenc

import (
	"bytes"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// The first byte of a value. Different kinds never occur at the same position of keys, except that the order of the number tags
// is the order of the signs.
const (
	tagNegative = 0x10
	tagZero     = 0x11
	tagPositive = 0x12
	tagString   = 0x20
	tagBinary   = 0x28
)

// Within S and B.
const (
	escape    = 0x00 // prefix of a byte 00 and of the end
	escapedNo = 0xFF // escape escapedNo: a byte 00
	escapeEnd = 0x01 // escape escapeEnd: the end
)

// exponentBias maps the exponents of 0.d1d2…, from decimal.MinMagnitude+1, to 0…255.
const exponentBias = -(decimal.MinMagnitude + 1)

// AppendSort appends the self-delimiting and order-preserving encoding of one sort key value to a Partition prefix (or to a key
// with earlier sort key values). An absent value appends nothing.
func AppendSort(dst []byte, v attr.Value) []byte {
	if v.Kind() == attr.KindNumber {
		return appendNumber(dst, v.Text())
	}
	if !v.Kind().IsKey() {
		return dst
	}
	return append(AppendSortPrefix(dst, v), escape, escapeEnd)
}

// AppendSortPrefix appends the encoding of the beginning of an S or B value without its terminator: the prefix of all keys whose
// value begins with v (begins_with).
func AppendSortPrefix(dst []byte, v attr.Value) []byte {
	if v.Kind() == attr.KindString {
		dst = append(dst, tagString)
	} else {
		dst = append(dst, tagBinary)
	}
	text := v.Text()
	for {
		i := strings.IndexByte(text, escape)
		if i < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:i]...)
		dst = append(dst, escape, escapedNo)
		text = text[i+1:]
	}
}

func appendNumber(dst []byte, canonical string) []byte {
	var room [decimal.MaxDigits + 1]byte
	digits, negative, exp := decimal.ParseCanonical(canonical).AppendDigits(room[:0])
	if len(digits) == 0 {
		return append(dst, tagZero)
	}
	if len(digits)%2 == 1 {
		digits = append(digits, '0')
	}
	tag, invert := byte(tagPositive), byte(0x00)
	if negative {
		tag, invert = tagNegative, 0xFF
	}
	dst = append(dst, tag, byte(exp+exponentBias)^invert)
	for i := 0; i < len(digits); i += 2 {
		pair := 1 + (digits[i]-'0')*10 + (digits[i+1] - '0')
		dst = append(dst, pair^invert)
	}
	return append(dst, invert)
}

// valueRoom returns a number of bytes that usually suffices for the value's encoding.
func valueRoom(v attr.Value) int {
	switch v.Kind() {
	case attr.KindString, attr.KindBinary:
		return 1 + len(v.Text()) + 2
	case attr.KindNumber:
		return 1 + 1 + (len(v.Text())+1)/2 + 1
	default:
		return 0
	}
}

// cutValue splits off the value at the start of key.
func cutValue(key []byte) (v attr.Value, rest []byte, err error) {
	if len(key) == 0 {
		return attr.Value{}, nil, ErrCorrupt
	}
	tag, key := key[0], key[1:]
	switch tag {
	case tagString, tagBinary:
		text, rest, err := cutText(key)
		if err != nil {
			return attr.Value{}, nil, err
		}
		if tag == tagString {
			return attr.String(text), rest, nil
		}
		return attr.Binary(text), rest, nil
	case tagZero:
		return attr.Number("0"), key, nil
	case tagPositive, tagNegative:
		return cutNumber(key, tag == tagNegative)
	default:
		return attr.Value{}, nil, ErrCorrupt
	}
}

func cutText(key []byte) (text string, rest []byte, err error) {
	var unescaped []byte
	for {
		i := bytes.IndexByte(key, escape)
		if i < 0 || i+1 == len(key) {
			return "", nil, ErrCorrupt
		}
		switch key[i+1] {
		case escapeEnd:
			if unescaped == nil {
				return string(key[:i]), key[i+2:], nil
			}
			return string(append(unescaped, key[:i]...)), key[i+2:], nil
		case escapedNo:
			unescaped = append(append(unescaped, key[:i]...), escape)
			key = key[i+2:]
		default:
			return "", nil, ErrCorrupt
		}
	}
}

func cutNumber(key []byte, negative bool) (v attr.Value, rest []byte, err error) {
	invert := byte(0x00)
	if negative {
		invert = 0xFF
	}
	if len(key) < 2 {
		return attr.Value{}, nil, ErrCorrupt
	}
	const longest = (decimal.MaxDigits + 1) / 2
	exp, pairs := int(key[0]^invert)-exponentBias, key[1:]
	end := bytes.IndexByte(pairs, invert)
	if end < 1 || end > longest {
		return attr.Value{}, nil, ErrCorrupt
	}
	var room [2 * longest]byte
	digits := room[:0]
	for _, b := range pairs[:end] {
		pair := (b ^ invert) - 1
		if pair > 99 {
			return attr.Value{}, nil, ErrCorrupt
		}
		digits = append(digits, '0'+pair/10, '0'+pair%10)
	}
	if last := len(digits) - 1; digits[last] == '0' {
		digits = digits[:last]
	}
	d, err := decimal.FromDigits(negative, digits, exp)
	if err != nil {
		return attr.Value{}, nil, ErrCorrupt
	}
	return attr.Number(d.String()), pairs[end+1:], nil
}
