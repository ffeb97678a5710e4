// Package table is the runtime of generated code: it turns the patterns of a design into requests, and responses into
// values. Applications use a few of its types (Page, Cursor, the errors, Config); the rest is for generated code, and for
// tools that run a design without generating code.
//
// # Model
//
//	generated method ──typed input──▶ Values ──descriptor──▶ requests to DynamoDB ──▶ Items ──▶ Values ──▶ typed result
//
// A descriptor (Read, Collection, Write) is a pattern of a design as plain data. The planner has already chosen the
// place, so only decisions that depend on values are made here. Values are an entity's fields by name; an Item has the
// stored attributes. An Entity converts between the two, and knows the copies, index entries and markers of an item and
// their keys.
//
// # Packages
//
// This package sends requests and decodes responses, and has the codecs for generated code. Internal packages plan the
// requests without a client: schema (descriptors, values, keys, items), query (reads), cursor (positions in lists) and
// write (changes and their consequences). This package exports their descriptors for generated code.
//
// # Invariants
//
//	I1  Writes preserve the design: copies equal their item, index keys match its fields, each unique value has a
//	    marker, and counters are correct. A write that does not know all fields that these depend on reads the
//	    item first, and makes the transaction conditional on the values it has read.
//	I2  A value that is not valid for its type is rejected before any request, because the proofs that keys do not
//	    collide rely on it.
//	I3  An item of another owner is never returned by a pattern that has an owner.
//	I4  A cursor is valid only for the pattern, input, owner and caller it was issued for, and reveals nothing.
//	I5  A write is atomic unless it is a batch. If DynamoDB reports a conflict with another transaction, it is retried.
//
// A DB and all descriptors are safe for concurrent use; descriptors are immutable.
//
// # Errors
//
// ErrNotFound, ErrExists, ErrConflict, ErrCursor, ErrReused, ErrOverlap and ErrLines, possibly wrapped; *ValueError for a
// value of the wrong type; *Refusal if a condition of a write does not hold, which wraps the error that the design
// declares, or ErrRefused; *TxError for a failure of one write in a Tx, which wraps the error that the write would return
// on its own; *UnfinishedError for a batch that may be incomplete. All other errors come from the SDK.
package table

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Client is the part of *dynamodb.Client that this package uses.
type Client interface {
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	BatchWriteItem(context.Context, *dynamodb.BatchWriteItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchWriteItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
}

// Config configures a DB, in addition to its client.
type Config struct {
	// Tables maps the design's table names to names on DynamoDB. The default is the design's physical name, which then must not
	// have a {placeholder}.
	Tables map[string]string
	// CursorKey seals cursors: at least 32 bytes, the same in all processes that continue each other's pages. Without one,
	// patterns with pages return no cursors, and fail with ErrCursor if given one.
	CursorKey []byte
	// OldCursorKeys open cursors that were sealed before CursorKey was changed.
	OldCursorKeys [][]byte
	// Caller returns the caller from the context: a cursor then works for that caller only. With nil, a cursor works for every
	// caller with the same input.
	Caller func(context.Context) string
	// Clock is the clock for now(); nil means time.Now. Times are truncated to the millisecond.
	Clock func() time.Time
	// NewID generates the IDs that writes need, by kind; nil means random ones. A uuid, ulid or ksuid must be valid.
	NewID func(Kind) string
	// Sequential is for tools that rerun a pattern against simulated responses: with equal responses, a call sends equal requests
	// in the same order, one after another and without pauses between attempts.
	Sequential bool
	// Observe is called after each call of a pattern, on its goroutine; nil for none. Consumed capacity is requested only if
	// it is set.
	Observe func(context.Context, Call)
}

// Call describes a call of a pattern and its cost.
type Call struct {
	Pattern  string
	Requests int
	// ReadUnits and WriteUnits are the totals reported by DynamoDB.
	ReadUnits, WriteUnits float64
	// Attempts is 1, or more if a write was retried after a conflict.
	Attempts int
	Duration time.Duration
	Err      error
}
