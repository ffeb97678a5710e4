// Package attrtest generates attribute values for tests: every kind, small and large, with the corner cases of encodings and
// comparisons.
package attrtest

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
)

// maxDepth is the depth of the deepest generated value.
const maxDepth = 4

// Rand returns the source of randomness of one test case. Equal seeds give equal values.
func Rand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Item returns an item of up to 12 attributes of any kind.
func Item(r *rand.Rand) attr.Item { return item(r, 12, maxDepth) }

func item(r *rand.Rand, most, depth int) attr.Item {
	it := attr.Item{}
	for range r.IntN(most + 1) {
		it = it.With(text(r), value(r, depth))
	}
	return it
}

// Value returns a value of any kind.
func Value(r *rand.Rand) attr.Value { return value(r, maxDepth) }

func value(r *rand.Rand, depth int) attr.Value {
	kinds := int(attr.KindBinarySet)
	switch kind := attr.Kind(1 + r.IntN(kinds)); kind {
	case attr.KindBool:
		return attr.Bool(r.IntN(2) == 1)
	case attr.KindNull:
		return attr.Null()
	case attr.KindList:
		if depth == 0 {
			return attr.List(nil)
		}
		elems := make([]attr.Value, r.IntN(5))
		for i := range elems {
			elems[i] = value(r, depth-1)
		}
		return attr.List(elems)
	case attr.KindMap:
		if depth == 0 {
			return attr.Map(attr.Item{})
		}
		return attr.Map(item(r, 4, depth-1))
	case attr.KindStringSet, attr.KindNumberSet, attr.KindBinarySet:
		return set(r, kind)
	default:
		return Key(r, kind)
	}
}

func set(r *rand.Rand, kind attr.Kind) attr.Value {
	members := []attr.Value{Key(r, kind.Member())}
	for range r.IntN(6) {
		members = append(members, Key(r, kind.Member()))
		if attr.Repeats(members) {
			members = members[:len(members)-1]
		}
	}
	return attr.NewSet(kind, members)
}

// Key returns a value of kind S, N or B.
func Key(r *rand.Rand, kind attr.Kind) attr.Value {
	switch kind {
	case attr.KindNumber:
		return Number(r)
	case attr.KindBinary:
		return attr.Binary(bytes(r))
	default:
		return attr.String(text(r))
	}
}

// Number returns a number: small integers, prices, and arbitrary digits anywhere in the range.
func Number(r *rand.Rand) attr.Value {
	switch r.IntN(3) {
	case 0:
		return attr.ParseNumber(strconv.Itoa(r.IntN(201) - 100))
	case 1:
		return attr.ParseNumber(strconv.FormatFloat(float64(r.IntN(20001)-10000)/100, 'f', 2, 64))
	default:
		var b strings.Builder
		if r.IntN(2) == 0 {
			b.WriteByte('-')
		}
		b.WriteByte('1' + byte(r.IntN(9)))
		b.WriteByte('.')
		for range r.IntN(38) {
			b.WriteByte('0' + byte(r.IntN(10)))
		}
		return attr.ParseNumber(b.String() + "e" + strconv.Itoa(r.IntN(125+130+1)-130))
	}
}

func text(r *rand.Rand) string {
	pieces := []string{"a", "b", "user", "#", "\x00", "\x01", "é", "\uffff", "😀", "-", "Z"}
	var b strings.Builder
	for range r.IntN(5) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	if r.IntN(40) == 0 {
		b.WriteString(strings.Repeat("x", r.IntN(400)))
	}
	return b.String()
}

func bytes(r *rand.Rand) string {
	pieces := []string{"\x00", "\x01", "\x02", "\x7f", "\xfe", "\xff", "a"}
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}
