package wire

import (
	"reflect"
	"strconv"

	"github.com/go-faster/jx"

	"github.com/monotable/monotable/internal/dynamo/apierr"
)

// target is what the API's model has where a JSON value stands.
type target uint8

const (
	targetString target = iota
	targetInteger
	targetLong
	targetBoolean
	targetBlob
	targetList
	targetMap
	targetStructure
)

// AWS's sentences for JSON values of another type than the model's.
const (
	unexpectedList      = "Start of list found where not expected"
	unexpectedStructure = "Start of structure or map found where not expected"
	unexpectedField     = "Unexpected field type"
	unexpectedValue     = "Unexpected value type in payload"
	unexpectedToken     = "Unexpected token received from parser"
	unexpectedBinary    = "only base-64-encoded strings are convertible to bytes"
)

// converted are the model's types as AWS names them in "NUMBER_VALUE cannot be converted to String".
var converted = map[target]string{
	targetString:  "String",
	targetInteger: "Integer",
	targetLong:    "Long",
	targetBoolean: "Boolean",
}

// mismatch reads the next JSON value, which is of another type than want, and returns what AWS says of it.
func (d *decoder) mismatch(want target) error {
	switch d.jx.Next() {
	case jx.Array:
		return apierr.Serialization(unexpectedList)
	case jx.Object:
		return apierr.Serialization(unexpectedStructure)
	default:
	}
	token, err := d.token()
	if err != nil {
		return err
	}
	switch want {
	case targetBlob:
		return apierr.Serialization(unexpectedBinary)
	case targetList, targetMap:
		return apierr.Serialization(unexpectedField)
	case targetStructure:
		return apierr.Serialization(unexpectedValue)
	case targetBoolean:
		if token == "STRING_VALUE" {
			return apierr.Serialization(unexpectedToken)
		}
	default:
	}
	return apierr.Serialization(token + " cannot be converted to " + converted[want])
}

// token reads a scalar and returns its kind in the words of AWS's JSON parser.
func (d *decoder) token() (string, error) {
	switch d.jx.Next() {
	case jx.String:
		_, err := d.jx.StrBytes()
		return "STRING_VALUE", err
	case jx.Bool:
		b, err := d.jx.Bool()
		if b {
			return "TRUE_VALUE", err
		}
		return "FALSE_VALUE", err
	case jx.Number:
		n, err := d.jx.Num()
		if err == nil && !n.IsInt() {
			return "DECIMAL_VALUE", nil
		}
		return "NUMBER_VALUE", err
	default:
		return "NULL_VALUE", d.jx.Skip()
	}
}

// str reads a string; it is valid until the next read.
func (d *decoder) str(want target) ([]byte, error) {
	if d.jx.Next() != jx.String {
		return nil, d.mismatch(want)
	}
	return d.jx.StrBytes()
}

func (d *decoder) boolean() (bool, error) {
	if d.jx.Next() != jx.Bool {
		return false, d.mismatch(targetBoolean)
	}
	return d.jx.Bool()
}

// number reads a whole number into v, a *int64. AWS cuts a fraction off.
func (d *decoder) number(want target, v reflect.Value) error {
	if d.jx.Next() != jx.Number {
		return d.mismatch(want)
	}
	raw, err := d.jx.Num()
	if err != nil {
		return err
	}
	n, ok := wholeNumber(string(raw))
	if !ok {
		return apierr.Serialization("NUMBER_VALUE cannot be converted to " + converted[want])
	}
	v.Set(reflect.ValueOf(&n))
	return nil
}

// wholeNumber cuts the fraction off a JSON number; ok is false where it does not fit.
func wholeNumber(text string) (n int64, ok bool) {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(text, 64)
	const limit = 1 << 63
	if err != nil || f >= limit || f < -limit {
		return 0, false
	}
	return int64(f), true
}
