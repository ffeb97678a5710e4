package lower

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// Value converts a value in a design's text to its stored form; nil for null. It does not check the value against its
// type.
func Value(d *design.Design, t design.Type, l design.Literal) (types.AttributeValue, error) {
	switch {
	case l.Null:
		return nil, nil //nolint:nilnil // null is stored as no attribute
	case t.Kind == design.KindBytes:
		b, err := base64.StdEncoding.DecodeString(l.Text)
		if err != nil || l.List != nil || l.Map != nil {
			return nil, fmt.Errorf("is not base 64: %s", strconv.Quote(l.Text))
		}
		return &types.AttributeValueMemberB{Value: b}, nil
	case t.Scalar():
		text, err := render.Text(t, l)
		if err != nil {
			return nil, fmt.Errorf("is not of type %s: %w", t, err)
		}
		return Scalar(t, text), nil
	case t.Kind == design.KindStruct:
		return structOf(d, d.Struct(t.Name), l)
	case t.Kind == design.KindMap:
		if l.Map == nil {
			return nil, fmt.Errorf("is not a map")
		}
		m := map[string]types.AttributeValue{}
		for name, member := range l.Map {
			v, err := Value(d, *t.Elem, member)
			if err != nil {
				return nil, fmt.Errorf("at %s: %w", name, err)
			}
			m[name] = v
		}
		return &types.AttributeValueMemberM{Value: m}, nil
	default:
		return listOf(d, t, l)
	}
}

// structOf is a structure in stored form: a map by the paths of its fields.
func structOf(d *design.Design, s *design.Struct, l design.Literal) (types.AttributeValue, error) {
	if l.Map == nil {
		return nil, fmt.Errorf("is not of type %s: write { field: value }", s.Name)
	}
	m := map[string]types.AttributeValue{}
	for name, member := range l.Map {
		i := slices.IndexFunc(s.Fields, func(f *design.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("has %s, which is not a field of %s", name, s.Name)
		}
		v, err := Value(d, s.Fields[i].Type, member)
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", name, err)
		}
		if v != nil {
			Put(m, s.Fields[i].Path, v)
		}
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

// listOf is a list, or a set.
func listOf(d *design.Design, t design.Type, l design.Literal) (types.AttributeValue, error) {
	if l.List == nil {
		return nil, fmt.Errorf("is not of type %s: write [a, b]", t)
	}
	elems := make([]types.AttributeValue, len(l.List))
	for i := range l.List {
		v, err := Value(d, *t.Elem, l.List[i])
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", i+1, err)
		}
		elems[i] = v
	}
	if t.Kind == design.KindSet {
		return setOf(*t.Elem, elems), nil
	}
	return &types.AttributeValueMemberL{Value: elems}, nil
}

// Scalar is the value of a scalar type with the canonical text s.
func Scalar(t design.Type, s string) types.AttributeValue {
	switch {
	case t.Numeric():
		return &types.AttributeValueMemberN{Value: s}
	case t.Kind == design.KindBool:
		return &types.AttributeValueMemberBOOL{Value: s == "true"}
	case t.Kind == design.KindBytes:
		return &types.AttributeValueMemberB{Value: []byte(s)}
	default:
		return &types.AttributeValueMemberS{Value: s}
	}
}

// setOf is a set of scalars of a type.
func setOf(elem design.Type, members []types.AttributeValue) types.AttributeValue {
	var texts []string
	var blobs [][]byte
	for _, m := range members {
		switch m := m.(type) {
		case *types.AttributeValueMemberS:
			texts = append(texts, m.Value)
		case *types.AttributeValueMemberN:
			texts = append(texts, m.Value)
		case *types.AttributeValueMemberB:
			blobs = append(blobs, m.Value)
		}
	}
	switch {
	case elem.Numeric():
		return &types.AttributeValueMemberNS{Value: texts}
	case elem.Kind == design.KindBytes:
		return &types.AttributeValueMemberBS{Value: blobs}
	default:
		return &types.AttributeValueMemberSS{Value: texts}
	}
}

// Put sets the value at the end of a path, creating the maps on the way.
func Put(m map[string]types.AttributeValue, path []string, v types.AttributeValue) {
	for _, step := range path[:len(path)-1] {
		inner, is := m[step].(*types.AttributeValueMemberM)
		if !is {
			inner = &types.AttributeValueMemberM{Value: map[string]types.AttributeValue{}}
			m[step] = inner
		}
		m = inner.Value
	}
	m[path[len(path)-1]] = v
}
