package api

import (
	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/dynamo/itemenc"
)

// PutItemInput XXX
type PutItemInput struct {
	TableName                           *string                           `required:"true" min:"1" max:"1024"`
	Item                                attr.Item                         `required:"true"`
	Expected                            map[string]ExpectedAttributeValue `key_max:"65535"`
	ReturnValues                        *string                           `enum:"NONE|ALL_OLD|UPDATED_OLD|ALL_NEW|UPDATED_NEW"`
	ReturnConsumedCapacity              *string                           `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics         *string                           `enum:"SIZE|NONE"`
	ConditionalOperator                 *string                           `enum:"AND|OR"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// PutItemOutput XXX
type PutItemOutput struct {
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// GetItemInput XXX
type GetItemInput struct {
	TableName                *string   `required:"true" min:"1" max:"1024"`
	Key                      attr.Item `required:"true"`
	AttributesToGet          []string  `min:"1" each_max:"65535"`
	ConsistentRead           *bool
	ReturnConsumedCapacity   *string `enum:"INDEXES|TOTAL|NONE"`
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string `value_max:"65535"`
}

// GetItemOutput XXX
type GetItemOutput struct {
	Item             itemenc.Item
	ConsumedCapacity *ConsumedCapacity
}

// UpdateItemInput XXX
type UpdateItemInput struct {
	TableName                           *string                           `required:"true" min:"1" max:"1024"`
	Key                                 attr.Item                         `required:"true"`
	AttributeUpdates                    map[string]AttributeValueUpdate   `key_max:"65535"`
	Expected                            map[string]ExpectedAttributeValue `key_max:"65535"`
	ConditionalOperator                 *string                           `enum:"AND|OR"`
	ReturnValues                        *string                           `enum:"NONE|ALL_OLD|UPDATED_OLD|ALL_NEW|UPDATED_NEW"`
	ReturnConsumedCapacity              *string                           `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics         *string                           `enum:"SIZE|NONE"`
	UpdateExpression                    *string
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// UpdateItemOutput XXX
type UpdateItemOutput struct {
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// DeleteItemInput XXX
type DeleteItemInput struct {
	TableName                           *string                           `required:"true" min:"1" max:"1024"`
	Key                                 attr.Item                         `required:"true"`
	Expected                            map[string]ExpectedAttributeValue `key_max:"65535"`
	ConditionalOperator                 *string                           `enum:"AND|OR"`
	ReturnValues                        *string                           `enum:"NONE|ALL_OLD|UPDATED_OLD|ALL_NEW|UPDATED_NEW"`
	ReturnConsumedCapacity              *string                           `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics         *string                           `enum:"SIZE|NONE"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// DeleteItemOutput XXX
type DeleteItemOutput struct {
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// QueryInput XXX
type QueryInput struct {
	TableName                 *string  `required:"true" min:"1" max:"1024"`
	IndexName                 *string  `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	Select                    *string  `enum:"ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES|SPECIFIC_ATTRIBUTES|COUNT"`
	AttributesToGet           []string `min:"1" each_max:"65535"`
	Limit                     *int64   `min:"1"`
	ConsistentRead            *bool
	KeyConditions             map[string]Condition `key_max:"65535"`
	QueryFilter               map[string]Condition `key_max:"65535"`
	ConditionalOperator       *string              `enum:"AND|OR"`
	ScanIndexForward          *bool
	ExclusiveStartKey         attr.Item
	ReturnConsumedCapacity    *string `enum:"INDEXES|TOTAL|NONE"`
	ProjectionExpression      *string
	FilterExpression          *string
	KeyConditionExpression    *string
	ExpressionAttributeNames  map[string]string `value_max:"65535"`
	ExpressionAttributeValues attr.Item
}

// QueryOutput XXX
type QueryOutput struct {
	Items            []itemenc.Item
	Count            *int64
	ScannedCount     *int64
	LastEvaluatedKey attr.Item
	ConsumedCapacity *ConsumedCapacity
}

// ScanInput XXX
type ScanInput struct {
	TableName                 *string              `required:"true" min:"1" max:"1024"`
	IndexName                 *string              `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	AttributesToGet           []string             `min:"1" each_max:"65535"`
	Limit                     *int64               `min:"1"`
	Select                    *string              `enum:"ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES|SPECIFIC_ATTRIBUTES|COUNT"`
	ScanFilter                map[string]Condition `key_max:"65535"`
	ConditionalOperator       *string              `enum:"AND|OR"`
	ExclusiveStartKey         attr.Item
	ReturnConsumedCapacity    *string `enum:"INDEXES|TOTAL|NONE"`
	TotalSegments             *int64  `min:"1" max:"1000000"`
	Segment                   *int64  `min:"0" max:"999999"`
	ProjectionExpression      *string
	FilterExpression          *string
	ExpressionAttributeNames  map[string]string `value_max:"65535"`
	ExpressionAttributeValues attr.Item
	ConsistentRead            *bool
}

// ScanOutput XXX
type ScanOutput struct {
	Items            []itemenc.Item
	Count            *int64
	ScannedCount     *int64
	LastEvaluatedKey attr.Item
	ConsumedCapacity *ConsumedCapacity
}

// BatchGetItemInput XXX
type BatchGetItemInput struct {
	RequestItems           map[string]KeysAndAttributes `required:"true" min:"1" max:"100" key_min:"1" key_max:"1024"`
	ReturnConsumedCapacity *string                      `enum:"INDEXES|TOTAL|NONE"`
}

// BatchGetItemOutput XXX
type BatchGetItemOutput struct {
	Responses        map[string][]itemenc.Item    `key_min:"1" key_max:"1024"`
	UnprocessedKeys  map[string]KeysAndAttributes `min:"1" max:"100" key_min:"1" key_max:"1024"`
	ConsumedCapacity []ConsumedCapacity
}

// BatchWriteItemInput XXX
type BatchWriteItemInput struct {
	RequestItems                map[string][]WriteRequest `required:"true" min:"1" max:"25" key_min:"1" key_max:"1024" value_min:"1" value_max:"25"`
	ReturnConsumedCapacity      *string                   `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string                   `enum:"SIZE|NONE"`
}

// BatchWriteItemOutput XXX
type BatchWriteItemOutput struct {
	UnprocessedItems      map[string][]WriteRequest          `min:"1" max:"25" key_min:"1" key_max:"1024" value_min:"1" value_max:"25"`
	ItemCollectionMetrics map[string][]ItemCollectionMetrics `key_min:"1" key_max:"1024"`
	ConsumedCapacity      []ConsumedCapacity
}

// TransactWriteItemsInput XXX
type TransactWriteItemsInput struct {
	TransactItems               []TransactWriteItem `required:"true" min:"1" max:"100"`
	ReturnConsumedCapacity      *string             `enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string             `enum:"SIZE|NONE"`
	ClientRequestToken          *string             `min:"1" max:"36"`
}

// TransactWriteItemsOutput XXX
type TransactWriteItemsOutput struct {
	ConsumedCapacity      []ConsumedCapacity
	ItemCollectionMetrics map[string][]ItemCollectionMetrics `key_min:"1" key_max:"1024"`
}

// TransactGetItemsInput XXX
type TransactGetItemsInput struct {
	TransactItems          []TransactGetItem `required:"true" min:"1" max:"100"`
	ReturnConsumedCapacity *string           `enum:"INDEXES|TOTAL|NONE"`
}

// TransactGetItemsOutput XXX
type TransactGetItemsOutput struct {
	ConsumedCapacity []ConsumedCapacity
	Responses        []ItemResponse `min:"1" max:"100"`
}
