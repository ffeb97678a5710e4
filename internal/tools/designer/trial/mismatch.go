package trial

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Kind is the kind of a mismatch.
type Kind string

// The kinds of mismatches.
const (
	WrongSet     Kind = "wrong set"     // an item is missing, was not asked for, or is returned twice
	WrongOrder   Kind = "wrong order"   // the right items in the wrong order
	WrongFields  Kind = "wrong fields"  // an item lacks a promised field, or a field has the wrong value
	WrongPage    Kind = "wrong page"    // a page does not have the requested length
	Ambiguous    Kind = "ambiguous"     // a read of one item finds several
	Overread     Kind = "reads more"    // the request also reads items that were not asked for
	Failed       Kind = "error"         // the call failed, or succeeded when it should have failed
	Capacity     Kind = "capacity"      // the consumed capacity differs from the cost model's
	Inconsistent Kind = "inconsistent"  // the table does not match its items: copies, markers, counters, index attributes
	Refused      Kind = "not runnable"  // no request serves the pattern
	WrongWrite   Kind = "wrong write"   // an item differs from what the write should make of it
	Collision    Kind = "collision"     // two items have one key
	Mistaken     Kind = "mistaken"      // an item is recognized as another entity's
	Unexercised  Kind = "not exercised" // no call could be generated for it
)

// mismatch is the first difference between a result and the truth.
type mismatch struct {
	kind      Kind
	got, want string
	concerned []*record
	// detail is further helpful information, line by line.
	detail []string
	// also is another mismatch of the same call.
	also *mismatch
}

// of is the mismatch of a kind among those of a call; nil if there is none.
func (m *mismatch) of(k Kind) *mismatch {
	for ; m != nil; m = m.also {
		if m.kind == k {
			return m
		}
	}
	return nil
}

func (m *mismatch) about(records ...*record) *mismatch {
	for _, r := range records {
		if r != nil && !slices.Contains(m.concerned, r) {
			m.concerned = append(m.concerned, r)
		}
	}
	return m
}

// canonical is a text that is the same for equal values of a field, and different for others.
func canonical(v types.AttributeValue) string {
	var out strings.Builder
	writeCanonical(&out, v)
	return out.String()
}

// writeCanonical writes texts with their lengths, so that adjacent values stay distinct.
func writeCanonical(out *strings.Builder, v types.AttributeValue) {
	text := func(kind byte, s string) {
		out.WriteByte(kind)
		out.WriteString(strconv.Itoa(len(s)))
		out.WriteByte(':')
		out.WriteString(s)
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		text('s', v.Value)
	case *types.AttributeValueMemberN:
		text('n', scalarText(v))
	case *types.AttributeValueMemberB:
		text('b', string(v.Value))
	case *types.AttributeValueMemberL:
		out.WriteByte('[')
		for _, e := range v.Value {
			writeCanonical(out, e)
		}
		out.WriteByte(']')
	case *types.AttributeValueMemberM:
		out.WriteByte('{')
		for _, name := range slices.Sorted(maps.Keys(v.Value)) {
			text('k', name)
			writeCanonical(out, v.Value[name])
		}
		out.WriteByte('}')
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		members := []string{}
		for _, m := range sdk.Value(v).Elems() {
			members = append(members, m.Text())
		}
		slices.Sort(members)
		for _, m := range members {
			text('m', m)
		}
	default:
		text('o', scalarText(v))
	}
}

// projected is a text of some fields of an item: results are compared by it.
func projected(v table.Values, fields []string) string {
	var out strings.Builder
	for _, name := range fields {
		if !empty(v[name]) {
			out.WriteString(name + "=")
			writeCanonical(&out, v[name])
		}
	}
	return out.String()
}

// projection is the text of a record by which results are compared.
func (t truth) projection(r *record) string {
	p, known := t.known[r]
	if !known {
		p = projected(r.values, t.fields())
		t.known[r] = p
	}
	return p
}

// listing is a list that a read has returned.
type listing struct {
	truth

	records []*record
	in      table.Input
	got     []table.Values
	limit   int // 0 means no limit
}

// judge compares a result with the truth; nil if it is correct.
func (l *listing) judge() (*mismatch, error) {
	want, err := l.expected(l.records, l.in)
	if err != nil {
		return nil, err
	}
	fields := l.fields()
	expected := map[string][]*record{}
	for _, r := range want {
		p := l.projection(r)
		expected[p] = append(expected[p], r)
	}
	for _, same := range expected { // indistinguishable items count as ordered
		slices.SortStableFunc(same, func(a, b *record) int { return l.before(a.values, b.values) })
	}
	matched := make([]*record, len(l.got))
	left := map[*record]bool{}
	for _, r := range want {
		left[r] = true
	}
	for i, v := range l.got {
		p := projected(v, fields)
		if len(expected[p]) == 0 {
			return l.unexpected(i, want, left), nil
		}
		if extra := beyond(v, fields); len(extra) > 0 {
			return (&mismatch{
				kind: WrongFields, got: fmt.Sprintf("result %d also has %s", i+1, strings.Join(extra, ", ")),
				want: "only " + strings.Join(fields, ", "),
			}).about(expected[p][0]), nil
		}
		matched[i], expected[p] = expected[p][0], expected[p][1:]
		delete(left, matched[i])
	}
	if m := l.missing(want, matched, left); m != nil {
		return m, nil
	}
	return l.sorted(matched), nil
}

// beyond are the fields in a result that the read does not promise.
func beyond(v table.Values, fields []string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(fields, name) && v[name] != nil {
			out = append(out, name)
		}
	}
	return out
}

// unexpected describes item i of the result, which is not in the truth.
func (l *listing) unexpected(i int, want []*record, left map[*record]bool) *mismatch {
	fields, v := l.fields(), l.got[i]
	p := projected(v, fields)
	described := fmt.Sprintf("result %d of %d: %s", i+1, len(l.got), l.line(v))
	for _, r := range want {
		if l.projection(r) == p {
			return (&mismatch{kind: WrongSet, got: described + ", again", want: "each item once"}).about(r)
		}
	}
	if r, wrong, lacks := closest(v, fields, want, left); r != nil {
		m := &mismatch{kind: WrongFields, got: described}
		if lacks {
			m.got += ", without " + strings.Join(wrong, ", ")
			m.want = "also " + showFields(r.values, wrong)
		} else {
			m.got += ", with " + wrong[0] + " " + show(v[wrong[0]])
			m.want = wrong[0] + " " + show(r.values[wrong[0]])
		}
		return m.about(r)
	}
	m := &mismatch{kind: WrongSet, got: described, want: "not to be returned"}
	for _, r := range l.records {
		if r.entity.Name == l.read.Design.Entity && l.projection(r) == p {
			return m.about(r)
		}
	}
	return m
}

// closest is the item that a result most likely is: the only differences are one field, or missing fields.
func closest(v table.Values, fields []string, want []*record, left map[*record]bool) (r *record, wrong []string, lacks bool) {
	for _, r := range want {
		var wrong []string
		lacks := true
		for _, name := range fields {
			if !equal(r.values[name], v[name]) {
				wrong = append(wrong, name)
				lacks = lacks && empty(v[name])
			}
		}
		if left[r] && (lacks || len(wrong) == 1) {
			return r, wrong, lacks
		}
	}
	return nil, nil, false
}

// missing describes an item that should be in the result and is not.
func (l *listing) missing(want, matched []*record, left map[*record]bool) *mismatch {
	if l.limit > 0 && len(matched) == min(l.limit, len(want)) {
		if len(matched) == 0 {
			return nil
		}
		last := matched[len(matched)-1]
		for _, r := range want {
			if left[r] && l.before(r.values, last.values) < 0 {
				return (&mismatch{
					kind: WrongOrder, got: fmt.Sprintf("the last of %d: %s", len(matched), l.line(last.values)),
					want: fmt.Sprintf("before it, by %s: %s", l.order(), l.line(r.values)),
				}).about(r, last)
			}
		}
		return nil
	}
	if l.limit > 0 && len(matched) > l.limit {
		return &mismatch{kind: WrongPage, got: fmt.Sprintf("%d items", len(matched)), want: fmt.Sprintf("at most %d", l.limit)}
	}
	for _, r := range want {
		if left[r] {
			return (&mismatch{
				kind: WrongSet, got: fmt.Sprintf("%d results without it", len(l.got)),
				want: fmt.Sprintf("%d results, including %s", len(want), l.line(r.values)),
			}).about(r)
		}
	}
	return nil
}

// sorted describes two items that are in the wrong order.
func (l *listing) sorted(matched []*record) *mismatch {
	for i := 1; i < len(matched); i++ {
		a, b := matched[i-1], matched[i]
		if l.before(a.values, b.values) > 0 {
			return (&mismatch{
				kind: WrongOrder, got: fmt.Sprintf("results %d and %d: %s; %s", i, i+1, l.line(a.values), l.line(b.values)),
				want: "the other way round, by " + l.order(),
			}).about(a, b)
		}
	}
	return nil
}

func (l *listing) order() string {
	var out []string
	for _, o := range l.read.Design.Order {
		if o.Desc {
			out = append(out, o.Field+" desc")
		} else {
			out = append(out, o.Field+" asc")
		}
	}
	return strings.Join(out, ", ")
}

// line describes an item in one line: the fields that identify it, and those that the read is about.
func (t truth) line(v table.Values) string {
	names := append(plan.KeyFields(t.read.Plan.Place.Entity), t.about()...)
	if text := showFields(v, distinct(names)); text != "" {
		return text
	}
	return showFields(v, slices.Sorted(maps.Keys(v)))
}

// about are the fields that a read is about.
func (t truth) about() []string {
	read := t.read.Design
	names := slices.Clone(read.By)
	for _, o := range read.Order {
		names = append(names, o.Field)
	}
	return append(append(names, read.Filter.Fields()...), read.Prefix, read.Range, read.Owner)
}

func distinct(names []string) []string {
	var out []string
	for _, n := range names {
		if n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}
