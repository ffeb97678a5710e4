// Package apierr is the catalog of errors that a client can see.
//
// A code is the name that a client reads from the part of __type after '#'. A sentence is the message. AWS's wording depends on
// the operation, and AWS has changed many messages in 2026, so messages are not written where the error is detected. The check
// provides the facts; the sentence is defined here, as data:
//
//	return apierr.KeyMissing.With(k.Name)
//
// The format of an error on the wire:
//
//	HTTP/1.1 400
//	{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",   namespace#code
//	 "message":"The conditional request failed",                                    missing if it is empty
//	 "Item":{…}}                                                                    members of Details
//
// Files: codes.go is the catalog of codes (namespace and status); sentences.go is the table of sentences, and of their
// codes other than ValidationException; faults.go has the sentences for invalid attribute values, which differ by operation.
// Sentences about expressions are in package expr, those about single members in package api, those about JSON of the wrong type
// in package wire.
//
// An error for a client is always an *Error. Any other error that leaves the engine is internal: the client gets
// InternalServerError, and the text is logged (package server).
package apierr

// Error is an error that a client sees.
type Error struct {
	Code    Code
	Message string
	// Details is a struct whose members are added to the error body (api.ConditionalCheckFailedDetails,
	// api.TransactionCanceledDetails), or nil.
	Details any
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// New returns an error with a message that is composed elsewhere.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Validation returns a ValidationException with a message that is composed elsewhere.
func Validation(message string) *Error { return New(ValidationException, message) }

// Serialization returns the error for a JSON document whose values have types other than those of the operation's input.
func Serialization(message string) *Error { return New(SerializationException, message) }

// Malformed returns the error for a body that is not a JSON document. AWS sends no message with it.
func Malformed() *Error { return New(SerializationException, "") }

// UnknownOperation returns the error for an unknown target. AWS sends no message with it.
func UnknownOperation() *Error { return New(UnknownOperationException, "") }

// ConditionalCheckFailed returns the error of a write whose condition is false. details holds the item for
// ReturnValuesOnConditionCheckFailure, or is nil.
func ConditionalCheckFailed(details any) *Error {
	e := ConditionFailed.With()
	e.Details = details
	return e
}

// Type returns the value of __type: the code's namespace and the code.
func (e *Error) Type() string { return e.Code.info().namespace + "#" + string(e.Code) }

// Status returns the HTTP status of the response.
func (e *Error) Status() int { return e.Code.info().status }

// MessageMember returns the name of the member with the message: "message", or "Message" if the API's model spells it like that.
func (e *Error) MessageMember() string {
	if e.Code.info().upperMessage {
		return "Message"
	}
	return "message"
}
