package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// GetItemInput reads one item.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_GetItem.html
type GetItemInput struct {
	TableName *string `required:"true" min:"1" max:"1024" name:"table"`
	// Key has the attributes of the table's key and no others.
	Key attr.Item `required:"true"`
	// AttributesToGet is the projection in its form of before 2014.
	AttributesToGet          []string `min:"1" each_max:"65535"`
	ConsistentRead           *bool
	ReturnConsumedCapacity   *string `older:"always" enum:"INDEXES|TOTAL|NONE"`
	ProjectionExpression     *string
	ExpressionAttributeNames map[string]string
}

// GetItemOutput is the output of GetItem.
type GetItemOutput struct {
	// Item is absent if it does not exist; it is present and empty if the projection matches nothing.
	Item             itemenc.Item
	ConsumedCapacity *ConsumedCapacity
}

// QueryInput reads the items of one partition in the order of their sort key.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Query.html
type QueryInput struct {
	TableName              *string  `required:"true" min:"1" max:"1024" name:"table"`
	IndexName              *string  `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	ReturnConsumedCapacity *string  `older:"always" enum:"INDEXES|TOTAL|NONE"`
	Select                 *string  `older:"always" enum:"SPECIFIC_ATTRIBUTES|COUNT|ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES"`
	AttributesToGet        []string `min:"1" each_max:"65535"`
	// Limit counts the items that are evaluated, before the filter.
	Limit *int64 `integer:"32" min:"1"`
	// ConsistentRead is rejected on global secondary indexes.
	ConsistentRead *bool
	// KeyConditions and QueryFilter are the two expressions in their form of before 2014.
	KeyConditions       map[string]Condition `key_max:"65535"`
	QueryFilter         map[string]Condition `key_max:"65535"`
	ConditionalOperator *string              `older:"always" enum:"OR|AND"`
	// ScanIndexForward is true by default: ascending.
	ScanIndexForward *bool
	// ExclusiveStartKey is the LastEvaluatedKey of the page before.
	ExclusiveStartKey         attr.Item
	ProjectionExpression      *string
	FilterExpression          *string
	KeyConditionExpression    *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
}

// QueryOutput is one page: at most Limit items and 1 MB of evaluated data.
type QueryOutput struct {
	lent
	// Items is nil for Select COUNT, else not nil. They are good until Release.
	Items []itemenc.Item
	// Count is the number of items after the filter, ScannedCount before it.
	Count        *int64
	ScannedCount *int64
	// LastEvaluatedKey is nil on the last page; on an index it has the keys of the index and the table.
	LastEvaluatedKey attr.Item
	ConsumedCapacity *ConsumedCapacity
}

// ItemBytes returns the stored size of the items.
func (o *QueryOutput) ItemBytes() int { return bytesOf(o.Items) }

// ScanInput reads all items, or one segment of them, in the order of the hash of their partition keys.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_Scan.html
type ScanInput struct {
	TableName         *string              `required:"true" min:"1" max:"1024" name:"table"`
	IndexName         *string              `min:"3" max:"255" pattern:"[a-zA-Z0-9_.-]+"`
	AttributesToGet   []string             `min:"1" each_max:"65535"`
	Limit             *int64               `integer:"32" min:"1"`
	Select            *string              `enum:"SPECIFIC_ATTRIBUTES|COUNT|ALL_ATTRIBUTES|ALL_PROJECTED_ATTRIBUTES"`
	ScanFilter        map[string]Condition `key_max:"65535"`
	ExclusiveStartKey attr.Item

	ConditionalOperator    *string `enum:"OR|AND"`
	ReturnConsumedCapacity *string `enum:"INDEXES|TOTAL|NONE"`
	// TotalSegments and Segment (from 0) are given together or not at all.
	TotalSegments             *int64 `integer:"32" min:"1" max:"1000000"`
	Segment                   *int64 `integer:"32" min:"0" max:"999999"`
	ProjectionExpression      *string
	FilterExpression          *string
	ExpressionAttributeNames  map[string]string
	ExpressionAttributeValues attr.Item
	ConsistentRead            *bool
}

// ScanOutput is one page: at most Limit items and 1 MB of evaluated data.
type ScanOutput struct {
	lent
	// Items is nil for Select COUNT, else not nil. They are good until Release.
	Items            []itemenc.Item
	Count            *int64
	ScannedCount     *int64
	LastEvaluatedKey attr.Item
	ConsumedCapacity *ConsumedCapacity
}

// ItemBytes returns the stored size of the items.
func (o *ScanOutput) ItemBytes() int { return bytesOf(o.Items) }

func bytesOf(items []itemenc.Item) (sum int) {
	for _, it := range items {
		sum += len(it)
	}
	return sum
}
