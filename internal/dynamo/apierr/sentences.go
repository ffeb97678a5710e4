package apierr

// NotFound is the answer of item operations for a table that is not there: without the table's name.
func NotFound() *Error { return New(ResourceNotFoundException, "Requested resource not found") }

// TableNotFound is the answer of table operations for a table that is not there.
func TableNotFound(name string) *Error {
	return New(ResourceNotFoundException, "Requested resource not found: Table: "+name+" not found")
}

// ResourceNotFoundByARN is the answer of the tagging operations for an ARN that names nothing.
func ResourceNotFoundByARN(arn string) *Error {
	return New(ResourceNotFoundException, "Requested resource not found: ResourcArn: "+arn+" not found")
}

// ConditionalCheckFailed is the answer of a write whose condition is false. details holds the item for
// ReturnValuesOnConditionCheckFailure, or is nil.
func ConditionalCheckFailed(details any) *Error {
	return &Error{Code: ConditionalCheckFailedException, Message: "The conditional request failed", Details: details}
}

// TransactionConflict is the answer of a single-item write that met a transaction on the same item.
func TransactionConflict() *Error {
	return New(TransactionConflictException, "Transaction is ongoing for the item")
}

// Internal is the answer for a fault of this server; what happened is for the log only.
func Internal() *Error { return New(InternalServerError, "Internal server error") }

// UnknownOperation is the answer for a target that the server does not have. AWS sends no message with it.
func UnknownOperation() *Error { return New(UnknownOperationException, "") }

// Malformed is the answer for a body that is no JSON document. AWS sends no message with it.
func Malformed() *Error { return New(SerializationException, "") }

// Serialization is the answer for a JSON document whose values have other types than the operation's input.
func Serialization(message string) *Error { return New(SerializationException, message) }

// InvalidName is the answer of operations that take a table or index name without the constraint of the
// API's model on it, inside an ARN for one.
func InvalidName() *Error {
	return Validation("Invalid table/index name.  Table/index names must be between 3 and 255 characters long, " +
		"and may contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'")
}

// InvalidParameter puts the opening of most semantic sentences before what is wrong.
func InvalidParameter(what string) *Error {
	return Validation("One or more parameter values were invalid: " + what)
}

// KeyMismatch is the answer for a key that has not just the attributes of the key schema, with its types.
func KeyMismatch() *Error {
	return Validation("The provided key element does not match the schema")
}
