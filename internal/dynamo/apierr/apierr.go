// Package apierr is the catalogue of errors that a client can see: code, namespace, HTTP status,
// sentences.
package apierr

// Code is the name of an error as clients see it after the '#'.
type Code string

// The codes this server can answer with.
const (
	ValidationException                      Code = "ValidationException"
	SerializationException                   Code = "SerializationException"
	UnknownOperationException                Code = "UnknownOperationException"
	ResourceNotFoundException                Code = "ResourceNotFoundException"
	ResourceInUseException                   Code = "ResourceInUseException"
	LimitExceededException                   Code = "LimitExceededException"
	ConditionalCheckFailedException          Code = "ConditionalCheckFailedException"
	ItemCollectionSizeLimitExceededException Code = "ItemCollectionSizeLimitExceededException"
	TransactionCanceledException             Code = "TransactionCanceledException"
	TransactionConflictException             Code = "TransactionConflictException"
	TransactionInProgressException           Code = "TransactionInProgressException"
	IdempotentParameterMismatchException     Code = "IdempotentParameterMismatchException"
	InternalServerError                      Code = "InternalServerError"
)

// Error is an error that a client sees.
type Error struct {
	Code    Code
	Message string
	// Details is a struct whose members go into the error body beside the message
	// (api.ConditionalCheckFailedDetails, api.TransactionCanceledDetails); nil where there are none.
	Details any
}

func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// New returns an error with a sentence of its own.
func New(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Validation returns a ValidationException.
func Validation(message string) *Error { return New(ValidationException, message) }
