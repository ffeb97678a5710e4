package wire

import (
	"reflect"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
)

// Append appends an output struct of package api as JSON; out is a pointer to it. Items are written directly from their stored
// form; an error means that one of them is corrupt.
func Append(dst []byte, out any) ([]byte, error) {
	v := reflect.ValueOf(out).Elem()
	dst = append(dst, '{')
	dst, err := writePlanOf(v.Type()).members(dst, v)
	if err != nil {
		return nil, err
	}
	return append(dst, '}'), nil
}

// AppendError appends the body of an error response.
func AppendError(dst []byte, e *apierr.Error) []byte {
	dst = append(dst, `{"__type":`...)
	dst = appendText(dst, []byte(e.Type()))
	if e.Message != "" {
		dst = append(dst, `,"`...)
		dst = append(dst, e.MessageMember()...)
		dst = append(dst, `":`...)
		dst = appendText(dst, []byte(e.Message))
	}
	if e.Details != nil {
		dst = appendDetails(dst, e.Details)
	}
	return append(dst, '}')
}

// appendDetails appends the members of an error's details. The error is more important: details with a corrupt item are omitted.
func appendDetails(dst []byte, details any) []byte {
	v := reflect.Indirect(reflect.ValueOf(details))
	with, err := writePlanOf(v.Type()).members(append(dst, ','), v)
	if err != nil || len(with) == len(dst)+1 {
		return dst
	}
	return with
}
