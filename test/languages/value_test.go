package languages

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
)

// value is an attribute value in DynamoDB's JSON.
type value struct{ types.AttributeValue }

func (v *value) UnmarshalJSON(text []byte) error {
	var one struct {
		S, N *string
		B    *[]byte
		BOOL *bool
		NULL *bool
		L    *[]value
		M    *map[string]value
		SS   []string
		NS   []string
		BS   [][]byte
	}
	if err := json.Unmarshal(text, &one); err != nil {
		return err
	}
	switch {
	case one.S != nil:
		v.AttributeValue = &types.AttributeValueMemberS{Value: *one.S}
	case one.N != nil:
		v.AttributeValue = &types.AttributeValueMemberN{Value: *one.N}
	case one.B != nil:
		v.AttributeValue = &types.AttributeValueMemberB{Value: *one.B}
	case one.BOOL != nil:
		v.AttributeValue = &types.AttributeValueMemberBOOL{Value: *one.BOOL}
	case one.NULL != nil:
		v.AttributeValue = &types.AttributeValueMemberNULL{Value: true}
	case one.L != nil:
		list := []types.AttributeValue{}
		for _, e := range *one.L {
			list = append(list, e.AttributeValue)
		}
		v.AttributeValue = &types.AttributeValueMemberL{Value: list}
	case one.M != nil:
		m := map[string]types.AttributeValue{}
		for name, e := range *one.M {
			m[name] = e.AttributeValue
		}
		v.AttributeValue = &types.AttributeValueMemberM{Value: m}
	case one.SS != nil:
		v.AttributeValue = &types.AttributeValueMemberSS{Value: one.SS}
	case one.NS != nil:
		v.AttributeValue = &types.AttributeValueMemberNS{Value: one.NS}
	case one.BS != nil:
		v.AttributeValue = &types.AttributeValueMemberBS{Value: one.BS}
	default:
		return fmt.Errorf("%s is no attribute value", text)
	}
	return nil
}

// jsonValue converts a value to JSON.
func jsonValue(v types.AttributeValue) map[string]any {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return map[string]any{"S": v.Value}
	case *types.AttributeValueMemberN:
		return map[string]any{"N": v.Value}
	case *types.AttributeValueMemberB:
		return map[string]any{"B": v.Value}
	case *types.AttributeValueMemberBOOL:
		return map[string]any{"BOOL": v.Value}
	case *types.AttributeValueMemberL:
		list := []any{}
		for _, e := range v.Value {
			list = append(list, jsonValue(e))
		}
		return map[string]any{"L": list}
	case *types.AttributeValueMemberM:
		return map[string]any{"M": jsonValues(v.Value)}
	case *types.AttributeValueMemberSS:
		return map[string]any{"SS": append([]string{}, slices.Sorted(slices.Values(v.Value))...)}
	case *types.AttributeValueMemberNS:
		return map[string]any{"NS": slices.Sorted(slices.Values(v.Value))}
	case *types.AttributeValueMemberBS:
		return map[string]any{"BS": v.Value}
	default:
		return map[string]any{"NULL": true}
	}
}

func jsonValues(v table.Values) map[string]any {
	out := map[string]any{}
	for name, e := range v {
		if e != nil {
			out[name] = jsonValue(e)
		}
	}
	return out
}

func jsonText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
