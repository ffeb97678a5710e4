package api

import "github.com/monotable/monotable/internal/database/dynamo/attr"

// ConsumedCapacity is what an operation cost, in capacity units: a read unit is 4 KB read consistently (or
// 8 KB eventually), a write unit is 1 KB written.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ConsumedCapacity.html
type ConsumedCapacity struct {
	TableName     *string
	CapacityUnits *float64
	// ReadCapacityUnits and WriteCapacityUnits are present for transactions only.
	ReadCapacityUnits  *float64
	WriteCapacityUnits *float64
	// Table and the maps are present for INDEXES only.
	Table                  *Capacity
	LocalSecondaryIndexes  map[string]Capacity
	GlobalSecondaryIndexes map[string]Capacity
	VectorIndexes          map[string]VectorCapacity
}

// Capacity is what an operation cost in a table or in one index.
type Capacity struct {
	ReadCapacityUnits  *float64
	WriteCapacityUnits *float64
	CapacityUnits      *float64
}

// ItemCollectionMetrics is the size of an item collection of a table with local secondary indexes.
type ItemCollectionMetrics struct {
	// ItemCollectionKey has the partition key only.
	ItemCollectionKey attr.Item
	// SizeEstimateRangeGB is a lower and an upper bound in gigabytes.
	SizeEstimateRangeGB []float64
}

// ThrottlingDetails are the members of ProvisionedThroughputExceededException and RequestLimitExceeded other than the message.
type ThrottlingDetails struct {
	ThrottlingReasons []ThrottlingReason
}

// ThrottlingExceptionDetails are those of ThrottlingException.
type ThrottlingExceptionDetails struct {
	ThrottlingReasons []ThrottlingReason `as:"throttlingReasons"`
}

// ThrottlingReason names the throttled resource and the limit.
type ThrottlingReason struct {
	// Reason is resource, operation and limit in one word: TableReadProvisionedThroughputExceeded.
	Reason *string `as:"reason"`
	// Resource is the ARN of the table or index.
	Resource *string `as:"resource"`
}
