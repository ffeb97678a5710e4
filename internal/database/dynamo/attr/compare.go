package attr

import (
	"strings"

	"github.com/monotable/monotable/internal/database/dynamo/decimal"
)

// Equal is DynamoDB's equality: numbers by value, sets without order, lists and maps deeply. Values of different kinds are never
// equal. Two absent values are equal, and a faulty value only equals itself.
func (v Value) Equal(o Value) bool {
	if v.kind != o.kind {
		return false
	}
	switch v.kind {
	case KindString, KindNumber, KindBinary:
		return v.Text() == o.Text() // a number's normal form is unique
	case KindBool:
		return v.b == o.b
	case KindNull:
		return true
	case KindList:
		return equalLists(v.Elems(), o.Elems())
	case KindMap:
		return v.Item().Equal(o.Item())
	case KindStringSet, KindNumberSet, KindBinarySet:
		return equalSets(v.Elems(), o.Elems())
	default:
		return v.p == o.p
	}
}

func equalLists(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !a[i].Equal(b[i]) {
			return false
		}
	}
	return true
}

// smallSet is the number of members up to which comparing all pairs is faster than a hash table.
const smallSet = 16

// equalSets compares two sets of distinct members.
func equalSets(a, b []Value) bool {
	if len(a) != len(b) {
		return false
	}
	if equalLists(a, b) { // sets usually come back as they were sent
		return true
	}
	if len(a) <= smallSet {
		for _, m := range a {
			if !containsText(b, m.Text()) {
				return false
			}
		}
		return true
	}
	members := make(map[string]struct{}, len(b))
	for _, m := range b {
		members[m.Text()] = struct{}{}
	}
	for _, m := range a {
		if _, ok := members[m.Text()]; !ok {
			return false
		}
	}
	return true
}

func containsText(members []Value, text string) bool {
	for _, m := range members {
		if m.Text() == text {
			return true
		}
	}
	return false
}

// Equal compares field by field. It does not distinguish an absent item from an empty one.
func (it Item) Equal(o Item) bool {
	if len(it) != len(o) {
		return false
	}
	for i := range it {
		if it[i].Name != o[i].Name || !it[i].Value.Equal(o[i].Value) {
			return false
		}
	}
	return true
}

// Compare compares two values of the same kind S, N or B; ok is false for any other pair. S and B are ordered by unsigned bytes,
// which for S is the order of UTF-8, and N by value.
func (v Value) Compare(o Value) (c int, ok bool) {
	if v.kind != o.kind {
		return 0, false
	}
	switch v.kind {
	case KindString, KindBinary:
		return strings.Compare(v.Text(), o.Text()), true
	case KindNumber:
		return decimal.ParseCanonical(v.Text()).Cmp(decimal.ParseCanonical(o.Text())), true
	default:
		return 0, false
	}
}
