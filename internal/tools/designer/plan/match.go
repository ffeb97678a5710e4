package plan

import (
	"cmp"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
)

// match tries a place for a read.
func match(d *design.Design, p Place, r *design.Read) Miss {
	m := matcher{design: d, place: p, read: r, plan: &Plan{
		Operation: Query, Place: p, Fanout: 1, Consistent: r.Consistent, Filter: r.Filter, OwnerField: r.Owner,
		Limit: cmp.Or(r.Limit, r.Page),
	}}
	m.plan.Count = r.Count
	m.partition()
	m.sort()
	m.exact()
	m.order()
	m.rest()
	if r.Each && !m.useless {
		m.keyed()
	}
	out := Miss{Place: p, Lacks: m.lacks}
	if !m.useless {
		out.Plan = m.plan
	}
	return out
}

// matcher tries one place for one read.
type matcher struct {
	design *design.Design
	place  Place
	read   *design.Read
	plan   *Plan
	lacks  []Shortfall
	// useless is set by deficiencies that rule the place out at any cost.
	useless bool

	used        []string // known fields that the keys have used
	exactFields []string // those whose exact values the keys contain
	// shared are the known fields of which a key contains only something that other values share: a shard, a prefix, a
	// hash.
	shared []string
	// banded are the fields of which a key contains only a band, and bounds of the band; cut those of which it contains
	// another part that many values share.
	banded, cut []string
	parts       []design.Part // of the keys, whose fields are known
	// whole says whether the sort key is known to its end; open are the fields of the rest.
	whole bool
	open  []design.Part
}

func (m *matcher) addShortfall(r Reason, fields ...string) {
	m.lacks = append(m.lacks, Shortfall{r, fields})
	switch r {
	case PartitionKeyUnknown, PrefixInPartitionKey, RangeInPartitionKey, NotEveryItem, NoSortPosition, NoBucket:
		m.useless = true
	default:
	}
}

func (m *matcher) known(field string) bool { return slices.Contains(m.read.By, field) }

// buckets reports whether a part is the bucket of the read.
func (m *matcher) buckets(part design.Part) bool {
	return part.Field == m.read.Bucket && has(part, "date", "band")
}

// walks reports whether a part makes the periods that the read's range covers.
func (m *matcher) walks(part design.Part) bool {
	return m.read.Over != "" && part.Field == m.read.Range && len(part.Funcs) == 1 && part.Funcs[0].Name == "date" &&
		part.Funcs[0].Arg == design.OverLayout(m.read.Over)
}

// use marks the known field of a part of a key as used.
func (m *matcher) use(part design.Part) {
	m.used = append(m.used, part.Field)
	m.parts = append(m.parts, part)
	if part.Field == m.read.Bucket || !has(part, "band", "mod", "shard", "first", "hash") && !inSeconds(part) {
		return
	}
	m.shared = append(m.shared, part.Field)
	if has(part, "band", "mod") {
		m.banded = append(m.banded, part.Field)
	} else if !distinguishes(part) {
		m.cut = append(m.cut, part.Field)
	}
}

// rareHash is the number of hexadecimal digits from which a hash in a key hardly makes a read examine items with other values.
const rareHash = 8

// distinguishes reports whether a part ends with such a hash of the whole value.
func distinguishes(part design.Part) bool {
	return !has(part, "shard", "first") && slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name == "hash" && f.Int() >= rareHash })
}

// inSeconds reports whether a part contains only the second of a time.
func inSeconds(part design.Part) bool {
	return slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name == "ts" && f.Arg == "s" })
}

// has reports whether a part applies one of some functions.
func has(part design.Part, names ...string) bool {
	return slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return slices.Contains(names, f.Name) })
}

// exact adds the fields whose exact values the keys contain.
func (m *matcher) exact() {
	for _, name := range m.used {
		if exactly(m.parts, name) {
			m.exactFields = append(m.exactFields, name)
		}
	}
}

// inexact lists each of the fields once, except those whose exact values the keys contain.
func (m *matcher) inexact(fields []string) []string {
	var out []string
	for _, f := range fields {
		if !slices.Contains(m.exactFields, f) && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// partition requires that every field of the partition key is known.
func (m *matcher) partition() {
	for _, t := range m.place.PK {
		for _, part := range t.Parts {
			switch {
			case part.Field == "":
			case m.known(part.Field), m.buckets(part):
				m.use(part)
			case shards(part) > 0:
				m.plan.Fanout *= shards(part)
			case part.Field == m.read.Prefix:
				m.addShortfall(PrefixInPartitionKey, part.Field)
			case m.walks(part):
				m.plan.Over = design.OverLayout(m.read.Over)
				m.plan.floor(m.read)
			case part.Field == m.read.Range:
				m.addShortfall(RangeInPartitionKey, part.Field)
			default:
				m.addShortfall(PartitionKeyUnknown, part.Field)
			}
		}
	}
	if m.plan.Fanout > 1 {
		m.addShortfall(FansOut)
	}
}

// keyed requires that a whole primary key determines each item, because BatchGetItem accepts nothing else.
func (m *matcher) keyed() {
	if m.plan.Operation != GetItem || m.place.Kind != KeyPlace && m.place.Kind != CopyPlace {
		m.addShortfall(NoWholeKey)
		m.useless = true
		return
	}
	m.plan.Operation, m.plan.Limit = BatchGetItem, 0
}

// floor sets where a walk without bounds ends.
func (p *Plan) floor(r *design.Read) {
	if r.Since == "" {
		return
	}
	p.Since, p.MostPeriods = r.Since, r.MostBuckets()
	if _, back, err := r.Floor(); err == nil && back > 0 {
		p.Since = "-" + r.Since
	}
}

// shards is the number of partitions over which a part spreads a key; 0 if it does not.
func shards(part design.Part) int {
	for _, f := range part.Funcs {
		if f.Name == "shard" || f.Name == "mod" {
			return max(f.Int(), 1) // auto is one until the checker proposes a number
		}
	}
	return 0
}

// sort walks the sort key as far as it is known.
func (m *matcher) sort() {
	m.whole = true
	ranged := false
	for _, t := range m.place.SK {
		if !m.whole {
			m.open = append(m.open, fieldParts(t.Parts)...)
			continue
		}
		n := 0
		for n < len(t.Parts) && (t.Parts[n].Field == "" || m.known(t.Parts[n].Field)) {
			if t.Parts[n].Field != "" {
				m.use(t.Parts[n])
			}
			n++
		}
		if n == len(t.Parts) {
			m.plan.SK = append(m.plan.SK, SortCondition{Comparison: SortEqual, Template: t, Parts: n})
			continue
		}
		m.whole = false
		c := SortCondition{Comparison: SortBeginsWith, Template: t, Parts: n}
		switch next := t.Parts[n]; {
		case next.Field == "" || has(next, "mod", "shard", "hash"): // texts whose order is not that of the values
		case next.Field == m.read.Prefix && !has(next, "band"):
			c.Prefix, ranged = next.Field, true
		case next.Field == m.read.Range:
			c.Comparison, c.Range, ranged = SortBetween, next.Field, true
			if has(next, "band") {
				m.banded = append(m.banded, next.Field)
			}
		}
		if n > 0 || ranged {
			m.plan.SK = append(m.plan.SK, c)
		}
		m.open = append(m.open, fieldParts(t.Parts[n:])...)
	}
	for _, f := range []string{m.read.Prefix, m.read.Range} {
		if f != "" && !ranged && !slices.Contains(m.missingFields(), f) {
			m.addShortfall(NoSortPosition, f)
		}
	}
	if !m.read.Many && m.whole && m.place.Index == nil {
		m.plan.Operation = GetItem
	}
}

func (m *matcher) missingFields() []string {
	var out []string
	for _, l := range m.lacks {
		out = append(out, l.Fields...)
	}
	return out
}

func fieldParts(parts []design.Part) []design.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p design.Part) bool { return p.Field == "" })
}

// order requires that the rest of the sort key has the wanted order.
func (m *matcher) order() {
	at, direction := 0, 0
	for _, o := range m.read.Order {
		if m.known(o.Field) {
			continue // it is equal in all results
		}
		if at == len(m.open) || m.open[at].Field != o.Field || has(m.open[at], "band", "mod") {
			m.addShortfall(WrongOrder, o.Field)
			return
		}
		wanted := 1
		if o.Desc != descends(m.open[at]) {
			wanted = -1
		}
		if direction != 0 && wanted != direction {
			m.addShortfall(WrongOrder, o.Field)
			return
		}
		direction = wanted
		at++
	}
	m.plan.Reverse = direction < 0
	if first := m.read.Order; m.plan.Over != "" && len(first) > 0 && first[0].Field != m.read.Range {
		m.addShortfall(WrongOrder, first[0].Field) // walking from period to period does not keep it
	}
}

// descends reports whether a greater value of the field sorts first.
func descends(part design.Part) bool {
	return slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name == "desc" })
}

// rest checks everything except the keys.
func (m *matcher) rest() {
	p, r := m.place, m.read
	if r.Bucket != "" && !slices.Contains(m.used, r.Bucket) {
		m.addShortfall(NoBucket, r.Bucket)
	}
	for _, f := range r.By {
		if !slices.Contains(m.used, f) {
			m.plan.FilterBy = append(m.plan.FilterBy, f)
		}
	}
	if p.Where != nil {
		switch {
		case r.Filter != nil && r.Filter.Text == p.Where.Text:
			m.plan.Filter = nil // the index contains exactly those items
		case r.Via != p.Name && !expression.Implies(m.design, p.Entity, r.Filter, p.Where):
			m.addShortfall(NotEveryItem, p.Where.Fields()...)
		}
	}
	if p.Undeclared && len(p.Optional) > 0 && r.Via != p.Name {
		m.addShortfall(NotEveryItem, p.Optional...)
	}
	if !m.useless && m.plan.Operation == Query { // a GetItem reads one item, whatever its key has
		if banded := m.inexact(m.banded); len(banded) > 0 {
			m.addShortfall(BandRead, banded...)
		}
		if cut := m.inexact(m.cut); len(cut) > 0 {
			m.addShortfall(PartRead, cut...)
		}
	}
	if len(m.plan.FilterBy) > 0 || m.plan.Filter != nil {
		m.addShortfall(FilterNeeded, slices.Concat(m.plan.FilterBy, m.plan.Filter.Fields())...)
	}
	switch {
	case r.Consistent && p.Global():
		m.addShortfall(NotConsistent)
	case late(p.Index, r.FreshMillis):
		m.addShortfall(NotFresh)
	case strict(r.FreshMillis) && !p.Global():
		m.plan.Consistent = true
	}
	m.plan.OwnerInKey = r.Owner != "" && slices.Contains(m.exactFields, r.Owner)
	m.plan.loose = len(m.plan.FilterBy) > 0 || r.Owner != "" && !m.plan.OwnerInKey ||
		len(m.inexact(m.shared)) > 0
	if m.plan.Hydrate = p.Missing(m.needed()); len(m.plan.Hydrate) > 0 {
		m.addShortfall(FieldsMissing, m.plan.Hydrate...)
		if strict(r.FreshMillis) && p.Global() && !late(p.Index, r.FreshMillis) {
			m.addShortfall(NotFresh) // the items behind it are read with eventual consistency, too
		}
	}
}

// strict reports whether an eventually consistent read of a table is never fresh enough; 0 allows any delay.
func strict(millis int) bool { return millis > 0 && millis < design.LagDefault }

// late reports whether a place in an index, nil for the table, can lag more than is allowed; 0 allows any delay.
func late(x *design.Index, millis int) bool {
	return x != nil && !x.Local && millis > 0 && x.Lag() > millis
}

// needed are the fields that are returned, filtered by, or compared with the caller's values; none if the read takes
// whatever the place has.
func (m *matcher) needed() []string {
	fields := slices.Clone(m.read.Returns)
	if m.place.Kind == MarkerPlace && len(fields) == 0 {
		return nil // the item that it leads to
	}
	more := slices.Concat(m.plan.FilterBy, m.plan.Filter.Fields(), m.inexact(m.shared))
	if m.read.Owner != "" && !m.plan.OwnerInKey {
		more = append(more, m.read.Owner)
	}
	for _, f := range more {
		if !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	return fields
}
