package api

import (
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
)

// ExpectedAttributeValue is a condition on one attribute in its form of before 2014: Value with Exists, or
// ComparisonOperator with AttributeValueList.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.Expected.html
type ExpectedAttributeValue struct {
	Value              *attr.Value
	Exists             *bool
	ComparisonOperator *string `enum:"IN|NULL|BETWEEN|LT|NOT_CONTAINS|EQ|GT|NOT_NULL|NE|LE|BEGINS_WITH|GE|CONTAINS"`
	AttributeValueList []attr.Value
}

// Condition is a clause of KeyConditions, QueryFilter or ScanFilter.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.html
type Condition struct {
	AttributeValueList []attr.Value
	ComparisonOperator *string `older:"always" required:"true" enum:"IN|NULL|BETWEEN|LT|NOT_CONTAINS|EQ|GT|NOT_NULL|NE|LE|BEGINS_WITH|GE|CONTAINS"`
}

// AttributeValueUpdate is a change of one attribute in its form of before 2014; Action is PUT by default.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LegacyConditionalParameters.AttributeUpdates.html
type AttributeValueUpdate struct {
	Value  *attr.Value
	Action *string `enum:"ADD|DELETE|PUT"`
}

// ConditionalCheckFailedDetails are the members of a ConditionalCheckFailedException.
type ConditionalCheckFailedDetails struct {
	// Item is the current item, if the request has ALL_OLD.
	Item itemenc.Item
}
