package schema

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Item is an item as it is stored: values by attribute.
type Item = map[string]types.AttributeValue

// Values are an entity's values by field name, or a pattern's input by name. Values are in stored form; absent values have no
// entry.
type Values map[string]types.AttributeValue

// DecimalOf is a value as a number.
func DecimalOf(v types.AttributeValue) (decimal.Decimal, bool) {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return decimal.Decimal{}, false
	}
	d, err := decimal.Parse(n.Value)
	return d, err == nil
}

// NumberOf is a number as a value.
func NumberOf(d decimal.Decimal) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: d.String()}
}
