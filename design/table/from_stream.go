package table

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// FromStream converts an image in a stream record to an Item for the generated Decode; nil if there is no image.
func FromStream(image map[string]streams.AttributeValue) Item {
	if image == nil {
		return nil
	}
	out := make(Item, len(image))
	for name, v := range image {
		out[name] = valueFromStream(v)
	}
	return out
}

// valueFromStream converts a value to the type of the table client: each client has its own types for the same
// values.
func valueFromStream(v streams.AttributeValue) types.AttributeValue {
	switch v := v.(type) {
	case *streams.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}
	case *streams.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: v.Value}
	case *streams.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: v.Value}
	case *streams.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}
	case *streams.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}
	case *streams.AttributeValueMemberSS:
		return &types.AttributeValueMemberSS{Value: v.Value}
	case *streams.AttributeValueMemberNS:
		return &types.AttributeValueMemberNS{Value: v.Value}
	case *streams.AttributeValueMemberBS:
		return &types.AttributeValueMemberBS{Value: v.Value}
	case *streams.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: FromStream(v.Value)}
	case *streams.AttributeValueMemberL:
		return &types.AttributeValueMemberL{Value: schema.Each(v.Value, valueFromStream)}
	default:
		return &types.UnknownUnionMember{} // of a newer service: not the type of any field
	}
}
