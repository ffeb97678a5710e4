package wire

import (
	"encoding/base64"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// AppendItem appends a stored item as JSON, without decoding it.
func AppendItem(dst []byte, it itemenc.Item) ([]byte, error) {
	return appendStoredFields(dst, it.Fields())
}

func appendStoredFields(dst []byte, fields itemenc.Fields) ([]byte, error) {
	var err error
	dst = append(dst, '{')
	for first := true; fields.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = appendContent(dst, fields.Name())
		dst = append(dst, `":`...)
		if dst, err = appendStoredValue(dst, fields.Value()); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), fields.Err()
}

func appendStoredValue(dst []byte, v itemenc.Value) ([]byte, error) {
	k := v.Kind()
	if k == attr.KindString { // most are
		dst = append(dst, `{"S":"`...)
		dst = appendContent(dst, v.Text())
		return append(dst, `"}`...), nil
	}
	dst = append(dst, opening(k)...)
	var err error
	switch k {
	case attr.KindNumber, attr.KindBinary:
		dst = appendScalar(dst, k, v.Text())
	case attr.KindBool:
		dst = appendBool(dst, v.Bool())
	case attr.KindMap:
		dst, err = appendStoredFields(dst, v.Fields())
	case attr.KindList, attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		dst, err = appendStoredElems(dst, k, v.Elems())
	default:
	}
	return append(dst, '}'), err
}

func appendStoredElems(dst []byte, k attr.Kind, elems itemenc.Elems) ([]byte, error) {
	var err error
	dst = append(dst, '[')
	for first := true; elems.Next(); first = false {
		if !first {
			dst = append(dst, ',')
		}
		if v := elems.Value(); k == attr.KindList {
			if dst, err = appendStoredValue(dst, v); err != nil {
				return nil, err
			}
		} else {
			dst = appendScalar(dst, v.Kind(), v.Text())
		}
	}
	return append(dst, ']'), elems.Err()
}

// AppendAttributes appends an item in memory as JSON.
func AppendAttributes(dst []byte, it attr.Item) []byte {
	dst = append(dst, '{')
	for i := range it {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendText(dst, []byte(it[i].Name))
		dst = append(dst, ':')
		dst = appendValue(dst, it[i].Value)
	}
	return append(dst, '}')
}

func appendValue(dst []byte, v attr.Value) []byte {
	k := v.Kind()
	dst = append(dst, opening(k)...)
	switch k {
	case attr.KindString, attr.KindNumber, attr.KindBinary:
		dst = appendScalar(dst, k, []byte(v.Text()))
	case attr.KindBool:
		dst = appendBool(dst, v.Bool())
	case attr.KindMap:
		dst = AppendAttributes(dst, v.Item())
	case attr.KindList, attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		dst = appendElems(dst, k, v.Elems())
	default:
	}
	return append(dst, '}')
}

func appendElems(dst []byte, k attr.Kind, elems []attr.Value) []byte {
	dst = append(dst, '[')
	for i, v := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		if k == attr.KindList {
			dst = appendValue(dst, v)
		} else {
			dst = appendScalar(dst, v.Kind(), []byte(v.Text()))
		}
	}
	return append(dst, ']')
}

// opening returns the part before a value's content; for NULL, the whole value.
func opening(k attr.Kind) string {
	switch k {
	case attr.KindString:
		return `{"S":`
	case attr.KindNumber:
		return `{"N":`
	case attr.KindBinary:
		return `{"B":`
	case attr.KindBool:
		return `{"BOOL":`
	case attr.KindNull:
		return `{"NULL":true`
	case attr.KindList:
		return `{"L":`
	case attr.KindMap:
		return `{"M":`
	case attr.KindStringSet:
		return `{"SS":`
	case attr.KindNumberSet:
		return `{"NS":`
	case attr.KindBinarySet:
		return `{"BS":`
	default:
		return `{`
	}
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// appendScalar appends the JSON string of an S, N or B.
func appendScalar(dst []byte, k attr.Kind, text []byte) []byte {
	switch k {
	case attr.KindNumber: // digits, sign and point need no escaping
		dst = append(dst, '"')
		dst = append(dst, text...)
		return append(dst, '"')
	case attr.KindBinary:
		dst = append(dst, '"')
		dst = base64.StdEncoding.AppendEncode(dst, text)
		return append(dst, '"')
	default:
		return appendText(dst, text)
	}
}
