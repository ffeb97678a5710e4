package api

import (
	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/dynamo/itemenc"
)

// ExpectedAttributeValue XXX
type ExpectedAttributeValue struct {
	Value              *attr.Value
	Exists             *bool
	ComparisonOperator *string `enum:"EQ|NE|IN|LE|LT|GE|GT|BETWEEN|NOT_NULL|NULL|CONTAINS|NOT_CONTAINS|BEGINS_WITH"`
	AttributeValueList []attr.Value
}

// Capacity XXX
type Capacity struct {
	ReadCapacityUnits  *float64
	WriteCapacityUnits *float64
	CapacityUnits      *float64
}

// ConsumedCapacity XXX
type ConsumedCapacity struct {
	TableName              *string `min:"1" max:"1024"`
	CapacityUnits          *float64
	ReadCapacityUnits      *float64
	WriteCapacityUnits     *float64
	Table                  *Capacity
	LocalSecondaryIndexes  map[string]Capacity `key_min:"3" key_max:"255" key_pattern:"[a-zA-Z0-9_.-]+"`
	GlobalSecondaryIndexes map[string]Capacity `key_min:"3" key_max:"255" key_pattern:"[a-zA-Z0-9_.-]+"`
}

// ItemCollectionMetrics XXX
type ItemCollectionMetrics struct {
	ItemCollectionKey   attr.Item
	SizeEstimateRangeGB []float64
}

// AttributeValueUpdate XXX
type AttributeValueUpdate struct {
	Value  *attr.Value
	Action *string `enum:"ADD|PUT|DELETE"`
}

// Condition XXX
type Condition struct {
	AttributeValueList []attr.Value
	ComparisonOperator *string `required:"true" enum:"EQ|NE|IN|LE|LT|GE|GT|BETWEEN|NOT_NULL|NULL|CONTAINS|NOT_CONTAINS|BEGINS_WITH"`
}

// KeysAndAttributes XXX
type KeysAndAttributes struct {
	Keys                     []attr.Item `required:"true" min:"1" max:"100"`
	AttributesToGet          []string    `min:"1" each_max:"65535"`
	ConsistentRead           *bool
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string `value_max:"65535"`
}

// PutRequest XXX
type PutRequest struct {
	Item attr.Item `required:"true"`
}

// DeleteRequest XXX
type DeleteRequest struct {
	Key attr.Item `required:"true"`
}

// WriteRequest XXX
type WriteRequest struct {
	PutRequest    *PutRequest
	DeleteRequest *DeleteRequest
}

// ConditionCheck XXX
type ConditionCheck struct {
	Key                                 attr.Item         `required:"true"`
	TableName                           *string           `required:"true" min:"1" max:"1024"`
	ConditionExpression                 *string           `required:"true"`
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Put XXX
type Put struct {
	Item                                attr.Item `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Delete XXX
type Delete struct {
	Key                                 attr.Item `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// Update XXX
type Update struct {
	Key                                 attr.Item `required:"true"`
	UpdateExpression                    *string   `required:"true"`
	TableName                           *string   `required:"true" min:"1" max:"1024"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string `value_max:"65535"`
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// TransactWriteItem XXX
type TransactWriteItem struct {
	ConditionCheck *ConditionCheck
	Put            *Put
	Delete         *Delete
	Update         *Update
}

// Get XXX
type Get struct {
	Key                      attr.Item `required:"true"`
	TableName                *string   `required:"true" min:"1" max:"1024"`
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string `value_max:"65535"`
}

// TransactGetItem XXX
type TransactGetItem struct {
	Get *Get `required:"true"`
}

// ItemResponse XXX
type ItemResponse struct {
	Item itemenc.Item
}

// CancellationReason XXX
type CancellationReason struct {
	Item    itemenc.Item
	Code    *string
	Message *string
}
