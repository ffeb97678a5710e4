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

// meaning are the functions of a part that say which values are meant to be one: what differs only in what they take
// away is the same. The other functions, and all behind them, are about keys: values stay different whatever those make
// of them.
func meaning(p design.Part) []design.Func {
	for i, f := range p.Funcs {
		switch f.Name {
		case "lower", "fold", "slug", "date":
		default:
			return p.Funcs[:i]
		}
	}
	return p.Funcs
}

// meant is the text by which a part's value is told from others.
func meant(p design.Part, v types.AttributeValue) string {
	return through(meaning(p), scalarText(v))
}

func through(funcs []design.Func, text string) string {
	for _, f := range funcs {
		applied, err := keytext.Apply(f.Name, f.Arg, text)
		if err != nil {
			return text // the value has no key; what cannot be stored is not asked for
		}
		text = applied
	}
	return text
}

// occurrences are the parts of a place's key in which a field stands; the field as it is where it stands in none.
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

// same reports whether two values of a field are meant to be one, at a place.
func same(p plan.Place, field string, a, b types.AttributeValue) bool {
	if a == nil || b == nil {
		return false
	}
	if equal(a, b) {
		return true
	}
	return !slices.ContainsFunc(occurrences(p, field), func(part design.Part) bool { return meant(part, a) != meant(part, b) })
}

// truth is what a read of the design must answer: the items that it asks for, found by looking at each.
type truth struct {
	design *design.Design
	read   *lower.Read
	now    time.Time
	known  map[*record]string // projections
}

func newTruth(d *design.Design, r *lower.Read, now time.Time) truth {
	return truth{d, r, now, map[*record]string{}}
}

// reaches reports whether an item is among those that a request of the read must look at: what is known of its key is so.
// What only a filter or the owner keeps away is looked at, too.
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

// bounded are the bounds of a walk that may be asked without: none before its floor, and none is now.
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

// sameBucket reports whether two times are in one period of the place's partition key.
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

// bucketOf are the functions of a part that make a period or a band of a value.
func bucketOf(p design.Part) []design.Func {
	for i, f := range p.Funcs {
		if f.Name == "date" || f.Name == "band" {
			return p.Funcs[:i+1]
		}
	}
	return nil
}

// begins reports whether a field's value has the beginning that is given.
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
			funcs = funcs[:i] // of a time the beginning is given as it is
		}
		if !strings.HasPrefix(through(funcs, scalarText(r.values[name])), through(funcs, scalarText(in.Values[name]))) {
			return false
		}
	}
	return true
}

// within reports whether a field's value is in the bounds, by value. Of a text that a place knows without its case or marks,
// the bounds are without them, too.
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

// ordered compares two values of a field as the place is meant to order them: by value, texts without what lower, fold and
// slug take away.
func ordered(p plan.Place, field string, a, b types.AttributeValue) (int, bool) {
	part := occurrences(p, field)[0]
	funcs := meaning(part)
	if f := p.Entity.Field(field); f != nil && (f.Type.Kind == design.KindTime || f.Type.Kind == design.KindDate) {
		funcs = nil // a bucket of time is no order of times
	}
	if len(funcs) == 0 || a == nil || b == nil {
		return compare(a, b)
	}
	return strings.Compare(through(funcs, scalarText(a)), through(funcs, scalarText(b))), true
}

// enters reports whether an item has to be found at the read's place. A sparse index that the read names holds on purpose only
// the items that it holds; of one that the planner chose, all are wanted.
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
		return true // the read says itself what it wants of what the index is about
	}
	in, err := holds(t.design, r.entity, place.Where, r.values, nil)
	return in && err == nil
}

// wants reports whether an item is in the answer.
func (t truth) wants(r *record, in table.Input) (bool, error) {
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

// answer are the items that a read must answer, in no order.
func (t truth) answer(records []*record, in table.Input) ([]*record, error) {
	var out []*record
	for _, r := range records {
		wanted, err := t.wants(r, in)
		if err != nil {
			return nil, err
		}
		if wanted {
			out = append(out, r)
		}
	}
	return out, nil
}

// before orders two items as the read wants them: negative where a comes first, 0 where either may.
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

// fields are the names of what an answer has: what the read says that it returns, or all that its place has.
func (t truth) fields() []string {
	var out []string
	for _, f := range t.read.Fields {
		out = append(out, f.Name)
	}
	return out
}

// counted is what a counter of an item must be: how many items of the other entity make its key, or their sum.
func counted(p *lower.Program, r *record, c *design.Counter, records []*record) types.AttributeValue {
	var sum decimal.Decimal
	for _, other := range records {
		if other.entity.Name != c.Of || !countedBy(r, other, c) {
			continue
		}
		if in, err := holds(p.Design, other.entity, c.Where, other.values, nil); err != nil || !in {
			continue
		}
		add := decimal.FromInt(1)
		if c.Sum != "" {
			parsed, err := decimal.Parse(scalarText(other.values[c.Sum]))
			if err != nil {
				continue // an absent field adds nothing
			}
			add = parsed
		}
		if next, err := sum.Add(add); err == nil {
			sum = next
		}
	}
	return numberValue(sum.String())
}

// countedBy reports whether an item is one that another counts: its fields make the other's key.
func countedBy(holder, r *record, c *design.Counter) bool {
	return holder.identity() == holderOf(holder.entity, r, c)
}

// holderOf is the identity of the item by which another is counted.
func holderOf(holder *design.Entity, r *record, c *design.Counter) uint64 {
	values := table.Values{}
	for _, j := range design.Owner(r.entity, holder, c.By) {
		values[j.B] = r.values[j.A]
	}
	return tokenOf(holder, "key", holder.Key, values)
}
