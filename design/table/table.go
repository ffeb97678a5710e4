// Package table is the runtime of the code that monotable generate writes: it makes requests of what a design says,
// and values of the answers. Applications see a few of its types (Page, Cursor, the errors, Config); the rest is for
// generated code, and for tools that run a design without generating code first.
//
// # Model
//
//	generated method ──typed input──▶ Values ──descriptor──▶ requests to DynamoDB ──▶ Items ──▶ Values ──▶ typed result
//
// A descriptor (Read, Collection, Write) is a pattern of a design as plain data: the planner has chosen the place, so
// that nothing is decided here but what depends on values. Values are an entity's fields by their names in the design; an
// Item is what is stored, by attribute. An Entity knows how the one becomes the other, which copies, index entries and
// markers belong to an item, and how their keys are made.
//
// # Packages
//
// This package executes: it sends requests and reads answers, and has the codecs of generated code. What it sends is planned without
// a client by internal packages: schema (descriptors, values, keys, items), query (reads), cursor (how far a list was read) and
// write (changes and what they entail). The descriptors have their names here for generated code.
//
// # Invariants
//
//	I1  What is written keeps the design: copies equal their item, index keys follow its fields, a marker stands for
//	    each unique value, counters count. A write that does not know all of the fields which these depend on reads the
//	    item first, and makes the transaction depend on what it has read.
//	I2  A value that is outside of its type's language is refused before any request, since the proofs that keys do not
//	    collide rest on these languages.
//	I3  An item of another owner is never returned by a pattern that has an owner.
//	I4  A cursor continues only the pattern, the input, the owner and the caller that it was given for, and tells nothing.
//	I5  A write happens as a whole or not at all, unless it is a batch; where DynamoDB says that it conflicts with another, it is tried again.
//
// A DB and all descriptors may be used from any number of goroutines; descriptors are not changed once made.
//
// # Errors
//
// ErrNotFound, ErrExists, ErrConflict, ErrCursor, ErrReused, ErrOverlap and ErrLines, each of them possibly wrapped; *ValueError for a
// value that is none of its type; *Refusal where a condition of a write does not hold, which wraps the error that the
// design declares, or ErrRefused; *TxError for a fault of one write of a Tx, which wraps what the write alone would fail with; *UnfinishedError for a batch of which something may be undone. All others are those of the SDK.
package table

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// Client is the part of *dynamodb.Client that is used.
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

// Config is what a DB needs beside its client.
type Config struct {
	// Tables are the names of the tables, by their names in the design. One that is not told, or is "", has the design's
	// physical name, which then must have no {placeholder}.
	Tables map[string]string
	// CursorKey seals cursors: at least 32 bytes, the same in all processes that continue each other's pages. Without
	// one, patterns with pages fail with ErrCursor when asked to continue, and give no cursors.
	CursorKey []byte
	// OldCursorKeys open cursors that were sealed before CursorKey was changed.
	OldCursorKeys [][]byte
	// Caller tells from its context who makes a call: a cursor then continues for that caller only. nil tells callers
	// apart by nothing but what they ask for.
	Caller func(context.Context) string
	// Clock is what now() is; nil is time.Now. Times are kept to the millisecond.
	Clock func() time.Time
	// NewID makes the ids that writes ask for, by kind; nil makes random ones. A uuid, ulid or ksuid must be one.
	NewID func(Kind) string
	// Sequential is for tools that run a pattern again and again against answers of their own: given equal answers, a
	// call then makes equal requests in the same order, one after another and without pauses between attempts.
	Sequential bool
	// Observe is called after each call of a pattern, on its goroutine; nil for no one. Consumed capacity is asked for
	// only if it is set.
	Observe func(context.Context, Call)
}

// Call is what a call of a pattern was and took.
type Call struct {
	Pattern  string
	Requests int
	// ReadUnits and WriteUnits are those that DynamoDB reports, in all.
	ReadUnits, WriteUnits float64
	// Attempts is 1, or more where a write met a conflict and was tried again.
	Attempts int
	Duration time.Duration
	Err      error
}
