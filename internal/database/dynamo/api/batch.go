package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// BatchGetItemInput reads up to 100 items of one or more tables.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html
type BatchGetItemInput struct {
	// RequestItems maps a table's name or ARN to the keys to be read from it.
	RequestItems           map[string]KeysAndAttributes `required:"true" min:"1" max:"100" key_min:"1" key_max:"1024" key_name:"table"`
	ReturnConsumedCapacity *string                      `older:"always" enum:"INDEXES|TOTAL|NONE"`
}

// BatchGetItemOutput is the output of BatchGetItem: the maps are empty rather than absent, and their keys
// are the names in the request.
type BatchGetItemOutput struct {
	Responses map[string][]itemenc.Item
	// UnprocessedKeys is what remained when the response reached 16 MB.
	UnprocessedKeys  map[string]KeysAndAttributes
	ConsumedCapacity []ConsumedCapacity
}

// ItemBytes returns the stored size of the items.
func (o *BatchGetItemOutput) ItemBytes() (sum int) {
	for _, items := range o.Responses {
		sum += bytesOf(items)
	}
	return sum
}

// KeysAndAttributes are the keys to be read from one table, and what to return of the items.
type KeysAndAttributes struct {
	// Keys holds no key twice.
	Keys                     []attr.Item `required:"true" min:"1" max:"100"`
	AttributesToGet          []string    `min:"1" each_max:"65535"`
	ConsistentRead           *bool
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string
}

// BatchWriteItemInput puts and deletes up to 25 items of one or more tables, each on its own.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
type BatchWriteItemInput struct {
	// RequestItems maps a table's name or ARN to the writes in it; at most 16 MB in all.
	RequestItems                map[string][]WriteRequest `required:"true" min:"1" max:"25" key_min:"1" key_max:"1024" key_name:"table" value_min:"1" value_max:"25"`
	ReturnConsumedCapacity      *string                   `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string                   `enum:"SIZE|NONE"`
}

// BatchWriteItemOutput is the output of BatchWriteItem; UnprocessedItems is empty rather than absent.
type BatchWriteItemOutput struct {
	UnprocessedItems      map[string][]WriteRequest
	ItemCollectionMetrics map[string][]ItemCollectionMetrics
	ConsumedCapacity      []ConsumedCapacity
}

// WriteRequest is one write of a batch: exactly one of its members is present.
type WriteRequest struct {
	PutRequest    *PutRequest
	DeleteRequest *DeleteRequest
}

// PutRequest writes one whole item.
type PutRequest struct {
	Item attr.Item `required:"true"`
}

// DeleteRequest removes one item.
type DeleteRequest struct {
	Key attr.Item `required:"true"`
}
