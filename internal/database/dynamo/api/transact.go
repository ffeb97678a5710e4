package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// TransactWriteItemsInput writes up to 100 items, all or none, in a request of at most 4 MB.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
type TransactWriteItemsInput struct {
	TransactItems []TransactWriteItem `required:"true" min:"1" max:"100"`
	// ClientRequestToken makes the request idempotent for ten minutes. AWS checks it before
	// ReturnConsumedCapacity, which the order of the API's model does not say.
	ClientRequestToken          *string `min:"1" max:"36"`
	ReturnConsumedCapacity      *string `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string `enum:"SIZE|NONE"`
}

// TransactWriteItemsOutput is the output of TransactWriteItems.
type TransactWriteItemsOutput struct {
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics map[string][]ItemCollectionMetrics
}

// TransactWriteItem is one action: exactly one of its members is present.
type TransactWriteItem struct {
	ConditionCheck *ConditionCheck
	Put            *Put
	Delete         *Delete
	Update         *Update
}

// ConditionCheck asserts a condition on an item without writing it.
type ConditionCheck struct {
	Key                                 attr.Item `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024" name:"table"`
	ConditionExpression                 *string   `required:"true"`
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Put writes one whole item.
type Put struct {
	Item                                attr.Item `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024" name:"table"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Delete removes one item.
type Delete struct {
	Key                                 attr.Item `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024" name:"table"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Update changes attributes of one item, or makes it.
type Update struct {
	Key                                 attr.Item `required:"true"`
	UpdateExpression                    *string   `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024" name:"table"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// TransactGetItemsInput reads up to 100 items as of one moment; at most 4 MB of items.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactGetItems.html
type TransactGetItemsInput struct {
	TransactItems          []TransactGetItem `required:"true" min:"1" max:"100"`
	ReturnConsumedCapacity *string           `enum:"INDEXES|TOTAL|NONE"`
}

// TransactGetItemsOutput is the output of TransactGetItems.
type TransactGetItemsOutput struct {
	ConsumedCapacity []ConsumedCapacity
	// Responses are in the order of the request's TransactItems.
	Responses []ItemResponse
}

// TransactGetItem is one read.
type TransactGetItem struct {
	Get *Get `required:"true"`
}

// Get reads one item.
type Get struct {
	Key                      attr.Item `required:"true"`
	TableName                *string   `required:"true" min:"1" max:"1024" name:"table"`
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string
}

// ItemResponse is one item; Item is absent if it does not exist.
type ItemResponse struct {
	Item itemenc.Item
}

// TransactionCanceledDetails are the members of a TransactionCanceledException.
type TransactionCanceledDetails struct {
	// CancellationReasons are in the order of the request's TransactItems.
	CancellationReasons []CancellationReason
}

// CancellationReason says what one action contributed to the cancellation.
type CancellationReason struct {
	// Item is the current item, if the action has ALL_OLD and its condition failed.
	Item itemenc.Item
	// Code is None, ConditionalCheckFailed, ItemCollectionSizeLimitExceeded, TransactionConflict,
	// ProvisionedThroughputExceeded, ThrottlingError or ValidationError.
	Code *string
	// Message is absent for None.
	Message *string
}
