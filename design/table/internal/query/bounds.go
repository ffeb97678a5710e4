package query

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// bound is what a Query says of one sort key attribute; nothing where all are nil.
type bound struct {
	equal, prefix, lower, upper types.AttributeValue
}

// none is whether the bound of an attribute leaves nothing.
type none bool

// bound is a condition with its values. room is how many bytes the attribute can have.
func (s *Source) bound(c schema.SortCondition, in schema.Input, room int) (bound, none, error) {
	known, err := s.Entity.Render(c.Known, in.Values)
	if err != nil {
		return bound{}, false, err
	}
	switch {
	case c.Comparison == schema.Equal:
		if len(known) > room && c.Type != types.ScalarAttributeTypeN {
			return bound{}, true, nil // no key is so long
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
		return bound{}, true, nil // no key is so long
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

// beginning is the text in the key of what the caller gives as the beginning of a field. Of the part's functions those
// apply that make of a beginning a beginning: lower, fold and slug, and the cuts first and date. An empty or absent
// beginning asks for nothing.
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
			text = text[:min(len(text), len(f.Arg))] // a cut of the text that times have
		default:
		}
	}
	return text, err
}

// normal is a part with those of its functions that write equal what is meant to be equal: lower, fold and slug.
func normal(p schema.Part) schema.Part {
	p.Funcs = slices.DeleteFunc(slices.Clone(p.Funcs), func(f schema.Func) bool {
		return f.Name != "lower" && f.Name != "fold" && f.Name != "slug"
	})
	return p
}

// between bounds an attribute by the texts that the caller's bounds have in the key. The bounds are inclusive: of a field that
// the template does not end with, the upper one lets all that begins with it pass.
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
		return bound{}, true, nil // what is not greater than nothing
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
		return bound{}, true, nil // no key is so long
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

// highest is what the greatest keys begin with whose field is not greater than a bound. Most often that is the bound; but of
// "ann" and the bound "ann b" the key "ann#1" is greater than all that begin with "ann b".
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

// follows is the literal behind the field that a condition bounds; "" if there is none.
func (s *Source) follows(c schema.SortCondition) string {
	at := len(c.Known) + 1
	i := slices.IndexFunc(s.composed, func(a schema.KeyAttribute) bool { return a.Name == c.Name })
	if i < 0 || len(s.composed[i].Template) <= at {
		return ""
	}
	return s.composed[i].Template[at].Literal
}

// text is what a bound makes of an attribute: what is known before the field, then the field. Without a bound it is what is
// known.
func (s *Source) text(p schema.Part, known string, v types.AttributeValue) (string, error) {
	if v == nil {
		return known, nil
	}
	text, err := s.Entity.TextOf(p, v)
	return known + text, err
}

// characters bounds an attribute that is none; "" does not.
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

// numbers bounds an attribute that is a number.
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

// wholeCharacters cuts a text to at most n bytes. As a lower bound, the cut lets those few keys pass besides that begin
// with it and have n bytes at most; what they stand for is dropped by its values.
func wholeCharacters(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// greatestText is the greatest text of at most n bytes among those that begin with s, as far as one more character tells.
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

// greatestBytes is the greatest of at most n bytes that begins with s.
func greatestBytes(s string, n int) string {
	s = s[:min(len(s), n)]
	return s + strings.Repeat("\xFF", n-len(s))
}
