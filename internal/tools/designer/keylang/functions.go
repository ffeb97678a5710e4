package keylang

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/monotable/monotable/design"
)

// spaces are the bytes that fold treats as a space.
const spaces = " \t\n\v\f\r"

// maxShards is the maximum number of shards in a template; auto may become any number up to it.
const maxShards = 10000

// foldGrowth is the maximum growth of a text by the decomposition in fold: U+FDFA, 3 bytes, becomes 33.
const foldGrowth = 11

func inf() float64 { return math.Inf(1) }

// OfField is the language of a field's values after functions. d has the enumerations. The error says which function
// does not apply to the value, or that the field has no text.
func OfField(d *design.Design, f *design.Field, funcs ...design.Func) (Language, error) {
	v, err := through(d, f, funcs)
	if err != nil {
		return Language{}, err
	}
	l := Language{
		kind: design.KeyString, texts: v.texts, plain: nonEmpty(v.texts),
		most: v.most, bound: v.bound, rough: v.rough, beyond: v.beyond,
	}
	if v.kind == design.KindBytes {
		l.kind = design.KeyBinary
	}
	return l, nil
}

func through(d *design.Design, f *design.Field, funcs []design.Func) (value, error) {
	v, err := valueOf(d, f)
	if err != nil {
		return value{}, err
	}
	for _, fn := range funcs {
		if err := v.apply(fn); err != nil {
			return value{}, fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return v, nil
}

// apply applies a function to the value.
func (v *value) apply(fn design.Func) error {
	n := fn.Int()
	if v.kind == design.KindBytes && fn.Name != "hash" && fn.Name != "shard" {
		return fmt.Errorf("|%s takes text, not bytes", fn.Name)
	}
	switch fn.Name {
	case "lower", "fold", "slug":
		v.rewrite(fn.Name)
	case "pad", "desc":
		if !v.number {
			return fmt.Errorf("|%s takes a whole number, not %s", fn.Name, v.kind)
		}
		v.digits(fn.Name, n)
	case "ts":
		if v.kind != design.KindTime {
			return fmt.Errorf("|ts takes a time, not %s", v.kind)
		}
		if fn.Arg == "s" {
			v.become(form("1700000000", "0-9"), Sorting{Coarse, "times in the same second are equal"})
		} else {
			v.become(form("1700000000000", "0-9"), Sorting{Ordered, "milliseconds have 13 digits until 2286"})
		}
		v.number = true
	case "date":
		return v.cutTo(fn.Arg)
	case "band", "mod":
		if !v.number {
			return fmt.Errorf("|%s takes a whole number, not %s", fn.Name, v.kind)
		}
		if n < 1 {
			return fmt.Errorf("|%s takes a number of at least 1", fn.Name)
		}
		v.divided(fn.Name, n)
	case "shard":
		if fn.Arg == "auto" {
			n = maxShards
		}
		if n < 1 || n > maxShards {
			return fmt.Errorf("|shard takes 1 to %d shards, or auto", maxShards)
		}
		v.become(numbersBelow(n), Sorting{Random, "a shard is a hash"})
		v.number, v.below = true, n
	case "first":
		if n < 1 {
			return fmt.Errorf("|first takes a number of characters")
		}
		v.first(n)
	case "hash":
		if n < 1 || n > hex.EncodedLen(sha256.Size) {
			return fmt.Errorf("|hash takes a number of digits from 1 to 64")
		}
		v.hash(n)
	default:
		return fmt.Errorf("unknown function |%s", fn.Name)
	}
	return nil
}

// become replaces the texts by others of a fixed form, of which there are not more than before.
func (v *value) become(texts automaton, sorts Sorting) {
	if v.list == nil {
		v.most = min(v.most, countTexts(v.texts))
	}
	v.texts, v.sorts, v.kind = texts, sorts, design.KindText
	v.list, v.number, v.below, v.least, v.limit, v.bound, v.rough, v.beyond, v.coarse = nil, false, 0, 0, 0, 0, false, false, ""
}

// each applies a function to the listed values.
func (v *value) each(f func(string) string) {
	var out []string
	for _, s := range v.list {
		if to := f(s); !slices.Contains(out, to) {
			out = append(out, to)
		}
	}
	v.setList(out)
	if v.kind == design.KindEnum {
		v.sorts = enumSorts(out)
	}
}

// rewrite applies lower, fold or slug.
func (v *value) rewrite(name string) {
	chars := alphabet(v.texts)
	ascii := chars.minus(span(0, 0x7f)).none()
	v.sorts = v.sorts.rewritten(name, v.kind)
	if v.list != nil && !v.rough && (name == "lower" || ascii) {
		v.each(map[string]func(string) string{"lower": strings.ToLower, "fold": foldASCII, "slug": slugASCII}[name])
		return
	}
	blank := !ascii || !chars.and(setOf(spaces)).none() // spaces and accents alone fold to nothing
	switch {
	case name == "lower",
		name == "fold" && !blank,
		name == "slug" && chars.lower().minus(setOf("a-z0-9")).none():
		v.texts = lowered(v.texts)
	case name == "fold":
		v.reform(folded(), ascii, blank)
	default:
		v.reform(slugged(), ascii, blank)
	}
	v.beyond = !ascii && name != "slug"
	v.restrict()
	if v.kind == design.KindTime || v.kind == design.KindDate {
		v.kind = design.KindText // it no longer has the kind
	}
}

// reform replaces the texts by everything that fold or slug can make of any text. Information about the texts other
// than their characters and the field's limit is lost.
func (v *value) reform(texts automaton, ascii, blank bool) {
	shortest, longest := lengths(v.texts)
	v.most = min(v.most, countTexts(v.texts))
	free := v.kind == design.KindText || v.kind == design.KindID || v.kind == design.KindSlug
	bounded := longest < math.MaxInt || v.bound != 0
	v.rough = v.rough || !free || bounded && v.limit == 0
	if bounded && v.limit == 0 {
		v.bound = min(longest, or(v.bound, longest))
		if !ascii {
			v.bound *= foldGrowth
		}
	}
	if v.texts = texts; shortest == 0 || blank {
		v.texts = opt(texts)
	}
}

func or(n, other int) int {
	if n == 0 {
		return other
	}
	return n
}

// folded is everything that fold can make of a text, except the empty text.
func folded() automaton {
	word := plus(character(span(0, 0x7f).minus(setOf("A-Z" + spaces))))
	return seq(word, star(seq(literal(" "), word)))
}

// slugged is everything that slug can make of a text, except the empty text.
func slugged() automaton {
	word, dash := plus(class("a-z0-9", 0)), literal("-")
	return alt(dash, seq(opt(dash), word, star(seq(dash, word)), opt(dash)))
}

// foldASCII is fold for ASCII texts.
func foldASCII(s string) string {
	return strings.ToLower(strings.Join(strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(spaces, c) }), " "))
}

// slugASCII is slug for ASCII texts.
func slugASCII(s string) string {
	var out strings.Builder
	dash := false
	for _, c := range foldASCII(s) {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			out.WriteRune(c)
			dash = false
		} else if !dash {
			out.WriteByte('-')
			dash = true
		}
	}
	return out.String()
}

// digits applies pad or desc.
func (v *value) digits(name string, n int) {
	below := v.below
	all := times(class("0-9", '0'), n, n)
	coarse := v.coarse
	if name == "desc" {
		sorts := v.sorts.turned(n)
		if coarse != "" && sorts.Order == Reversed {
			sorts = Sorting{Coarse, coarse}
		}
		v.become(all, sorts)
		v.number = true
		return
	}
	sorts := v.sorts
	if sorts.Order == Unpadded {
		sorts = Sorting{Ordered, fmt.Sprintf("a number of at least 0 with %d digits", n)}
		if coarse != "" {
			sorts = Sorting{Coarse, coarse}
		}
	}
	if greatest := strconv.Itoa(below - 1); below > 0 && len(greatest) <= n {
		all = notAbove(strings.Repeat("0", n-len(greatest))+greatest, '0')
	}
	v.become(all, sorts)
	v.number = true
}

// divided applies band or mod.
func (v *value) divided(name string, n int) {
	if name == "mod" {
		v.become(numbersBelow(n), Sorting{Random, "a remainder does not sort like the number"})
		v.number, v.below = true, n
		return
	}
	coarse := fmt.Sprintf("numbers in the same band of %d are equal", n)
	sorts := Sorting{Unpadded, "10 sorts before 9: |pad(n) after |band sorts like the bands"}
	if v.sorts.Order == Random || v.sorts.Order == Reversed {
		sorts = v.sorts
	}
	negative := !alphabet(v.texts).and(setOf("-")).none()
	_, width := lengths(v.texts)
	greatest := new(big.Int).SetInt64(math.MaxInt64)
	if below := v.below; below > 0 {
		greatest.SetInt64(int64(below - 1))
	} else if negative {
		width--
	}
	if v.below == 0 && width < len(greatest.String()) {
		greatest.Exp(big.NewInt(10), big.NewInt(int64(width)), nil).Sub(greatest, big.NewInt(1))
	}
	greatest.Quo(greatest, big.NewInt(int64(n)))
	below := int(min(greatest.Int64(), math.MaxInt64-1)) + 1
	texts := numbersBelow(below)
	if negative {
		texts = alt(texts, seq(literal("-"), class("1-9", '1'), times(class("0-9", '0'), 0, len(greatest.String())))) // -1 is in band -1
	}
	v.become(texts, sorts)
	v.number, v.coarse = true, coarse
	if !negative {
		v.below = below
	}
}

// cutTo applies date.
func (v *value) cutTo(layout string) error {
	unit, ok := map[string]string{"yyyy": "year", "yyyy-MM": "month", "yyyy-MM-dd": "day", "yyyy-MM-ddTHH": "hour"}[layout]
	switch {
	case !ok:
		return fmt.Errorf("|date does not support the layout %q", layout)
	case v.kind == design.KindDate && unit == "hour":
		return fmt.Errorf("|date(%s): a date has no hours", layout)
	case v.kind != design.KindDate && v.kind != design.KindTime:
		return fmt.Errorf("|date takes a time or date, not %s", v.kind)
	}
	sorts := Sorting{Coarse, "times in the same " + unit + " are equal"}
	if v.kind == design.KindDate && unit == "day" {
		sorts = v.sorts
	}
	v.become(clock(layout), sorts)
	return nil
}

func (v *value) first(n int) {
	v.sorts = v.sorts.cut(n)
	v.number, v.below, v.kind = false, 0, design.KindText
	if v.list != nil && !v.rough {
		v.each(func(s string) string {
			for i := range s {
				if utf8.RuneCountInString(s[:i]) == n {
					return s[:i]
				}
			}
			return s
		})
		return
	}
	v.list = nil
	v.limit, v.least = 0, 0
	if _, longest := lengths(v.texts); n >= longest {
		return
	}
	if unrolls(v.texts, n) {
		v.texts = beginnings(v.texts, n)
		return
	}
	v.texts, v.rough = anyBeginnings(v.texts), true
	if most := n * utf8.UTFMax; v.bound == 0 || most < v.bound {
		v.bound = most
	}
}

func (v *value) hash(n int) {
	sorts := Sorting{Random, "a hash is effectively random"}
	if v.list != nil && !v.rough {
		v.each(func(s string) string {
			sum := sha256.Sum256([]byte(s))
			return hex.EncodeToString(sum[:])[:n]
		})
		v.sorts, v.kind, v.number, v.below = sorts, design.KindText, false, 0
		return
	}
	v.become(form(strings.Repeat("9f86d081", 8)[:n], "0-9a-f"), sorts)
}
