// Package source reads the items of real tables: by a parallel Scan of a table at an endpoint, or from the files of an
// export to S3.
//
// # Model
//
//	table at an endpoint ──Scan in segments──╮
//	                                         ├──▶ Items, an iterator ──▶ packages conform and infer
//	export: manifest, data/*.json.gz ────────╯
//
// A source can be read any number of times. Items are returned one at a time in no particular order, so the reader
// decides how much to keep in memory; the source itself holds a page per segment, or part of a file.
//
// # Invariants
//
//	I1  A reader that stops early leaks nothing: no goroutine, no open file.
//	I2  An iterator that ends without an error has yielded all items; for an export with a manifest, as many as it lists.
//
// # Errors
//
// An error is the last thing an iterator yields. Errors in files name the file and the item in it; errors from DynamoDB
// are the SDK's.
package source

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item as it is stored: values by attribute.
type Item = map[string]types.AttributeValue

// Source gives access to the items of one table.
type Source interface {
	// Items reads all items. Each iteration starts from the beginning.
	Items(ctx context.Context) iter.Seq2[Item, error]
	// Sample reads about n items spread over the table, or all if it has fewer.
	Sample(ctx context.Context, n int) iter.Seq2[Item, error]
	// Count is the approximate number of items; 0 if unknown.
	Count() int64
}
