package keylang

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
)

// Order is the relation between the byte order of texts, by which DynamoDB sorts strings, and the order of the values.
type Order uint8

// The orders.
const (
	Random   Order = iota // unrelated
	Unpadded              // numbers without fixed width: unrelated, and a function would fix it
	ByText                // as texts, which for words is code point order
	Coarse                // like the values, but different values can have the same text
	Reversed              // reversed
	Ordered               // like the values
)

// Sorting says how a value sorts in a key, and why.
type Sorting struct {
	Order  Order
	Reason string // a clause: "a ulid starts with its time, to the millisecond"
}

// Sorts describes how the texts of a field after functions sort in an attribute of type S. A template that is a single
// field in an attribute of type N or B sorts like the values, regardless of the result.
func Sorts(d *design.Design, f *design.Field, funcs ...design.Func) (Sorting, error) {
	v, err := through(d, f, funcs)
	return v.sorts, err
}

// sortsOf is the sorting of a kind before functions; for an enumeration it depends on the values.
func sortsOf(k design.Kind) Sorting {
	switch k {
	case design.KindUUID:
		return Sorting{Random, "a uuid is random"}
	case design.KindULID:
		return Sorting{Ordered, "a ulid starts with its time, to the millisecond"}
	case design.KindKSUID:
		return Sorting{Ordered, "a ksuid starts with its time, to the second"}
	case design.KindSlug, design.KindEmail, design.KindText, design.KindSecret:
		return byText("")
	case design.KindTime:
		return Sorting{Ordered, "a time has a fixed width and is UTC"}
	case design.KindDate:
		return Sorting{Ordered, "a date has a fixed width"}
	case design.KindInt, design.KindMoney:
		return Sorting{Unpadded, "10 sorts before 9, and -1 before -2: |pad(n) sorts like the numbers"}
	case design.KindTTL:
		return Sorting{Unpadded, "the seconds have no fixed width: use |pad(10)"}
	case design.KindDecimal:
		return Sorting{Unpadded, "10.5 sorts before 9.5, and -1 before -2: no function gives a decimal a fixed width"}
	case design.KindBool:
		return Sorting{Ordered, "false sorts before true"}
	case design.KindBytes:
		return Sorting{Ordered, "bytes sort as they are"}
	default:
		return Sorting{Random, "its bytes have no meaningful order"}
	}
}

// byText is the sorting of words after lower, fold or slug, "" for no function.
func byText(name string) Sorting {
	if name == "" {
		return Sorting{ByText, "by code point: Z sorts before a, and á after z: |fold ignores case and accents"}
	}
	if name == "lower" {
		return Sorting{ByText, "by the text in lower case, with accented letters after z"}
	}
	return Sorting{ByText, "by the text without case and accents"}
}

func enumSorts(values []string) Sorting {
	if slices.IsSorted(values) {
		return Sorting{Ordered, "the values are declared in sort order"}
	}
	sorted := slices.Sorted(slices.Values(values))
	return Sorting{ByText, fmt.Sprintf("by the values' names, %s first, which differs from the order of declaration", sorted[0])}
}

// rewritten is the sorting after lower, fold or slug of a value of a kind.
func (s Sorting) rewritten(name string, kind design.Kind) Sorting {
	switch {
	case s.Order == ByText:
		return byText(name)
	case kind == design.KindKSUID:
		return Sorting{Random, "a ksuid in lower case does not sort by its time"}
	default:
		return s
	}
}

// turned is the sorting after desc(n).
func (s Sorting) turned(n int) Sorting {
	switch s.Order {
	case Random:
		return s
	case Reversed:
		return Sorting{Ordered, "descending twice"}
	default:
		return Sorting{Reversed, fmt.Sprintf("10^%d - 1 - value, so the greatest value sorts first", n)}
	}
}

// cut is the sorting after first(n).
func (s Sorting) cut(n int) Sorting {
	switch s.Order {
	case Ordered, ByText, Coarse:
		return Sorting{Coarse, fmt.Sprintf("values with the same first %d characters are equal", n)}
	case Reversed:
		return Sorting{Random, "the first characters of a descending number"}
	default:
		return s
	}
}

// Disorder proves that the text after a value in a template breaks the value's order: Shorter sorts before Longer, but
// the key with Shorter sorts after the key with Longer.
type Disorder struct {
	Name string // of the part
	Extension
}

// OutOfOrder reports whether a value is followed by a byte that sorts after one that can extend the value: in
// "{name|fold}#{id}" it is, because "cafe premium#2" sorts before "cafe#1": a space is less than "#". Values that are
// never prefixes of others, like those of fixed width, are safe. If only the same byte as the following one can extend
// the value, the answer is not certain.
func (t Template) OutOfOrder() (Disorder, bool) {
	for i, p := range t.parts {
		if p.Field == "" || t.kind != design.KeyString {
			continue
		}
		rest := Template{parts: t.parts[i+1:]}.automaton(false)
		var follow byteSet
		for _, n := range rest[0].next {
			follow = follow.or(rest[n].in)
		}
		if follow.none() {
			continue
		}
		c := follow.greatest()
		for _, lesser := range []byteSet{span(0, c).minus(span(c, c)), span(c, c)} {
			x, found := extension(p.Language, p.Language, seq(one(lesser, 0), star(anyByte())))
			if found {
				x.Certain = x.Certain && !lesser.has(c)
				return Disorder{p.Name, x}, true
			}
		}
	}
	return Disorder{}, false
}
