package schema

import (
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// At is the value at the end of a path into an item or map; nil where there is none. NULL is none: no type is stored so, and
// other programs write it for what is absent.
func At(m map[string]types.AttributeValue, path []string) types.AttributeValue {
	for i, step := range path {
		v := m[step]
		if i == len(path)-1 {
			if _, null := v.(*types.AttributeValueMemberNULL); null {
				return nil
			}
			return v
		}
		inner, ok := v.(*types.AttributeValueMemberM)
		if !ok {
			return nil
		}
		m = inner.Value
	}
	return nil
}

// PutAt stores a value at the end of a path, and makes the maps on the way. Maps that are there already are copied: they may be
// the caller's.
func PutAt(m map[string]types.AttributeValue, path []string, v types.AttributeValue) {
	for _, step := range path[:len(path)-1] {
		inner := map[string]types.AttributeValue{}
		if there, ok := m[step].(*types.AttributeValueMemberM); ok {
			maps.Copy(inner, there.Value)
		}
		m[step] = &types.AttributeValueMemberM{Value: inner}
		m = inner
	}
	m[path[len(path)-1]] = v
}
