package expression

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
)

// Path is where a field, or a step into one, is in an item's values: the field's name, then the steps as they are stored.
func Path(d *design.Design, e *design.Entity, path string) []string {
	names := strings.Split(path, ".")
	out := names[:1:1]
	f := e.Field(names[0])
	for _, name := range names[1:] {
		if f = member(d, f, name); f == nil {
			out = append(out, name) // a key of a map
			continue
		}
		out = append(out, f.Path...)
	}
	return out
}

// member is the field of a structure; nil if there is none.
func member(d *design.Design, f *design.Field, name string) *design.Field {
	if f == nil {
		return nil
	}
	t := f.Type
	for t.Kind == design.KindList && t.Elem != nil {
		t = *t.Elem
	}
	s := d.Struct(t.Name)
	if s == nil {
		return nil
	}
	for _, inner := range s.Fields {
		if inner.Name == name {
			return inner
		}
	}
	return nil
}

// At is the value at the end of a path; nil if there is none.
func At(values Values, path []string) types.AttributeValue {
	v := values[path[0]]
	for _, step := range path[1:] {
		m, is := v.(*types.AttributeValueMemberM)
		if !is {
			return nil
		}
		v = m.Value[step]
	}
	return v
}

// Total is the sum of a field of items; what is absent adds nothing.
func Total(items []Values, path []string) (types.AttributeValue, error) {
	total := Number(0)
	for _, it := range items {
		v := At(it, path)
		if v == nil {
			continue
		}
		next, err := sum(total, v, false)
		if err != nil {
			return nil, err
		}
		total = next
	}
	return total, nil
}
