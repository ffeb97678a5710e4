// Package sdk converts attribute values of the AWS SDK to those of package attr, for code outside the engine that evaluates and
// compares them: the runtime of generated code, and the designer's tests and races. (The server reads values from JSON.)
//
// An invalid value becomes a faulty one, which its user rejects: an invalid number, a set with duplicates, nil. Texts are shared,
// bytes are copied.
package sdk

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// Item converts an item, or any other values by name.
func Item(it map[string]types.AttributeValue) attr.Item {
	fields := make([]attr.Field, 0, len(it))
	for name, v := range it {
		fields = append(fields, attr.Field{Name: name, Value: Value(v)})
	}
	out, _ := attr.NewItem(fields) // a map has no duplicate names
	return out
}

// Value converts one value.
func Value(v types.AttributeValue) attr.Value {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return attr.String(v.Value)
	case *types.AttributeValueMemberN:
		return attr.ParseNumber(v.Value)
	case *types.AttributeValueMemberB:
		return attr.Binary(string(v.Value))
	case *types.AttributeValueMemberBOOL:
		return attr.Bool(v.Value)
	case *types.AttributeValueMemberNULL:
		return attr.Null()
	case *types.AttributeValueMemberL:
		elems := make([]attr.Value, len(v.Value))
		for i := range v.Value {
			elems[i] = Value(v.Value[i])
		}
		return attr.List(elems)
	case *types.AttributeValueMemberM:
		return attr.Map(Item(v.Value))
	case *types.AttributeValueMemberSS:
		return set(attr.KindStringSet, v.Value, attr.String)
	case *types.AttributeValueMemberNS:
		return set(attr.KindNumberSet, v.Value, attr.ParseNumber)
	case *types.AttributeValueMemberBS:
		return set(attr.KindBinarySet, v.Value, func(b []byte) attr.Value { return attr.Binary(string(b)) })
	default:
		return attr.Faulty(attr.Fault{Code: attr.FaultNoType})
	}
}

func set[T any](kind attr.Kind, list []T, member func(T) attr.Value) attr.Value {
	members := make([]attr.Value, len(list))
	for i := range list {
		members[i] = member(list[i])
	}
	return attr.NewSet(kind, members)
}
