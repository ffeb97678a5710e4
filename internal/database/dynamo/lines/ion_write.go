package lines

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// ionMark is at the beginning of each line that AWS writes.
const ionMark = "$ion_1_0 "

// annotations distinguish sets from lists.
var annotations = map[attr.Kind]string{
	attr.KindStringSet: "$dynamodb_SS", attr.KindNumberSet: "$dynamodb_NS", attr.KindBinarySet: "$dynamodb_BS",
}

// AppendIonItem appends the line of an item in Amazon Ion.
func AppendIonItem(dst []byte, it itemenc.Item) ([]byte, error) {
	dst = append(dst, ionMark+"{Item:"...)
	dst, err := appendIonFields(dst, it.Fields())
	return append(dst, '}', '\n'), err
}

// AppendIonChange appends the line of a change in Amazon Ion.
func AppendIonChange(dst []byte, c Change) ([]byte, error) {
	dst = append(dst, ionMark+"{Record:{Metadata:{WriteTimestampMicros:"...)
	dst = strconv.AppendInt(dst, c.Micros, 10)
	dst = append(dst, ".},Keys:"...)
	dst, err := appendIonFields(dst, c.Keys.Fields())
	for _, image := range [...]struct {
		name string
		item itemenc.Item
	}{{",OldImage:", c.Old}, {",NewImage:", c.New}} {
		if err != nil {
			return dst, err
		}
		if image.item != nil {
			dst, err = appendIonFields(append(dst, image.name...), image.item.Fields())
		}
	}
	return append(dst, '}', '}', '\n'), err
}

func appendIonFields(dst []byte, fields itemenc.Fields) (_ []byte, err error) {
	dst = append(dst, '{')
	for first := true; fields.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = append(appendIonName(dst, string(fields.Name())), ':')
		if dst, err = appendIonValue(dst, fields.Value()); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), fields.Err()
}

func appendIonValue(dst []byte, v itemenc.Value) (_ []byte, err error) {
	switch k := v.Kind(); k {
	case attr.KindString, attr.KindNumber, attr.KindBinary:
		return appendIonScalar(dst, k, string(v.Text())), nil
	case attr.KindBool:
		return strconv.AppendBool(dst, v.Bool()), nil
	case attr.KindMap:
		return appendIonFields(dst, v.Fields())
	case attr.KindList, attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		if name := annotations[k]; name != "" {
			dst = append(append(dst, name...), "::"...)
		}
		dst = append(dst, '[')
		elems := v.Elems()
		for first := true; elems.Next(); first = false {
			if !first {
				dst = append(dst, ',')
			}
			if dst, err = appendIonValue(dst, elems.Value()); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), elems.Err()
	default:
		return append(dst, "null"...), nil
	}
}

func appendIonScalar(dst []byte, k attr.Kind, text string) []byte {
	switch k {
	case attr.KindNumber:
		return appendIonNumber(dst, text)
	case attr.KindBinary:
		dst = append(dst, "{{"...)
		dst = base64.StdEncoding.AppendEncode(dst, []byte(text))
		return append(dst, "}}"...)
	default:
		return appendIonText(dst, text, '"')
	}
}

// appendIonNumber appends a number in plain digits as a decimal: its digits without trailing zeros, with a point among them or an
// exponent after them, like Ion's own writers.
func appendIonNumber(dst []byte, text string) []byte {
	if digits, negative := strings.CutPrefix(text, "-"); negative {
		dst, text = append(dst, '-'), digits
	}
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return append(dst, "0."...)
	}
	exponent := -len(fraction)
	for exponent < 0 && digits[len(digits)-1] == '0' || exponent >= 0 && len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		exponent++
	}
	const zerosMax = 6 // after the point, before an exponent is used
	switch point := len(digits) + exponent; {
	case exponent == 0:
		return append(append(dst, digits...), '.')
	case exponent < 0 && point > 0:
		return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
	case exponent < 0 && point > -zerosMax:
		return append(append(append(dst, "0."...), "000000"[:-point]...), digits...)
	default:
		return strconv.AppendInt(append(append(dst, digits...), 'd'), int64(exponent), 10)
	}
}

// appendIonName appends the name of a field: a symbol, in quotes unless it is an identifier.
func appendIonName(dst []byte, name string) []byte {
	switch {
	case name == "null", name == "true", name == "false", name == "nan":
	case len(name) > 1 && name[0] == '$' && strings.Trim(name[1:], "0123456789") == "": // the number of a symbol
	case name != "" && !isDigit(name[0]) && isIdentifier(name):
		return append(dst, name...)
	}
	return appendIonText(dst, name, '\'')
}

func isIdentifier(name string) bool {
	for i := range len(name) {
		if !isIdentifierPart(name[i]) {
			return false
		}
	}
	return true
}

func isIdentifierPart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '$'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// ionEscapes are the letters of escapes: of control characters, and of characters that stand for themselves.
const (
	ionEscapes = `0abtnfrv"'?/\`
	ionEscaped = "\x00\a\b\t\n\f\r\v\"'?/\\"
)

// appendIonText appends a text in quotes.
func appendIonText(dst []byte, text string, quote byte) []byte {
	dst = append(dst, quote)
	for i := range len(text) {
		switch c := text[i]; {
		case c == quote, c == '\\':
			dst = append(dst, '\\', c)
		case c >= ' ' && c != 0x7F:
			dst = append(dst, c)
		default:
			if at := strings.IndexByte(ionEscaped, c); at >= 0 {
				dst = append(dst, '\\', ionEscapes[at])
			} else {
				const hex = "0123456789abcdef"
				dst = append(dst, '\\', 'x', hex[c>>4], hex[c&15])
			}
		}
	}
	return append(dst, quote)
}
