package expression

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
)

// Path is the location of a field, or of a nested field, in an item's values: the field's name, then the stored steps.
func Path(d *design.Design, e *design.Entity, path string) []string {
	names := strings.Split(path, ".")
	out := names[:1:1]
	f := e.Field(names[0])
	for _, name := range names[1:] {
		if f = member(d, f, name); f == nil {
			out = append(out, name) // a map key
			continue
		}
		out = append(out, f.Path...)
	}
	return out
}

// member is a field of a structure; nil if there is none with that name.
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

// Total is the sum of a field over items; absent values are skipped.
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
