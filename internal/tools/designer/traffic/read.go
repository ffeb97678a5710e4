package traffic

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/dynamo/eval"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

func (m *Matcher) add(pattern string, fit func(*request) int) {
	m.shapes = append(m.shapes, shape{pattern, fit})
}

func (m *Matcher) read(r *design.Read) {
	p := plan.ForRead(m.design, r).Plan
	if p.Unserved() {
		return
	}
	at := m.keyedAt(p.Place)
	switch p.Operation {
	case plan.GetItem, plan.BatchGetItem:
		m.add(r.Name, at.gets(main))
	case plan.Scan:
		filtered := p.Filter != nil || len(p.FilterBy) > 0
		m.add(r.Name, func(q *request) int {
			if q.operation != "Scan" && q.operation != "Query" || q.query == nil || !q.query.isAt(at) || len(q.query.conditions) > 0 || q.query.filtered && !filtered {
				return 0
			}
			return main + closer(q.query.filtered == filtered) + closer(q.query.count == p.Select)
		})
	case plan.Query:
		m.add(r.Name, m.queries(p, len(r.Order) > 0))
	}
	if p.Place.Kind == plan.MarkerPlace || len(p.Hydrate) > 0 {
		m.add(r.Name, m.keyedAt(plan.Places(m.design, p.Place.Entity)[0]).gets(beside))
	}
}

func (m *Matcher) collection(c *design.Collection) {
	p := plan.ForCollection(m.design, c)
	if len(p.Members) == 0 {
		return
	}
	first := p.Members[0]
	if p.RootApart {
		m.add(c.Name, m.queries(&plan.Plan{Place: first, SK: p.RootSK()}, false))
	}
	at := m.keyedAt(first)
	var from, to sortBound
	if p.SK != nil {
		from = sortBound{keyAttribute: keyAttribute{at.sk[0].name, at.sk[0].kind, m.language(first.Entity, p.SK.From, at.sk[0].kind)}}
		to = sortBound{keyAttribute: keyAttribute{at.sk[0].name, at.sk[0].kind, m.language(first.Entity, p.SK.To, at.sk[0].kind)}}
	}
	m.add(c.Name, func(r *request) int {
		q := r.query
		if r.operation != "Query" || q == nil || !q.isAt(at) || !q.inPartition(at) || q.filtered || c.Order != "" && q.backward != p.Reverse {
			return 0
		}
		rest := q.conditions[len(at.pk):]
		switch {
		case p.SK == nil && len(rest) > 0, p.SK != nil && len(rest) != 1:
			return 0
		case p.SK != nil && !between(from, to, rest[0]):
			return 0
		}
		return main + closer(q.backward == p.Reverse)
	})
}

// between reports whether a condition bounds a collection: its values begin as the bounds do.
func between(from, to sortBound, c eval.KeyPredicate) bool {
	switch c.Op {
	case eval.Between:
		return from.begins(c.Values[0]) && to.begins(c.Values[1])
	case eval.Less, eval.LessOrEqual:
		return to.begins(c.Values[0])
	default:
		return from.begins(c.Values[0])
	}
}

// gets fits requests that read items by keys of the place.
func (k keyed) gets(closeness int) func(*request) int {
	return func(r *request) int {
		for _, a := range r.keys {
			if !k.holds(a.table, a.key) {
				return 0
			}
		}
		if len(r.keys) == 0 {
			return 0
		}
		return closeness
	}
}

// queries fits the Query of a plan. ordered means that the pattern declares an order.
func (m *Matcher) queries(p *plan.Plan, ordered bool) func(*request) int {
	at := m.keyedAt(p.Place)
	var bounds []sortBound
	for i, c := range p.SK {
		parts := c.Template.Parts[:c.Parts]
		bounds = append(bounds, sortBound{
			keyAttribute: keyAttribute{at.sk[i].name, at.sk[i].kind, m.language(p.Place.Entity, parts, at.sk[i].kind)},
			equal:        c.Comparison == plan.SortEqual, open: c.Prefix != "" || c.Range != "" || c.Comparison == plan.SortBetween,
		})
	}
	filtered := p.Filter != nil || len(p.FilterBy) > 0 || p.FilterRange != "" || p.FilterPrefix != ""
	return func(r *request) int {
		q := r.query
		if r.operation != "Query" || q == nil || !q.isAt(at) || !q.inPartition(at) || q.filtered && !filtered || ordered && q.backward != p.Reverse {
			return 0
		}
		rest := q.conditions[len(at.pk):]
		for _, b := range bounds {
			mine := slices.DeleteFunc(slices.Clone(rest), func(k eval.KeyPredicate) bool { return k.Name != b.name })
			if !b.fits(mine) {
				return 0
			}
			rest = slices.DeleteFunc(slices.Clone(rest), func(k eval.KeyPredicate) bool { return k.Name == b.name })
		}
		if len(rest) > 0 {
			return 0
		}
		return main + closer(q.backward == p.Reverse) + closer(q.filtered == filtered) + closer(q.count == p.Select)
	}
}

func closer(is bool) int {
	if is {
		return 1
	}
	return 0
}

func (q *query) isAt(at keyed) bool { return q.table == at.table && q.index == at.index }

// inPartition reports whether the conditions begin with a partition key of the place, after they have been put into that order.
func (q *query) inPartition(at keyed) bool {
	order := func(k eval.KeyPredicate) int {
		for i, a := range slices.Concat(at.pk, at.sk) {
			if a.name == k.Name {
				return i
			}
		}
		return len(at.pk) + len(at.sk)
	}
	q.conditions = slices.SortedStableFunc(slices.Values(q.conditions), func(a, b eval.KeyPredicate) int { return order(a) - order(b) })
	if len(q.conditions) < len(at.pk) {
		return false
	}
	for i, a := range at.pk {
		if k := q.conditions[i]; k.Name != a.name || k.Op != eval.Equal || !a.has(k.Values[0]) {
			return false
		}
	}
	return true
}

// sortBound is the condition of a pattern's Query on a sort key attribute: the languages of the known prefix.
type sortBound struct {
	keyAttribute

	equal bool // the beginning is the whole value
	open  bool // the caller may give more of it
}

// fits reports whether the conditions on the attribute, one or none, are those of the bound.
func (b sortBound) fits(conditions []eval.KeyPredicate) bool {
	if len(conditions) == 0 {
		return b.texts == nil && !b.equal
	}
	c := conditions[0]
	switch {
	case b.equal:
		return c.Op == eval.Equal && b.has(c.Values[0])
	case c.Op == eval.BeginsWith && !b.open:
		return b.has(c.Values[0])
	case c.Op == eval.Equal:
		return b.open && b.begins(c.Values[0])
	default:
		return !slices.ContainsFunc(c.Values, func(v attr.Value) bool { return !b.begins(v) })
	}
}

// begins reports whether a value begins with the known beginning.
func (b sortBound) begins(v attr.Value) bool {
	if v.Kind().String() != string(b.kind) {
		return false
	}
	if b.texts == nil {
		return true
	}
	text := v.Text()
	for n := len(text); n >= 0; n-- {
		if b.texts.Contains(text[:n]) {
			return true
		}
	}
	return false
}
