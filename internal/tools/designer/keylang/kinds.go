package keylang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
)

// maxUnrolled bounds the states of an automaton that counts bytes or characters: an ID of up to 512, a text of up to 34.
// A longer limit only affects MaxBytes.
const maxUnrolled = 512

// unrolls reports whether the texts can be counted up to n.
func unrolls(a automaton, n int) bool { return (len(a)-1)*n <= maxUnrolled }

// maxWords bounds the total size of an enumeration's values that are listed individually in an automaton.
const maxWords = 1 << 11

// Bounds for kinds that are unbounded in the automaton.
const (
	emailBytes   = 254 // RFC 5321: a path of 256 with its brackets
	decimalBytes = 170 // sign, 0, point, 130 places to 1E-130 and 37 digits more
)

// value is a field's value after some of its functions.
type value struct {
	texts  automaton
	kind   design.Kind // KindText after a function that changes the kind
	list   []string    // the texts, if the design lists them
	number bool        // a whole number: pad and desc take it
	coarse string      // why several values share a text, after a band
	below  int         // with number: exclusive upper bound; 0 if unknown
	limit  int         // Field.MaxBytes
	least  int         // Field.MinBytes
	bound  int         // as Language.bound
	most   float64     // as Language.most
	rough  bool        // as Language.rough
	beyond bool        // as Language.beyond
	sorts  Sorting
}

// valueOf is the value before functions.
func valueOf(d *design.Design, f *design.Field) (value, error) {
	v := value{kind: f.Type.Kind, limit: f.MaxBytes, least: f.MinBytes, most: inf(), sorts: sortsOf(f.Type.Kind)}
	switch f.Type.Kind {
	case design.KindEnum:
		e := d.Enum(f.Type.Name)
		if e == nil || len(e.Values) == 0 {
			return value{}, fmt.Errorf("field %s: there is no enum %q with values", f.Name, f.Type.Name)
		}
		v.setList(e.Values)
		v.sorts = enumSorts(e.Values)
	case design.KindBool:
		v.setList([]string{"false", "true"})
	case design.KindInt, design.KindMoney, design.KindTTL:
		v.number = true
	case design.KindEmail:
		v.bound = emailBytes
	case design.KindDecimal:
		v.bound = decimalBytes
	case design.KindSecret:
		v.kind = design.KindText
	default:
	}
	if v.list == nil {
		v.texts = textsOf(f.Type.Kind)
	}
	if v.texts == nil {
		return value{}, fmt.Errorf("field %s: a %s cannot be used in a key", f.Name, f.Type)
	}
	v.restrict()
	return v, nil
}

// textsOf are the texts of a kind that depends on nothing else; nil for others.
func textsOf(k design.Kind) automaton {
	digits := times(class("0-9", '0'), 0, 18)
	switch k {
	case design.KindID:
		return plus(class("A-Za-z0-9._:@-", 0))
	case design.KindUUID:
		return form("3f2b8c1e-7a4d-4b6f-9c2a-1d5e8f7a6b3c", "0-9a-f")
	case design.KindULID:
		return seq(class("0-7", '0'), form("1HQ3Z5K7N9PBRDTFVGXJ0M2WA", "0-9A-HJKMNP-TV-Z"))
	case design.KindKSUID:
		return seq(class("0-9A-Za", '2'), form("aDzhYWvXk5T1mR8cQ3nL7pB0sG", "0-9A-Za-z"))
	case design.KindSlug:
		return plus(class("a-z0-9-", 0))
	case design.KindEmail:
		return seq(plus(class("A-Za-z0-9!#$%&'*+/=?^_`{|}~.-", 0)), literal("@"), plus(class("A-Za-z0-9.-", 'b')))
	case design.KindText, design.KindSecret:
		return star(character(span(0, 0x7f)))
	case design.KindTime:
		return clock("yyyy-MM-ddTHH:mm:ss.SSSZ")
	case design.KindDate:
		return clock("yyyy-MM-dd")
	case design.KindInt, design.KindMoney:
		return alt(literal("0"), seq(opt(literal("-")), class("1-9", '1'), digits))
	case design.KindTTL:
		return alt(literal("0"), seq(class("1-9", '1'), digits))
	case design.KindDecimal:
		return decimal()
	case design.KindBytes:
		return star(anyByte())
	default:
		return nil
	}
}

// setList makes the value one of a list.
func (v *value) setList(texts []string) {
	v.list, v.limit = texts, 0
	v.most = float64(len(texts))
	all := strings.Join(texts, "")
	if len(all) > maxWords {
		var set byteSet
		longest := 0
		for _, t := range texts {
			longest = max(longest, len(t))
		}
		for i := range len(all) {
			set = set.with(all[i])
		}
		v.texts, v.bound, v.rough = star(one(set, 0)), longest, true
		return
	}
	v.texts = words(texts)
}

// restrict applies the field's MinBytes and MaxBytes. A limit that no value keeps says nothing.
func (v *value) restrict() {
	if shortest, _ := lengths(v.texts); shortest < v.least && v.list == nil {
		if unrolls(v.texts, v.least) {
			v.texts = atLeast(v.texts, v.least)
		} else {
			v.texts, v.rough = nonEmpty(v.texts), true
		}
	}
	shortest, longest := lengths(v.texts)
	if v.limit == 0 || v.limit < shortest || v.limit >= longest || v.list != nil {
		return
	}
	if v.bound == 0 || v.limit < v.bound {
		v.bound = v.limit
	}
	if unrolls(v.texts, v.limit) {
		v.texts = within(v.texts, v.limit)
	}
}

// form is a text of the sample's length: its dashes, and bytes of the set elsewhere.
func form(sample, set string) automaton {
	list := make([]automaton, len(sample))
	for i := range len(sample) {
		list[i] = class(set, sample[i])
		if sample[i] == '-' {
			list[i] = literal("-")
		}
	}
	return seq(list...)
}

// clock is the language of times in a layout.
func clock(layout string) automaton {
	digit := class("0-9", '0')
	units := map[string]automaton{
		"yyyy": form("2024", "0-9"),
		"MM":   alt(seq(literal("0"), class("1-9", '1')), seq(literal("1"), class("0-2", '0'))),
		"dd":   alt(seq(literal("0"), class("1-9", '1')), seq(class("12", '1'), digit), seq(literal("3"), class("01", '0'))),
		"HH":   alt(seq(class("01", '1'), digit), seq(literal("2"), class("0-3", '0'))),
		"mm":   seq(class("0-5", '3'), digit),
		"ss":   seq(class("0-5", '0'), digit),
		"SSS":  times(digit, 3, 3),
	}
	var list []automaton
	for layout != "" {
		n := 1
		for n < len(layout) && layout[n] == layout[0] {
			n++
		}
		unit, ok := units[layout[:n]]
		if !ok {
			unit = literal(layout[:n])
		}
		list = append(list, unit)
		layout = layout[n:]
	}
	return seq(list...)
}

// decimal is the language of decimals in their shortest form without exponent: no zeros before the digits, none after the
// last place, no -0.
func decimal() automaton {
	digits := star(class("0-9", '5'))
	whole := alt(literal("0"), seq(class("1-9", '1'), digits))
	return alt(literal("0"), seq(opt(literal("-")), class("1-9", '1'), digits),
		seq(opt(literal("-")), whole, literal("."), digits, class("1-9", '5')))
}

// character is one character of UTF-8, of the given ones of ASCII and of all beyond: the Unicode Standard, table 3-7.
func character(ascii byteSet) automaton {
	const last, middle, early = 13, 14, 15 // the bytes that go on, counted from the end
	return automaton{
		{next: []int{1, 2, 3, 4, 5, 6, 7, 8}},
		{in: ascii, final: true},
		{in: span(0xc2, 0xdf), wish: 0xc3, next: []int{last}},
		{in: span(0xe0, 0xe0), next: []int{9}},
		{in: span(0xe1, 0xec).or(span(0xee, 0xef)), next: []int{middle}},
		{in: span(0xed, 0xed), next: []int{10}},
		{in: span(0xf0, 0xf0), next: []int{11}},
		{in: span(0xf1, 0xf3), next: []int{early}},
		{in: span(0xf4, 0xf4), next: []int{12}},
		{in: span(0xa0, 0xbf), next: []int{last}},
		{in: span(0x80, 0x9f), next: []int{last}},
		{in: span(0x90, 0xbf), next: []int{middle}},
		{in: span(0x80, 0x8f), next: []int{middle}},
		last:   {in: continuation(), wish: 0xa9, final: true},
		middle: {in: continuation(), next: []int{last}},
		early:  {in: continuation(), next: []int{middle}},
	}
}

// notAbove is the language of the numbers up to a greatest one, with as many digits as it has; the first digit is first
// or more.
func notAbove(greatest string, first byte) automaton {
	if greatest == "" {
		return empty()
	}
	c, rest := greatest[0], len(greatest)-1
	list := []automaton{seq(one(span(c, c), c), notAbove(greatest[1:], '0'))}
	if first < c {
		digits := times(class("0-9", '0'), rest, rest)
		list = append([]automaton{seq(one(span(first, c-1), first), digits)}, list...)
	}
	if first > c {
		list = nil
	}
	return alt(list...)
}

// numbersBelow is the language of the whole numbers below n, without zeros before them.
func numbersBelow(n int) automaton {
	greatest := strconv.Itoa(n - 1)
	list := []automaton{literal("0")}
	for width := 1; width < len(greatest); width++ {
		list = append(list, seq(class("1-9", '1'), times(class("0-9", '0'), width-1, width-1)))
	}
	if n > 1 {
		list = append(list, notAbove(greatest, '1'))
	}
	return alt(list...)
}
