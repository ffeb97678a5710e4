package schema

import (
	"maps"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Index is the position of a step into a list: [0].
func Index(step string) (int, bool) {
	inner, open := strings.CutPrefix(step, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	n, err := strconv.Atoi(inner)
	return n, open && closed && err == nil && n >= 0
}

// At returns the value at the end of a path into an item or map; nil if there is none. NULL counts as absent: no type is stored
// as NULL, and other programs write it for absent values.
func At(m map[string]types.AttributeValue, path []string) types.AttributeValue {
	v := Stored(m, path)
	if IsNull(v) {
		return nil
	}
	return v
}

// Stored is the value at the end of a path as it is, NULL too.
func Stored(m map[string]types.AttributeValue, path []string) types.AttributeValue {
	if len(path) == 0 {
		return nil
	}
	v := m[path[0]]
	for _, step := range path[1:] {
		switch in := v.(type) {
		case *types.AttributeValueMemberM:
			v = in.Value[step]
		case *types.AttributeValueMemberL:
			n, ok := Index(step)
			if !ok || n >= len(in.Value) {
				return nil
			}
			v = in.Value[n]
		default:
			return nil
		}
	}
	return v
}

// PutAt stores a value at the end of a path, and creates the maps on the way. Existing maps are copied: they may belong to the
// caller.
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
