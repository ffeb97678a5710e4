package schema

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// ItemOf converts an item of the database's own type to the SDK's; it is the inverse of Attributes.
func ItemOf(it attr.Item) Item {
	out := make(Item, len(it))
	for _, f := range it {
		out[f.Name] = valueOf(f.Value)
	}
	return out
}

func valueOf(v attr.Value) types.AttributeValue {
	texts := func() []string { return Each(v.Elems(), attr.Value.Text) }
	switch v.Kind() {
	case attr.KindString:
		return &types.AttributeValueMemberS{Value: v.Text()}
	case attr.KindNumber:
		return &types.AttributeValueMemberN{Value: v.Text()}
	case attr.KindBinary:
		return &types.AttributeValueMemberB{Value: []byte(v.Text())}
	case attr.KindBool:
		return &types.AttributeValueMemberBOOL{Value: v.Bool()}
	case attr.KindList:
		return &types.AttributeValueMemberL{Value: Each(v.Elems(), valueOf)}
	case attr.KindMap:
		return &types.AttributeValueMemberM{Value: ItemOf(v.Item())}
	case attr.KindStringSet:
		return &types.AttributeValueMemberSS{Value: texts()}
	case attr.KindNumberSet:
		return &types.AttributeValueMemberNS{Value: texts()}
	case attr.KindBinarySet:
		return &types.AttributeValueMemberBS{Value: Each(v.Elems(), func(m attr.Value) []byte { return []byte(m.Text()) })}
	default:
		return &types.AttributeValueMemberNULL{Value: true}
	}
}
