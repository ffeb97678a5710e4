package keylang

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
)

// Order is how the byte order of texts, in which DynamoDB sorts strings, relates to the order of the values.
type Order uint8

// The orders.
const (
	Random   Order = iota // not at all
	Unpadded              // numbers without fixed width: not at all, and a function would fix it
	ByText                // as texts, which for words is the order by code points
	Coarse                // as the values, but different values can be the same text
	Reversed              // backwards
	Ordered               // as the values
)

// Sorting says how a value sorts in a key, and why.
type Sorting struct {
	Order  Order
	Reason string // a clause: "a ulid starts with its time, to the millisecond"
}

// Sorts is how the texts of a field after functions sort in an attribute of type S. A template that is one field in
// an attribute of type N or B sorts as the values do, whatever this says.
func Sorts(d *design.Design, f *design.Field, funcs ...design.Func) (Sorting, error) {
	v, err := through(d, f, funcs)
	return v.sorts, err
}

// sortsOf is the sorting of a kind before functions; of an enumeration it depends on the values.
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

// byText is the sorting of words after lower, fold or slug, "" for none.
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

// Disorder is the proof that what follows a value in a template breaks its order: Shorter sorts before Longer, and the
// key with Shorter after the key with Longer.
type Disorder struct {
	Name string // of the part
	Extension
}

// OutOfOrder asks whether a value is followed by a byte that sorts after one of its own: in "{name|fold}#{id}" it is,
// since "cafe premium#2" sorts before "cafe#1": a space is less than "#". Values that are no text's beginning,
// as those of fixed width, are safe. Where only the same byte as the one that follows can go on with the value, the
// answer is not certain.
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
