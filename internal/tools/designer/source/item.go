package source

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// wire is a value in DynamoDB's JSON: one member, named by the type.
// https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
type wire struct {
	S    *string
	N    *json.Number // some writers leave the quotes out
	B    []byte
	BOOL *bool
	NULL *bool
	SS   []string
	NS   []json.Number
	BS   [][]byte
	L    []*wire
	M    map[string]*wire
}

// ParseItem reads an item in DynamoDB's JSON: {"PK": {"S": "USER#1"}, …}.
func ParseItem(data []byte) (Item, error) {
	var attributes map[string]*wire
	if err := json.Unmarshal(data, &attributes); err != nil {
		return nil, fmt.Errorf("not an item in DynamoDB JSON: %w", err)
	}
	return valuesOf(attributes)
}

func valuesOf(attributes map[string]*wire) (Item, error) {
	out := make(Item, len(attributes))
	for name, w := range attributes {
		v, err := w.value()
		if err != nil {
			return nil, fmt.Errorf("attribute %s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

// value converts the one member that is set.
func (w *wire) value() (types.AttributeValue, error) {
	var found []types.AttributeValue
	add := func(given bool, v types.AttributeValue) {
		if given {
			found = append(found, v)
		}
	}
	if w == nil {
		w = new(wire)
	}
	add(w.S != nil, &types.AttributeValueMemberS{Value: of(w.S)})
	add(w.N != nil, &types.AttributeValueMemberN{Value: of(w.N).String()})
	add(w.B != nil, &types.AttributeValueMemberB{Value: w.B})
	add(w.BOOL != nil, &types.AttributeValueMemberBOOL{Value: of(w.BOOL)})
	add(w.NULL != nil, &types.AttributeValueMemberNULL{Value: true})
	add(w.SS != nil, &types.AttributeValueMemberSS{Value: w.SS})
	add(w.BS != nil, &types.AttributeValueMemberBS{Value: w.BS})
	if w.NS != nil {
		numbers := make([]string, len(w.NS))
		for i, n := range w.NS {
			numbers[i] = n.String()
		}
		add(true, &types.AttributeValueMemberNS{Value: numbers})
	}
	if w.L != nil {
		list := make([]types.AttributeValue, len(w.L))
		for i, elem := range w.L {
			v, err := elem.value()
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", i, err)
			}
			list[i] = v
		}
		add(true, &types.AttributeValueMemberL{Value: list})
	}
	if w.M != nil {
		m, err := valuesOf(w.M)
		if err != nil {
			return nil, err
		}
		add(true, &types.AttributeValueMemberM{Value: m})
	}
	if len(found) != 1 {
		return nil, errors.New(`a value has exactly one type: {"S": "text"}`)
	}
	return found[0], nil
}

// of dereferences a pointer; nil gives the zero value.
func of[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}
