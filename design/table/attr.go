package table

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/dynamo/attr"
)

// attributes is an item of the SDK as the database's own package of values has it. A value that is none, such as a number
// that is no number, becomes a faulty one, which whoever uses it refuses.
func attributes(it Item) attr.Item {
	fields := make([]attr.Field, 0, len(it))
	for name, v := range it {
		fields = append(fields, attr.Field{Name: name, Value: attribute(v)})
	}
	out, _ := attr.NewItem(fields) // a map repeats no name
	return out
}

// attributesOf are some of an item's attributes.
func attributesOf(it Item, names []string) attr.Item {
	some := make(Item, len(names))
	for _, name := range names {
		if v, ok := it[name]; ok {
			some[name] = v
		}
	}
	return attributes(some)
}

func attribute(v types.AttributeValue) attr.Value {
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
			elems[i] = attribute(v.Value[i])
		}
		return attr.List(elems)
	case *types.AttributeValueMemberM:
		return attr.Map(attributes(v.Value))
	case *types.AttributeValueMemberSS:
		return setOf(attr.KindStringSet, v.Value, attr.String)
	case *types.AttributeValueMemberNS:
		return setOf(attr.KindNumberSet, v.Value, attr.ParseNumber)
	case *types.AttributeValueMemberBS:
		return setOf(attr.KindBinarySet, v.Value, func(b []byte) attr.Value { return attr.Binary(string(b)) })
	default:
		return attr.Faulty(attr.Fault{Code: attr.FaultNoType})
	}
}

func setOf[T any](kind attr.Kind, list []T, member func(T) attr.Value) attr.Value {
	members := make([]attr.Value, len(list))
	for i := range list {
		members[i] = member(list[i])
	}
	return attr.NewSet(kind, members)
}
