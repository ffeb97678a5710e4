package trial

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// samplesOf are the samples of a design as records. The error is design.Errors: each value that is none of its field's type,
// with its place.
func samplesOf(p *lower.Program, now time.Time) ([]*record, error) {
	var out []*record
	var faults design.Errors
	for _, s := range p.Design.Samples {
		r := newRecord(p, p.Design.Entity(s.Entity))
		before := len(faults)
		for _, name := range slices.Sorted(maps.Keys(s.Values)) {
			f := r.entity.Field(name)
			v, err := Value(p.Design, f.Type, s.Values[name])
			if err != nil {
				faults = append(faults, sampleFault(p.Design, s, name, err.Error()))
			} else if v != nil {
				r.values[name] = v
			}
		}
		r.expire(now)
		if len(faults) > before {
			continue
		}
		if _, err := table.Items(r.run, r.values); err != nil {
			wrong, is := errors.AsType[*table.ValueError](err)
			if !is {
				return nil, err
			}
			faults = append(faults, sampleFault(p.Design, s, wrong.Field, wrong.Reason))
			continue
		}
		out = append(out, r)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return out, nil
}

// expire gives a record that does not say it the time at which it goes, if the design tells how long after its creation.
func (r *record) expire(now time.Time) {
	if ttl := r.entity.TTL; ttl != nil && ttl.After > 0 && r.values[ttl.Field] == nil {
		r.values[ttl.Field] = numberValue(fmt.Sprint(now.Add(ttl.After).Unix()))
	}
}

// sampleFault is an error at the value of a field, or at the sample where that is not there.
func sampleFault(d *design.Design, s *design.Sample, path, reason string) *design.Error {
	root, _, _ := strings.Cut(path, ".")
	root, _, _ = strings.Cut(root, "[")
	at := s.Pos
	if v, given := s.Values[root]; given {
		at = v.Pos
	}
	return &design.Error{Source: d.Source, Pos: at, Message: fmt.Sprintf("sample of %s: %s %s", s.Entity, path, reason)}
}

// Value is a value of a design's text in its stored form; nil for null. Whether it is in its type's language is not asked
// here.
func Value(d *design.Design, t design.Type, l design.Literal) (types.AttributeValue, error) {
	switch {
	case l.Null:
		return nil, nil //nolint:nilnil // null is nothing
	case t.Kind == design.KindBytes:
		b, err := base64.StdEncoding.DecodeString(l.Text)
		if err != nil || l.List != nil || l.Map != nil {
			return nil, fmt.Errorf("is not base 64: %s", quoted(l.Text))
		}
		return &types.AttributeValueMemberB{Value: b}, nil
	case t.Scalar():
		text, err := render.Text(t, l)
		if err != nil {
			return nil, fmt.Errorf("is no %s: %w", t, err)
		}
		return ofText(t, text), nil
	case t.Kind == design.KindStruct:
		return structOf(d, d.Struct(t.Name), l)
	case t.Kind == design.KindMap:
		if l.Map == nil {
			return nil, fmt.Errorf("is no map")
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

// structOf is a structure as it is stored: a map by the paths of its fields.
func structOf(d *design.Design, s *design.Struct, l design.Literal) (types.AttributeValue, error) {
	if l.Map == nil {
		return nil, fmt.Errorf("is no %s: write { field: value }", s.Name)
	}
	m := map[string]types.AttributeValue{}
	for name, member := range l.Map {
		i := slices.IndexFunc(s.Fields, func(f *design.Field) bool { return f.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("has %s, which is no field of %s", name, s.Name)
		}
		v, err := Value(d, s.Fields[i].Type, member)
		if err != nil {
			return nil, fmt.Errorf("at %s: %w", name, err)
		}
		if v != nil {
			store(m, s.Fields[i].Path, v)
		}
	}
	return &types.AttributeValueMemberM{Value: m}, nil
}

// listOf is a list, or a set.
func listOf(d *design.Design, t design.Type, l design.Literal) (types.AttributeValue, error) {
	if l.List == nil {
		return nil, fmt.Errorf("is no %s: write [a, b]", t)
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
		return setValue(*t.Elem, elems), nil
	}
	return &types.AttributeValueMemberL{Value: elems}, nil
}

// setValue is a set of scalars of a type.
func setValue(elem design.Type, members []types.AttributeValue) types.AttributeValue {
	texts := make([]string, len(members))
	for i, m := range members {
		texts[i] = scalarText(m)
	}
	switch {
	case elem.Numeric():
		return &types.AttributeValueMemberNS{Value: texts}
	case elem.Kind == design.KindBytes:
		set := &types.AttributeValueMemberBS{}
		for _, s := range texts {
			set.Value = append(set.Value, []byte(s))
		}
		return set
	default:
		return &types.AttributeValueMemberSS{Value: texts}
	}
}

// store puts a value at the end of a path into maps, and makes those on the way.
func store(m map[string]types.AttributeValue, path []string, v types.AttributeValue) {
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

// timeText is a time as it is stored.
func timeText(at time.Time) string { return at.UTC().Format(keytext.TimeLayout) }
