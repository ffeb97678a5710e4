package query

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
)

// span is the caller's prefix or bounds for one field. Field is "" if there are none.
type span struct {
	// part is the field with those functions that make equivalent values equal; see normal.
	part         schema.Part
	prefix       string
	lower, upper types.AttributeValue // converted by value
}

// spanOf validates the caller's input for the field of a prefix or range.
func spanOf(r *schema.Read, in schema.Input) (span, error) {
	i := slices.IndexFunc(r.SK, func(c schema.SortCondition) bool { return c.Next.Field != "" })
	if i < 0 {
		return span{}, nil
	}
	s := span{part: normal(r.SK[i].Next)}
	name := s.part.Field
	if r.SK[i].Comparison == schema.BeginsWith {
		v := in.Values[name]
		if v == nil {
			return span{}, nil
		}
		var err error
		s.prefix, err = r.Entity.TextOf(s.part, v)
		return s, err
	}
	if in.From == nil && in.To == nil {
		return span{}, nil
	}
	f := r.Entity.Field(name)
	for _, bound := range []struct{ from, to *types.AttributeValue }{{&in.From, &s.lower}, {&in.To, &s.upper}} {
		if *bound.from == nil {
			continue
		}
		if f != nil {
			if err := f.Type.CheckValue(name, *bound.from, 0, 0); err != nil {
				return span{}, err
			}
		}
		var err error
		if *bound.to, err = s.value(r.Entity, *bound.from); err != nil {
			return span{}, err
		}
	}
	return s, nil
}

// value is the form in which bounds and values are compared: texts if functions make them equal, otherwise the values
// themselves.
func (s span) value(e *schema.Entity, v types.AttributeValue) (types.AttributeValue, error) {
	if len(s.part.Funcs) == 0 {
		return v, nil
	}
	text, err := e.TextOf(s.part, v)
	return &types.AttributeValueMemberS{Value: text}, err
}

// Empty reports whether the bounds exclude everything.
func (s span) Empty() bool {
	return s.lower != nil && s.upper != nil && schema.CompareKeys(s.lower, s.upper) > 0
}

// holds reports whether an item's value is in the span. A value that the place does not have is skipped, unless the item is
// whole.
func (s span) holds(e *schema.Entity, values schema.Values, whole bool) bool {
	if s.part.Field == "" {
		return true
	}
	v := values[s.part.Field]
	if v == nil {
		return !whole
	}
	if s.lower == nil && s.upper == nil {
		text, err := e.TextOf(s.part, v)
		return err == nil && strings.HasPrefix(text, s.prefix)
	}
	v, err := s.value(e, v)
	return err == nil &&
		(s.lower == nil || schema.CompareKeys(s.lower, v) <= 0) &&
		(s.upper == nil || schema.CompareKeys(v, s.upper) <= 0)
}

// Filled are the parts of keys that inputs fill, with their texts.
type Filled []filledPart

type filledPart struct {
	part schema.Part
	text string
}

// Fill finds the parts of templates whose fields are inputs. For some, a key contains only a shard, a band, a prefix, a hash or
// the second of a time, which other values share: these parts are compared without such a function and those after it. For the
// bucket, the band itself is compared.
func Fill(e *schema.Entity, templates []schema.Template, by []string, bucket string, v schema.Values) (Filled, error) {
	var out Filled
	for _, p := range slices.Concat(templates...) {
		if p.Field == "" || v[p.Field] == nil || !slices.Contains(by, p.Field) {
			continue
		}
		lossy := slices.IndexFunc(p.Funcs, func(f schema.Func) bool {
			return slices.Contains([]string{"band", "mod", "shard", "first", "hash"}, f.Name) || f.Name == "ts" && f.Arg == "s"
		})
		if lossy >= 0 && p.Field != bucket {
			p.Funcs = p.Funcs[:lossy]
		}
		text, err := e.TextOf(p, v[p.Field])
		if err != nil {
			return nil, err
		}
		out = append(out, filledPart{p, text})
	}
	return out, nil
}

// Hold reports whether an item's values fill the parts with the same texts. Values that the place does not have are skipped,
// unless the item is whole.
func (f Filled) Hold(e *schema.Entity, v schema.Values, whole bool) bool {
	for _, one := range f {
		if v[one.part.Field] == nil {
			if whole {
				return false
			}
			continue
		}
		text, err := e.TextOf(one.part, v[one.part.Field])
		if err != nil || text != one.text {
			return false
		}
	}
	return true
}
