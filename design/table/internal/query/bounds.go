package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// bound is a Query's condition on one sort key attribute; there is none if all are nil.
type bound struct {
	equal, prefix, lower, upper types.AttributeValue
}

// none reports that the bound of an attribute excludes everything.
type none bool

// bound makes the condition with its values. room is the maximum size of the attribute in bytes.
func (s *Source) bound(c schema.SortCondition, in schema.Input, room int) (bound, none, error) {
	known, err := s.Entity.Render(c.Known, in.Values)
	if err != nil {
		return bound{}, false, err
	}
	switch {
	case c.Comparison == schema.Equal:
		if len(known) > room && c.Type != types.ScalarAttributeTypeN {
			return bound{}, true, nil // no key is that long
		}
		v, err := s.keyOf(c, known)
		return bound{equal: v}, false, err
	case c.Comparison == schema.Within:
		return s.within(c, in, known, room)
	case c.Comparison == schema.Between && (in.From != nil || in.To != nil):
		return s.between(c, in, known, room)
	case c.Comparison == schema.BeginsWith && c.Next.Field != "":
		beginning, err := s.beginning(c.Next, in.Values[c.Next.Field])
		if err != nil {
			return bound{}, false, err
		}
		known += beginning
	default:
	}
	switch {
	case known == "" || c.Type == types.ScalarAttributeTypeN:
		return bound{}, false, nil
	case len(known) > room:
		return bound{}, true, nil // no key is that long
	}
	v, err := c.KeyValue(known)
	return bound{prefix: v}, false, err
}

// keyOf is the whole value of an attribute, which is never empty.
func (s *Source) keyOf(c schema.SortCondition, text string) (types.AttributeValue, error) {
	if text == "" {
		return nil, &schema.ValueError{Field: schema.KeyAttribute{Attribute: c.Attribute, Template: c.Known}.Subject(), Reason: "makes the key " + c.Name + " empty"}
	}
	return c.KeyValue(text)
}

// beginning is the key text of a prefix that the caller gives for a field. It applies those functions of the part that map
// prefixes to prefixes: lower, fold and slug, and the cuts first and date. An empty or absent prefix matches everything.
func (s *Source) beginning(p schema.Part, v types.AttributeValue) (string, error) {
	if v == nil {
		return "", nil
	}
	text, err := s.Entity.TextOf(normal(p), v)
	for _, f := range p.Funcs {
		switch {
		case err != nil:
			return "", err
		case f.Name == "first":
			text, err = keytext.Apply(f.Name, f.Arg, text)
		case f.Name == "date":
			text = text[:min(len(text), len(f.Arg))] // cut like the texts of times
		default:
		}
	}
	return text, err
}

// normal is a part with only those functions that make equivalent values equal: lower, fold and slug.
func normal(p schema.Part) schema.Part {
	p.Funcs = slices.DeleteFunc(slices.Clone(p.Funcs), func(f schema.Func) bool {
		return f.Name != "lower" && f.Name != "fold" && f.Name != "slug"
	})
	return p
}

// between bounds an attribute by the key texts of the caller's bounds. The bounds are inclusive: if the template continues
// after the field, the upper bound includes everything that begins with it.
func (s *Source) between(c schema.SortCondition, in schema.Input, known string, room int) (bound, none, error) {
	lower, upper := in.From, in.To
	if slices.ContainsFunc(c.Next.Funcs, func(f schema.Func) bool { return f.Name == "desc" }) {
		lower, upper = upper, lower
	}
	low, err := s.text(c.Next, known, lower)
	if err != nil {
		return bound{}, false, err
	}
	high, err := s.text(c.Next, known, upper)
	if err != nil {
		return bound{}, false, err
	}
	if c.Type == types.ScalarAttributeTypeN {
		b, err := numbers(c.Attribute, low, high, lower != nil, upper != nil)
		return b, false, err
	}
	greatest := greatestText
	if c.Type == types.ScalarAttributeTypeB {
		greatest = greatestBytes
	}
	switch {
	case upper == nil && known == "":
		high = ""
	case upper == nil:
		high = greatest(high, room)
	case c.Open:
		high = greatest(s.highest(c, known, high[len(known):]), room)
	case high == "":
		return bound{}, true, nil // nothing is below an empty upper bound
	case len(high) > room:
		high = greatest(high, room)
	}
	if c.Type != types.ScalarAttributeTypeB {
		low = wholeCharacters(low, room)
	}
	low = low[:min(len(low), room)]
	if high != "" && low > high {
		return bound{}, true, nil
	}
	b, err := characters(c.Attribute, low, high)
	return b, false, err
}

// within bounds an attribute by two texts.
func (s *Source) within(c schema.SortCondition, in schema.Input, low string, room int) (bound, none, error) {
	high, err := s.Entity.Render(c.To, in.Values)
	if err != nil {
		return bound{}, false, err
	}
	if len(low) > room {
		return bound{}, true, nil // no key is that long
	}
	if c.Open && high != "" || len(high) > room {
		high = greatestText(high, room)
	}
	if high != "" && low > high {
		return bound{}, true, nil
	}
	b, err := characters(c.Attribute, low, high)
	return b, false, err
}

// highest is the prefix of the greatest keys whose field does not exceed a bound. Usually that is the bound itself; but for
// the value "ann" and the bound "ann b", the key "ann#1" is greater than all that begin with "ann b".
func (s *Source) highest(c schema.SortCondition, known, bound string) string {
	high, follows, f := known+bound, s.follows(c), s.Entity.Field(c.Next.Field)
	if f == nil || follows == "" {
		return high
	}
	for i := range bound {
		if shorter := known + bound[:i] + follows; shorter > high && f.Makes(c.Next.Funcs, c.Type, bound[:i]) {
			high = shorter
		}
	}
	return high
}

// follows is the literal after the field that a condition bounds; "" if there is none.
func (s *Source) follows(c schema.SortCondition) string {
	at := len(c.Known) + 1
	i := slices.IndexFunc(s.composed, func(a schema.KeyAttribute) bool { return a.Name == c.Name })
	if i < 0 || len(s.composed[i].Template) <= at {
		return ""
	}
	return s.composed[i].Template[at].Literal
}

// text is the text of a bound in an attribute: what is known before the field, then the field. Without a bound it is what is
// known.
func (s *Source) text(p schema.Part, known string, v types.AttributeValue) (string, error) {
	if v == nil {
		return known, nil
	}
	text, err := s.Entity.TextOf(p, v)
	return known + text, err
}

// characters bounds a string attribute; "" means no bound.
func characters(a schema.Attribute, low, high string) (b bound, err error) {
	if low != "" {
		if b.lower, err = a.KeyValue(low); err != nil {
			return bound{}, err
		}
	}
	if high != "" {
		b.upper, err = a.KeyValue(high)
	}
	return b, err
}

// numbers bounds a number attribute.
func numbers(a schema.Attribute, low, high string, lower, upper bool) (b bound, err error) {
	if lower {
		if b.lower, err = a.KeyValue(low); err != nil {
			return bound{}, err
		}
	}
	if upper {
		b.upper, err = a.KeyValue(high)
	}
	return b, err
}

// wholeCharacters cuts a text to at most n bytes. As a lower bound, the cut also includes the few keys that begin with it and
// have at most n bytes; their items are dropped by comparing values.
func wholeCharacters(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// greatestText is the greatest text of at most n bytes that begins with s, approximated by one additional character.
func greatestText(s string, n int) string {
	s = wholeCharacters(s, n)
	switch n - len(s) {
	case 0:
		return s
	case 1:
		return s + "\x7F"
	case 2:
		return s + "\u07FF"
	case 3:
		return s + "\uFFFF"
	default:
		return s + "\U0010FFFF"
	}
}

// greatestBytes is the greatest byte sequence of at most n bytes that begins with s.
func greatestBytes(s string, n int) string {
	s = s[:min(len(s), n)]
	return s + strings.Repeat("\xFF", n-len(s))
}
