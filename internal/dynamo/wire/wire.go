// Package wire is DynamoDB JSON: requests in, answers out.
package wire

import "github.com/monotable/monotable/internal/dynamo/apierr"

// Decode reads a request body into an input struct of package api. A wrong JSON type or bad base64 is a
// SerializationException; a value that is well-formed JSON but no attribute value (bad number, empty set,
// two types at once) decodes to a faulty attr.Value (see attr.Value.Fault), which the engine refuses in its
// turn. The result does not alias body.
func Decode(body []byte, in any) error { panic("skeleton") }

// Append appends an output struct of package api as JSON. Items are written straight from their stored form.
func Append(dst []byte, out any) ([]byte, error) { panic("skeleton") }

// AppendError appends the body of an error answer.
func AppendError(dst []byte, e *apierr.Error) []byte { panic("skeleton") }
