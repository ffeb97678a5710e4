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
//	I2  An iterator that ends without an error has yielded all items; of an export with a manifest, as many as that says.
//
// # Errors
//
// An error is the last thing an iterator yields. Those of files name the file and the item in it; those of DynamoDB
// are the SDK's.
package source

import (
	"context"
	"iter"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Item is an item as it is stored: values by attribute.
type Item = map[string]types.AttributeValue

// Source is where the items of one table are.
type Source interface {
	// Items reads all items. Each iteration begins anew.
	Items(ctx context.Context) iter.Seq2[Item, error]
	// Sample reads about n items from all over the table, or all where it has fewer.
	Sample(ctx context.Context, n int) iter.Seq2[Item, error]
	// Count is about how many items there are; 0 where nobody knows.
	Count() int64
}
