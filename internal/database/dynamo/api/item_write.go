package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// PutItemInput writes one whole item.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_PutItem.html
type PutItemInput struct {
	TableName *string `older:"unless empty" required:"true" min:"1" max:"1024" name:"table"`
	// Item has at least the key attributes; at most 400 KB.
	Item attr.Item `required:"true"`
	// Expected and ConditionalOperator are the condition in its form of before 2014.
	Expected map[string]ExpectedAttributeValue `key_max:"65535"`
	// ReturnValues is NONE (default) or ALL_OLD; the others of the enumeration belong to UpdateItem.
	ReturnValues                *string `enum:"ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
	ReturnConsumedCapacity      *string `older:"always" enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string `enum:"SIZE|NONE"`
	ConditionalOperator         *string `enum:"OR|AND"`
	// ConditionExpression is at most 4 KB of text and 300 operators.
	ConditionExpression *string
	// ExpressionAttributeNames maps #alias to an attribute name; aliases have at most 255 bytes.
	ExpressionAttributeNames map[string]string
	// ExpressionAttributeValues maps :alias to a value; at most 2 MB in all.
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// PutItemOutput is the output of PutItem.
type PutItemOutput struct {
	// Attributes is the previous item, for ALL_OLD, if there was one.
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// UpdateItemInput changes attributes of one item, or makes it.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_UpdateItem.html
type UpdateItemInput struct {
	TableName *string `older:"unless empty" required:"true" min:"1" max:"1024" name:"table"`
	// Key has the attributes of the table's key and no others.
	Key attr.Item `required:"true"`
	// AttributeUpdates is the update in its form of before 2014.
	AttributeUpdates            map[string]AttributeValueUpdate   `key_max:"65535"`
	Expected                    map[string]ExpectedAttributeValue `key_max:"65535"`
	ConditionalOperator         *string                           `enum:"OR|AND"`
	ReturnValues                *string                           `enum:"ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
	ReturnConsumedCapacity      *string                           `older:"always" enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics *string                           `enum:"SIZE|NONE"`
	// UpdateExpression may be absent: then the item is created if it does not exist, with only its key.
	UpdateExpression                    *string
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// UpdateItemOutput is the output of UpdateItem.
type UpdateItemOutput struct {
	// Attributes is what ReturnValues asks for: the whole item for ALL_…, the parts that the update
	// touched for UPDATED_…; absent where nothing applies.
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}

// DeleteItemInput deletes one item; it succeeds even if there is none.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_DeleteItem.html
type DeleteItemInput struct {
	TableName           *string                           `required:"true" min:"1" max:"1024" name:"table"`
	Key                 attr.Item                         `required:"true"`
	Expected            map[string]ExpectedAttributeValue `key_max:"65535"`
	ConditionalOperator *string                           `enum:"OR|AND"`
	// ReturnValues is NONE (default) or ALL_OLD.
	ReturnValues                        *string `enum:"ALL_NEW|UPDATED_OLD|ALL_OLD|NONE|UPDATED_NEW"`
	ReturnConsumedCapacity              *string `older:"always" enum:"INDEXES|TOTAL|NONE"`
	ReturnItemCollectionMetrics         *string `enum:"SIZE|NONE"`
	ConditionExpression                 *string
	ExpressionAttributeNames            map[string]string
	ExpressionAttributeValues           attr.Item
	ReturnValuesOnConditionCheckFailure *string `enum:"ALL_OLD|NONE"`
}

// DeleteItemOutput is the output of DeleteItem.
type DeleteItemOutput struct {
	// Attributes is the deleted item, for ALL_OLD, if there was one.
	Attributes            itemenc.Item
	ConsumedCapacity      *ConsumedCapacity
	ItemCollectionMetrics *ItemCollectionMetrics
}
