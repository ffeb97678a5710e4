// Package api is DynamoDB's API as data: operations, their shapes, member constraints, and the errors
// that each may return.
package api

import "github.com/monotable/monotable/internal/dynamo/itemenc"

// Timestamp is a time on the wire: seconds since the epoch, with fraction.
type Timestamp float64

// ConditionalCheckFailedDetails are the members of a ConditionalCheckFailedException.
type ConditionalCheckFailedDetails struct {
	Item itemenc.Item
}

// TransactionCanceledDetails are the members of a TransactionCanceledException.
type TransactionCanceledDetails struct {
	CancellationReasons []CancellationReason
}

// Validate checks the member constraints (the struct tags) of an operation's input, in AWS's order, and
// returns an *apierr.Error with AWS's sentence. in is a pointer to an input struct.
func Validate(in any) error { panic("skeleton") }
