package plan

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// Bounds are the bounds between which a collection reads sort keys. Texts compare byte by byte, as DynamoDB sorts
// them.
type Bounds struct {
	// From is the known prefix of the smallest key; empty if nothing is known.
	From []design.Part
	// To is the known prefix of the greatest key, or the whole key if it is not Open; empty if there is no upper
	// bound.
	To   []design.Part
	Open bool
}

// Prefix reports whether the bounds cover exactly the texts with one prefix.
func (b *Bounds) Prefix() bool {
	return b.Open && len(b.From) > 0 && partsText(b.From) == partsText(b.To)
}

// boundsOf returns the bounds that a collection declares; otherwise they follow from the templates of its members.
func boundsOf(c *design.Collection, members []Place) *Bounds {
	_, sk := members[0].Attributes()
	if len(sk) == 0 || sk[0].Type != design.KeyString {
		return nil
	}
	var all []beginning
	for _, p := range members {
		all = append(all, beginningOf(p.SK[0], c.By))
	}
	least, greatest := all[0], all[0]
	for _, x := range all[1:] {
		least, greatest = least.orLess(x), greatest.orGreater(x)
	}
	out := &Bounds{From: least.parts, To: greatest.parts, Open: greatest.open}
	if c.From != nil {
		out.From = c.From.Parts
	}
	if c.To != nil {
		out.To, out.Open = c.To.Parts, true
	}
	if len(out.From) == 0 && len(out.To) == 0 {
		return nil
	}
	return out
}

// beginning is the prefix of a text: literals, and fields whose values are given. It is open if more can follow.
type beginning struct {
	parts []design.Part
	open  bool
}

func beginningOf(t *design.Template, by []string) beginning {
	n := slices.IndexFunc(t.Parts, func(p design.Part) bool { return p.Field != "" && !slices.Contains(by, p.Field) })
	if n < 0 {
		return beginning{t.Parts, false}
	}
	return beginning{t.Parts[:n], true}
}

// literal returns the literal prefix of the beginning, and whether that is all of it.
func (b beginning) literal() (text string, whole bool) {
	for _, p := range b.parts {
		if p.Field != "" {
			return text, false
		}
		text += p.Literal
	}
	return text, true
}

// orLess returns a beginning that no text of either one sorts before.
func (b beginning) orLess(c beginning) beginning {
	if partsText(b.parts) == partsText(c.parts) {
		return b
	}
	x, whole := b.literal()
	y, wholeToo := c.literal()
	switch {
	case strings.HasPrefix(y, x) && whole:
		return b // a text sorts before its own extensions
	case strings.HasPrefix(x, y) && wholeToo:
		return c
	case strings.HasPrefix(y, x) || strings.HasPrefix(x, y):
		return opened(min(x, y)) // the fields decide the rest
	case x < y:
		return b
	default:
		return c
	}
}

// orGreater returns a beginning that no text of either one sorts after.
func (b beginning) orGreater(c beginning) beginning {
	if partsText(b.parts) == partsText(c.parts) {
		return beginning{b.parts, b.open || c.open}
	}
	x, whole := b.literal()
	y, wholeToo := c.literal()
	switch {
	case strings.HasPrefix(y, x) && whole && b.open:
		return b
	case strings.HasPrefix(x, y) && wholeToo && c.open:
		return c
	case strings.HasPrefix(y, x) && whole:
		return c // it is no longer than this one, and the other is
	case strings.HasPrefix(x, y) && wholeToo:
		return b
	case strings.HasPrefix(y, x) || strings.HasPrefix(x, y):
		return opened(min(x, y))
	case x > y:
		return b
	default:
		return c
	}
}

// opened is the beginning of all texts with a literal prefix.
func opened(literal string) beginning {
	if literal == "" {
		return beginning{open: true}
	}
	return beginning{[]design.Part{{Literal: literal}}, true}
}

// Outside reports whether no text of a template is within the bounds, judging by its known prefix.
func (b *Bounds) Outside(t *design.Template) bool {
	own := t.Prefix()
	from, _ := beginning{parts: b.From}.literal()
	to, _ := beginning{parts: b.To}.literal()
	below := own < from && !strings.HasPrefix(from, own)
	above := len(b.To) > 0 && own > to && !strings.HasPrefix(own, to)
	return below || above
}

// rootFirst reports whether a collection's root is certain to come before every other member in the direction of the
// Query.
func rootFirst(c *design.Collection, members []Place, root int, reverse bool) bool {
	if c.From != nil || c.To != nil || len(members[root].SK) == 0 {
		return false
	}
	own := beginningOf(members[root].SK[0], c.By)
	for i, p := range members {
		other := beginningOf(p.SK[0], c.By)
		first := own.before(other)
		if reverse {
			first = other.before(own)
		}
		if i != root && !first {
			return false
		}
	}
	return true
}

// before reports whether every text with this beginning sorts before every text with another.
func (b beginning) before(c beginning) bool {
	x, whole := b.literal()
	y, _ := c.literal()
	if strings.HasPrefix(y, x) {
		return whole && !b.open && (len(x) < len(y) || c.open) // a text sorts before its own extensions
	}
	return x < y && !strings.HasPrefix(x, y)
}
