package call

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// maxDepth bounds the schema of recursive structures.
const maxDepth = 4

// hidden is shown instead of a secret.
const hidden = "(secret)"

// typeSchema is the JSON Schema of a type's values.
func (p *Patterns) typeSchema(t design.Type, depth int) map[string]any {
	switch t.Kind {
	case design.KindInt, design.KindMoney, design.KindTTL:
		return map[string]any{"type": "integer"}
	case design.KindDecimal:
		return map[string]any{"type": []string{"string", "number"}}
	case design.KindBool:
		return map[string]any{"type": "boolean"}
	case design.KindTime:
		return map[string]any{"type": "string", "format": "date-time", "description": "UTC with milliseconds, such as 2006-01-02T15:04:05.000Z"}
	case design.KindDate:
		return map[string]any{"type": "string", "format": "date"}
	case design.KindBytes:
		return map[string]any{"type": "string", "contentEncoding": "base64"}
	case design.KindUUID:
		return map[string]any{"type": "string", "format": "uuid"}
	case design.KindEnum:
		return map[string]any{"type": "string", "enum": p.Design.Enum(t.Name).Values}
	case design.KindList, design.KindSet:
		return map[string]any{"type": "array", "items": p.typeSchema(*t.Elem, depth+1), "uniqueItems": t.Kind == design.KindSet}
	case design.KindMap:
		return map[string]any{"type": "object", "additionalProperties": p.typeSchema(*t.Elem, depth+1)}
	case design.KindStruct:
		if depth > maxDepth {
			return map[string]any{"type": "object"}
		}
		properties, required := map[string]any{}, []string{}
		for _, f := range p.Design.Struct(t.Name).Fields {
			properties[f.Name] = describe(p.typeSchema(f.Type, depth+1), f.Doc)
			if !f.Optional {
				required = append(required, f.Name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
	default:
		return map[string]any{"type": "string"}
	}
}

// stored converts a JSON value to its stored form. The runtime checks it against its type.
func (p *Patterns) stored(t design.Type, v any, name string) (types.AttributeValue, error) {
	wrong := func() (types.AttributeValue, error) { return nil, fmt.Errorf("%s is not of type %s", name, t) }
	switch v := v.(type) {
	case bool:
		if t.Kind == design.KindBool {
			return &types.AttributeValueMemberBOOL{Value: v}, nil
		}
	case json.Number:
		if t.Numeric() {
			return &types.AttributeValueMemberN{Value: v.String()}, nil
		}
	case string:
		switch {
		case t.Kind == design.KindDecimal:
			return &types.AttributeValueMemberN{Value: v}, nil
		case t.Kind == design.KindBytes:
			b, err := base64.StdEncoding.DecodeString(v)
			if err != nil {
				return nil, fmt.Errorf("%s is not base64", name)
			}
			return &types.AttributeValueMemberB{Value: b}, nil
		case t.Scalar() && !t.Numeric() && t.Kind != design.KindBool:
			return &types.AttributeValueMemberS{Value: v}, nil
		}
	case []any:
		return p.storedList(t, v, name)
	case map[string]any:
		return p.storedMap(t, v, name)
	}
	return wrong()
}

func (p *Patterns) storedList(t design.Type, list []any, name string) (types.AttributeValue, error) {
	if t.Kind != design.KindList && t.Kind != design.KindSet {
		return nil, fmt.Errorf("%s is not of type %s", name, t)
	}
	elems := make([]types.AttributeValue, len(list))
	for i, v := range list {
		e, err := p.stored(*t.Elem, v, fmt.Sprintf("%s[%d]", name, i))
		if err != nil {
			return nil, err
		}
		elems[i] = e
	}
	if t.Kind == design.KindList {
		return &types.AttributeValueMemberL{Value: elems}, nil
	}
	var ss types.AttributeValueMemberSS
	var ns types.AttributeValueMemberNS
	var bs types.AttributeValueMemberBS
	for _, e := range elems {
		switch e := e.(type) {
		case *types.AttributeValueMemberN:
			ns.Value = append(ns.Value, e.Value)
		case *types.AttributeValueMemberB:
			bs.Value = append(bs.Value, e.Value)
		case *types.AttributeValueMemberS:
			ss.Value = append(ss.Value, e.Value)
		}
	}
	switch {
	case t.Elem.Numeric():
		return &ns, nil
	case t.Elem.Kind == design.KindBytes:
		return &bs, nil
	default:
		return &ss, nil
	}
}

func (p *Patterns) storedMap(t design.Type, object map[string]any, name string) (types.AttributeValue, error) {
	m := map[string]types.AttributeValue{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		elem, path := t.Elem, []string{key}
		switch t.Kind {
		case design.KindMap:
		case design.KindStruct:
			fields := p.Design.Struct(t.Name).Fields
			i := slices.IndexFunc(fields, func(f *design.Field) bool { return f.Name == key })
			if i < 0 {
				return nil, fmt.Errorf("%s has %s, which is not a field of %s", name, key, t.Name)
			}
			elem, path = &fields[i].Type, fields[i].Path
		default:
			return nil, fmt.Errorf("%s is not of type %s", name, t)
		}
		if object[key] == nil {
			continue
		}
		v, err := p.stored(*elem, object[key], name+"."+key)
		if err != nil {
			return nil, err
		}
		lower.Put(m, path, v)
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

// FieldTypes are the types of fields, by their names.
func FieldTypes(fields []*design.Field) map[string]design.Type {
	out := map[string]design.Type{}
	for _, f := range fields {
		out[f.Name] = f.Type
	}
	return out
}

// Shown converts the values of an item to JSON values, by the types of its fields; nil for no item.
func (p *Patterns) Shown(fields map[string]design.Type, v table.Values) any {
	if v == nil {
		return nil
	}
	out := map[string]any{}
	for name, value := range v {
		if t, known := fields[name]; known && value != nil {
			out[name] = p.json(t, value)
		}
	}
	return out
}

// json converts a stored value to a JSON value. A value of the wrong type is shown as it is.
func (p *Patterns) json(t design.Type, v types.AttributeValue) any {
	if t.Kind == design.KindSecret {
		return hidden
	}
	of := t
	if t.Elem != nil {
		of = *t.Elem
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		if t.Kind == design.KindDecimal {
			return v.Value
		}
		return json.Number(v.Value)
	case *types.AttributeValueMemberBOOL:
		return v.Value
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberSS:
		out := []any{}
		for _, x := range v.Value {
			out = append(out, p.json(of, &types.AttributeValueMemberS{Value: x}))
		}
		return out
	case *types.AttributeValueMemberNS:
		out := []any{}
		for _, x := range v.Value {
			out = append(out, json.Number(x))
		}
		return out
	case *types.AttributeValueMemberBS:
		return v.Value // base64
	case *types.AttributeValueMemberL:
		out := []any{}
		for _, x := range v.Value {
			out = append(out, p.json(of, x))
		}
		return out
	case *types.AttributeValueMemberM:
		return p.object(t, of, v.Value)
	default:
		return nil
	}
}

func (p *Patterns) object(t, of design.Type, m map[string]types.AttributeValue) any {
	out := map[string]any{}
	if t.Kind != design.KindStruct {
		for name, v := range m {
			out[name] = p.json(of, v)
		}
		return out
	}
	for _, f := range p.Design.Struct(t.Name).Fields {
		at, last := m, len(f.Path)-1
		for _, step := range f.Path[:last] {
			inner, is := at[step].(*types.AttributeValueMemberM)
			if !is {
				at = nil
				break
			}
			at = inner.Value
		}
		if v := at[f.Path[last]]; v != nil {
			out[f.Name] = p.json(f.Type, v)
		}
	}
	return out
}
