package trial

import (
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/decimal"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// meaning are the functions of a part that define which values count as equal: values that differ only in what these functions
// remove are the same. The other functions, and all after them, only concern keys: values stay different, whatever text they
// produce.
func meaning(p design.Part) []design.Func {
	for i, f := range p.Funcs {
		if !keytext.Equates(f.Name) {
			return p.Funcs[:i]
		}
	}
	return p.Funcs
}

// meaningText is the text by which a part's values are compared.
func meaningText(p design.Part, v types.AttributeValue) string {
	return through(meaning(p), scalarText(v))
}

func through(funcs []design.Func, text string) string {
	for _, f := range funcs {
		applied, err := keytext.Apply(f.Name, f.Arg, text)
		if err != nil {
			return text // the value has no key, and no question asks for values that cannot be stored
		}
		text = applied
	}
	return text
}

// occurrences are the parts of a place's key that contain a field, or the plain field if none does.
func occurrences(p plan.Place, field string) []design.Part {
	var out []design.Part
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, part := range t.Parts {
			if part.Field == field {
				out = append(out, part)
			}
		}
	}
	if out == nil {
		out = []design.Part{{Field: field}}
	}
	return out
}

// same reports whether two values of a field count as equal at a place.
func same(p plan.Place, field string, a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return false
	}
	if equal(a, b) {
		return true
	}
	return !slices.ContainsFunc(occurrences(p, field), func(part design.Part) bool { return meaningText(part, a) != meaningText(part, b) })
}

// truth computes the correct result of a read: the items that it asks for, found by examining each one.
type truth struct {
	design *design.Design
	read   *lower.Read
	now    time.Time
	known  map[*record]string // projections
}

func newTruth(d *design.Design, r *lower.Read, now time.Time) truth {
	return truth{d, r, now, map[*record]string{}}
}

// reaches reports whether the read's request must examine an item: it matches everything known of its key. Items that only a
// filter or the owner excludes are examined, too.
func (t truth) reaches(r *record, in table.Input) bool {
	read, place := t.read.Design, t.read.Plan.Place
	if r.entity.Name != read.Entity {
		return false
	}
	for _, name := range read.By {
		if !slices.Contains(t.read.Plan.FilterBy, name) && !same(place, name, r.values[name], in.Values[name]) {
			return false
		}
	}
	if read.Bucket != "" && !sameBucket(place, read.Bucket, r.values[read.Bucket], in.Values[read.Bucket]) {
		return false
	}
	return t.begins(r, in) && within(place, read.Range, r, t.bounded(in)) && t.enters(r)
}

// bounded adds the default bounds of a walk: its floor and the current time.
func (t truth) bounded(in table.Input) table.Input {
	at, back, err := t.read.Design.Floor()
	if t.read.Design.Since == "" || err != nil {
		return in
	}
	if back > 0 {
		at = t.now.Add(-back)
	}
	floor := textValue(timeText(at))
	if order, _ := compare(in.From, floor); in.From == nil || order < 0 {
		in.From = floor
	}
	if in.To == nil {
		in.To = textValue(timeText(t.now))
	}
	return in
}

// sameBucket reports whether two times are in the same period of the place's partition key.
func sameBucket(p plan.Place, field string, a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return false
	}
	for _, t := range p.PK {
		for _, part := range t.Parts {
			funcs := bucketOf(part)
			if part.Field == field && through(funcs, scalarText(a)) != through(funcs, scalarText(b)) {
				return false
			}
		}
	}
	return true
}

// bucketOf are the functions of a part that map a value to a period or band.
func bucketOf(p design.Part) []design.Func {
	for i, f := range p.Funcs {
		if f.Name == "date" || f.Name == "band" {
			return p.Funcs[:i+1]
		}
	}
	return nil
}

// begins reports whether a field's value has the given prefix.
func (t truth) begins(r *record, in table.Input) bool {
	name := t.read.Design.Prefix
	if name == "" || in.Values[name] == nil {
		return true
	}
	if r.values[name] == nil {
		return false
	}
	for _, part := range occurrences(t.read.Plan.Place, name) {
		funcs := meaning(part)
		if i := slices.IndexFunc(funcs, func(f design.Func) bool { return f.Name == "date" }); i >= 0 {
			funcs = funcs[:i] // the prefix of a time is given as it is
		}
		if !strings.HasPrefix(through(funcs, scalarText(r.values[name])), through(funcs, scalarText(in.Values[name]))) {
			return false
		}
	}
	return true
}

// within reports whether a field's value is within the bounds. If a place ignores case or accents of a text, they are ignored
// in the bounds, too.
func within(p plan.Place, name string, r *record, in table.Input) bool {
	if name == "" || in.From == nil && in.To == nil {
		return true
	}
	v := r.values[name]
	if v == nil {
		return false
	}
	for _, bound := range []struct {
		at   types.AttributeValue
		sign int
	}{{in.From, 1}, {in.To, -1}} {
		if bound.at == nil {
			continue
		}
		if order, ok := ordered(p, name, v, bound.at); !ok || order*bound.sign < 0 {
			return false
		}
	}
	return true
}

// ordered compares two values of a field in the intended order of the place: by value, with texts compared without what lower,
// fold and slug remove.
func ordered(p plan.Place, field string, a, b types.AttributeValue) (int, bool) {
	part := occurrences(p, field)[0]
	funcs := meaning(part)
	if f := p.Entity.Field(field); f != nil && (f.Type.Kind == design.KindTime || f.Type.Kind == design.KindDate) {
		funcs = nil // a bucket of times does not order them
	}
	if len(funcs) == 0 || a == nil || b == nil {
		return compare(a, b)
	}
	return strings.Compare(through(funcs, scalarText(a)), through(funcs, scalarText(b))), true
}

// enters reports whether an item must be found at the read's place. A sparse index that the read names is meant to contain
// only some items; if the planner chose the index, the read wants all.
func (t truth) enters(r *record) bool {
	place := t.read.Plan.Place
	if place.Index == nil || t.read.Design.Via != place.Name {
		return true
	}
	for _, template := range slices.Concat(place.PK, place.SK) {
		for _, name := range template.Fields() {
			if r.values[name] == nil {
				return false
			}
		}
	}
	if t.read.Design.Filter != nil && slices.ContainsFunc(t.read.Design.Filter.Fields(), func(name string) bool {
		return slices.Contains(place.Where.Fields(), name)
	}) {
		return true // the read's own filter covers the index's condition
	}
	in, err := holds(t.design, r.entity, place.Where, r.values, nil)
	return in && err == nil
}

// wants reports whether an item is in the result.
func (t truth) expects(r *record, in table.Input) (bool, error) {
	if !t.reaches(r, in) {
		return false, nil
	}
	read := t.read.Design
	for _, name := range t.read.Plan.FilterBy {
		if !equal(r.values[name], in.Values[name]) {
			return false, nil
		}
	}
	if read.Owner != "" && !equal(r.values[read.Owner], in.Values[read.Owner]) {
		return false, nil
	}
	return holds(t.design, r.entity, read.Filter, r.values, withNow(in.Values, t.read.Run.Filter, t.now))
}

// expected returns the items of the correct result, unordered.
func (t truth) expected(records []*record, in table.Input) ([]*record, error) {
	var out []*record
	for _, r := range records {
		wanted, err := t.expects(r, in)
		if err != nil {
			return nil, err
		}
		if wanted {
			out = append(out, r)
		}
	}
	return out, nil
}

// before orders two items as the read requires: negative if a comes first, 0 if the order does not matter.
func (t truth) before(a, b table.Values) int {
	for _, o := range t.read.Design.Order {
		order, ok := ordered(t.read.Plan.Place, o.Field, a[o.Field], b[o.Field])
		if o.Desc {
			order = -order
		}
		if !ok || order != 0 {
			return order
		}
	}
	return 0
}

// fields are the names of the result's fields: those that the read declares, or all that its place has.
func (t truth) fields() []string {
	var out []string
	for _, f := range t.read.Fields {
		out = append(out, f.Name)
	}
	return out
}

// tallies are the correct values of all counters, by the identity of the item that has each: the number of counted items that
// refer to it, or their sum. They are made from every item at once, because there can be as many counters as counted items.
func tallies(d *design.Design, records []*record) map[*design.Counter]map[uint64]decimal.Decimal {
	out := map[*design.Counter]map[uint64]decimal.Decimal{}
	for _, holder := range d.Entities {
		for _, c := range holder.Counters {
			out[c] = map[uint64]decimal.Decimal{}
			for _, r := range records {
				if r.entity.Name != c.Of {
					continue
				}
				id := holderOf(holder, r, c)
				if sum, err := out[c][id].Add(tally(d, holder, r, c)); err == nil {
					out[c][id] = sum
				}
			}
		}
	}
	return out
}

// tally is the amount that an item adds to a counter of a holder.
func tally(d *design.Design, holder *design.Entity, r *record, c *design.Counter) decimal.Decimal {
	var zero decimal.Decimal
	if !refers(holder, r, c) {
		return zero
	}
	if in, err := holds(d, r.entity, c.Where, r.values, nil); err != nil || !in {
		return zero
	}
	if c.Sum == "" {
		return decimal.FromInt(1)
	}
	n, err := decimal.Parse(scalarText(r.values[c.Sum]))
	if err != nil {
		return zero // an absent field adds nothing
	}
	return n
}

// countedBy reports whether an item is counted by another: its fields make the other's key.
func countedBy(holder, r *record, c *design.Counter) bool {
	return holder.identity() == holderOf(holder.entity, r, c)
}

// refers reports whether an item has all fields that refer to the item with the counter: an optional reference may be absent.
func refers(holder *design.Entity, r *record, c *design.Counter) bool {
	return !slices.ContainsFunc(design.Owner(r.entity, holder, c.By), func(j design.Join) bool { return r.values[j.A] == nil })
}

// holderOf is the identity of the item whose counter counts another.
func holderOf(holder *design.Entity, r *record, c *design.Counter) uint64 {
	values := table.Values{}
	for _, j := range design.Owner(r.entity, holder, c.By) {
		values[j.B] = r.values[j.A]
	}
	return tokenOf(holder, "key", holder.Key, values)
}
