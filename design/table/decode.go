package table

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// DecodeError reports a stored value that is missing or has the wrong type, because another program wrote it or the
// design has changed.
type DecodeError struct {
	Entity string
	Field  string // with steps into it: address.city, tags[2]
	Reason string
}

func (e *DecodeError) Error() string {
	subject := e.Field
	if e.Entity != "" {
		subject = e.Entity + "." + e.Field
	}
	return "stored " + subject + " " + e.Reason
}

// undecodable returns the error of a codec; the caller adds the field.
func undecodable(reason string) error { return &DecodeError{Reason: reason} }

// inside is a codec's error with the step that leads to the value.
func inside(step string, err error) error {
	found, ok := errors.AsType[*DecodeError](err)
	if !ok {
		return &DecodeError{Field: step, Reason: "cannot be read: " + err.Error()}
	}
	field := step + found.Field
	if found.Field != "" && !strings.HasPrefix(found.Field, ".") && !strings.HasPrefix(found.Field, "[") {
		field = step + "." + found.Field
	}
	return &DecodeError{Field: field, Reason: found.Reason}
}

// typedAs is a value as the type that it must be stored as.
func typedAs[M types.AttributeValue](v types.AttributeValue, kind string) (M, error) {
	m, ok := v.(M)
	switch {
	case ok:
		return m, nil
	case v == nil:
		return m, undecodable("is missing")
	default:
		return m, undecodable("is stored as " + schema.StoredAs(v) + ", not as " + kind)
	}
}

// Set sets a field, unless the codec does not store the value.
func Set[T any](v Values, name string, c Codec[T], x T) {
	if e := c.Encode(x); e != nil {
		v[name] = e
	}
}

// SetOptional sets an optional field; nil means absent.
func SetOptional[T any](v Values, name string, c Codec[T], x *T) {
	if x != nil {
		Set(v, name, c, *x)
	}
}

// Patch is a change to an optional field of an existing item: the zero Patch does not change it, SetTo sets it, and
// Removed removes it.
type Patch[T any] struct {
	value   *T
	removed bool
}

// SetTo returns a Patch that sets a field.
func SetTo[T any](x T) Patch[T] { return Patch[T]{value: &x} }

// Removed returns a Patch that removes a field.
func Removed[T any]() Patch[T] { return Patch[T]{removed: true} }

// SetPatch sets the change of a patched field. A value that the codec does not store, such as an empty set, counts as absent.
func SetPatch[T any](v Values, name string, c Codec[T], p Patch[T]) {
	if p.removed {
		v[name] = &types.AttributeValueMemberNULL{Value: true}
	}
	if p.value == nil {
		return
	}
	if v[name] = c.Encode(*p.value); v[name] == nil {
		v[name] = &types.AttributeValueMemberNULL{Value: true}
	}
}

// Decoder decodes values. It remembers the first error, which Err returns at the end.
type Decoder struct {
	entity string
	values Values
	err    error
}

// Decode starts decoding the values of an entity.
func Decode(entity string, v Values) *Decoder { return &Decoder{entity: entity, values: v} }

// Get returns the value of a field.
func Get[T any](d *Decoder, name string, c Codec[T]) T {
	x, err := c.Decode(d.value(name))
	if err != nil {
		var none T
		d.fail(name, err)
		return none
	}
	return x
}

// GetOptional returns the value of an optional field, or nil if there is none.
func GetOptional[T any](d *Decoder, name string, c Codec[T]) *T {
	if d.value(name) == nil {
		return nil
	}
	x := Get(d, name, c)
	return &x
}

// Err returns the first error, a *DecodeError; nil if there is none.
func (d *Decoder) Err() error { return d.err }

// value returns a field's value; NULL, which some programs write for absent values, counts as absent.
func (d *Decoder) value(name string) types.AttributeValue {
	v := d.values[name]
	if _, null := v.(*types.AttributeValueMemberNULL); null {
		return nil
	}
	return v
}

func (d *Decoder) fail(name string, err error) {
	if d.err != nil {
		return
	}
	found, _ := errors.AsType[*DecodeError](inside(name, err))
	found.Entity = d.entity
	d.err = found
}
