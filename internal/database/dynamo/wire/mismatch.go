package wire

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/go-faster/jx"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// target is what the API's model expects for a JSON value.
type target struct {
	java   string // AWS's name of the type
	scalar string // AWS's message for a scalar; "" if it names the scalar's kind
}

// place is the context of a value: AWS's reader reads members of structures and elements of lists and maps differently, with
// different messages for wrong types.
type place uint8

const (
	inMember place = iota
	inCollection
)

// AWS's messages for JSON values of wrong types, and for texts that are not base64.
const (
	unexpectedList      = "Unrecognized collection type "
	unexpectedStructure = "Start of structure or map found where not expected"
	unexpectedField     = "Unexpected field type"
	unexpectedValue     = "Unexpected value type in payload"
	unexpectedToken     = "Unexpected token received from parser"
	unexpectedBinary    = "only base-64-encoded strings are convertible to bytes"

	base64Length    = "Base64 encoded length is expected a multiple of 4 bytes but found: %d"
	base64Character = "Invalid Base64 character: '%c'"
	base64End       = "Invalid last non-pad Base64 character dectected" // AWS's spelling

	// unexpectedGeneric is what AWS reveals about a list or map inside another.
	unexpectedGeneric = "class sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl cannot be cast to class " +
		"java.lang.Class (sun.reflect.generics.reflectiveObjects.ParameterizedTypeImpl and java.lang.Class are in module " +
		"java.base of loader 'bootstrap')"
)

const (
	javaClass = "class "
	javaLang  = javaClass + "java.lang."
	javaShape = "com.amazonaws.dynamodb.v20120810."
)

var (
	targetString  = &target{java: javaLang + "String"}
	targetInteger = &target{java: javaLang + "Integer"}
	targetLong    = &target{java: javaLang + "Long"}
	targetBoolean = &target{java: javaLang + "Boolean"}
	targetDate    = &target{java: javaClass + "java.util.Date"}
	targetDouble  = &target{java: javaLang + "Double"}
	targetBlob    = &target{java: javaClass + "java.nio.ByteBuffer", scalar: unexpectedBinary}

	// The parts of an attribute value, and the values in collections.
	targetElements = &target{scalar: unexpectedField}
	targetFields   = targetOf(itemType, inMember)
	targetValue    = targetOf(valueType, inCollection)
)

// targetOf returns the target of a type other than a scalar.
func targetOf(t reflect.Type, p place) *target {
	java, generic := javaType(t)
	want := &target{java: java, scalar: unexpectedField}
	switch {
	case p == inCollection && generic:
		want.scalar = unexpectedGeneric
	case p == inCollection:
		want.scalar = unexpectedValue
	}
	if !generic {
		want.java = javaClass + java
	}
	return want
}

// javaType returns the Java name of a type; generic types are lists and maps.
func javaType(t reflect.Type) (name string, generic bool) {
	var elem string
	switch {
	case t == itemType:
		elem, _ = javaType(valueType)
		return "java.util.Map<java.lang.String, " + elem + ">", true
	case t == valueType:
		return javaShape + "AttributeValue", false
	case t.Kind() == reflect.String:
		return "java.lang.String", false
	case t.Kind() == reflect.Slice:
		elem, _ = javaType(t.Elem())
		return "java.util.List<" + elem + ">", true
	case t.Kind() == reflect.Map:
		elem, _ = javaType(t.Elem())
		return "java.util.Map<java.lang.String, " + elem + ">", true
	default:
		return javaShape + t.Name(), false
	}
}

// mismatch reads the next JSON value, whose type is not want, and returns AWS's error for it.
func (d *decoder) mismatch(want *target) error {
	switch d.jx.Next() {
	case jx.Array:
		return apierr.Serialization(unexpectedList + want.java)
	case jx.Object:
		return apierr.Serialization(unexpectedStructure)
	default:
	}
	token, err := d.token()
	switch {
	case err != nil:
		return err
	case want.scalar != "":
		return apierr.Serialization(want.scalar)
	case want == targetBoolean && token == "STRING_VALUE":
		return apierr.Serialization(unexpectedToken)
	default:
		return unconvertible(token, want)
	}
}

func unconvertible(token string, want *target) error {
	return apierr.Serialization(token + " cannot be converted to " + want.java[strings.LastIndexByte(want.java, '.')+1:])
}

// token reads a scalar and returns its kind in the terms of AWS's JSON parser.
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
func (d *decoder) str(want *target) ([]byte, error) {
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

// number reads an integer into v, a *int64. A fraction is truncated, as AWS's Java reader does: 1.5 has the same effect as 1, in
// every operation. An Integer has 32 bits.
func (d *decoder) number(want *target, v reflect.Value) error {
	if d.jx.Next() != jx.Number {
		return d.mismatch(want)
	}
	raw, err := d.jx.Num()
	if err != nil {
		return err
	}
	n, ok := wholeNumber(string(raw))
	if !ok || want == targetInteger && n != int64(int32(n)) { //nolint:gosec // the conversion is the question
		return unconvertible("NUMBER_VALUE", want)
	}
	v.Set(reflect.ValueOf(&n))
	return nil
}

// wholeNumber truncates the fraction of a JSON number; ok is false if it does not fit.
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
