// Package apierr is the catalogue of errors that a client can see.
//
// A code is the name that a client takes from the part of __type after '#'. A sentence is the message: AWS
// words it by operation, and has reworded many in 2026, so no sentence is written where the error is found.
// Who finds it gives the facts; the sentence stands here, as data:
//
//	return apierr.KeyMissing.With(k.Name)
//
// The model of an error on the wire:
//
//	HTTP/1.1 400
//	{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",   namespace#code
//	 "message":"The conditional request failed",                                    absent where it is empty
//	 "Item":{…}}                                                                    members of Details
//
// Files: codes.go is the catalogue of codes (namespace, status, retryable); sentences.go is the table of
// sentences, and of the codes that are not ValidationException; faults.go has the sentences for attribute
// values that are none, which differ by operation. Sentences about expressions are package expr's, those about
// single members package api's, those about JSON of the wrong type package wire's.
//
// An error for a client is an *Error and nothing else. Any other error that leaves the engine is a fault of
// this server: the client gets InternalServerError, the log gets the text (package server).
package apierr

// Error is an error that a client sees.
type Error struct {
	Code    Code
	Message string
	// Details is a struct whose members go into the error body beside the message
	// (api.ConditionalCheckFailedDetails, api.TransactionCanceledDetails); nil where there are none.
	Details any
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// New returns an error with a message that is composed elsewhere.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Validation returns a ValidationException with a message that is composed elsewhere.
func Validation(message string) *Error { return New(ValidationException, message) }

// Serialization is the answer for a JSON document whose values have other types than the operation's input.
func Serialization(message string) *Error { return New(SerializationException, message) }

// Malformed is the answer for a body that is no JSON document. AWS sends no message with it.
func Malformed() *Error { return New(SerializationException, "") }

// UnknownOperation is the answer for a target that the server does not have. AWS sends no message with it.
func UnknownOperation() *Error { return New(UnknownOperationException, "") }

// ConditionalCheckFailed is the answer of a write whose condition is false. details holds the item for
// ReturnValuesOnConditionCheckFailure, or is nil.
func ConditionalCheckFailed(details any) *Error {
	e := ConditionFailed.With()
	e.Details = details
	return e
}

// Type is the value of __type: the code's namespace and the code.
func (e *Error) Type() string { return e.Code.info().namespace + "#" + string(e.Code) }

// Status is the HTTP status of the answer.
func (e *Error) Status() int { return e.Code.info().status }

// Retryable tells whether AWS's table of errors lets a client send the same request again.
func (e *Error) Retryable() bool { return e.Code.info().retryable }

// MessageMember is the member of the error body that holds the message: "message", or "Message" where the
// API's model spells it so.
func (e *Error) MessageMember() string {
	if e.Code.info().upperMessage {
		return "Message"
	}
	return "message"
}
