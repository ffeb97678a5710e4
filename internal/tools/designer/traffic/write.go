package traffic

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// written is an item that a write touches.
type written struct {
	keyed

	place    string
	action   design.Action
	required bool
	// fields are the attributes of the entity's fields, changed those of them that an update may change; nil for any.
	fields, changed map[string]bool
	constants       map[string]design.Constant // by attribute
}

func (m *Matcher) write(w *design.Write) {
	items := m.items(w)
	m.add(w.Name, func(r *request) int {
		if len(r.writes) == 0 || w.Batch != (r.operation == "BatchWriteItem") {
			return 0
		}
		return main + fitAll(items, r.writes)
	})
	m.add(w.Name, func(r *request) int { // a write may have to read what it changes
		for _, a := range r.keys {
			if !slices.ContainsFunc(items, func(i written) bool { return i.holds(a.table, a.key) }) {
				return 0
			}
		}
		return min(beside, len(r.keys))
	})
}

// items returns the items that a write touches.
func (m *Matcher) items(w *design.Write) []written {
	var out []written
	for _, i := range plan.ForWrite(m.design, w).Items {
		out = append(out, m.written(i))
	}
	return out
}

func (m *Matcher) written(i plan.ItemWrite) written {
	e := i.Place.Entity
	out := written{
		keyed: m.keyedAt(i.Place), place: i.Place.String(), action: i.Action, required: i.Place.Kind == plan.KeyPlace && !i.Counter(),
		fields: map[string]bool{}, constants: map[string]design.Constant{},
	}
	for _, f := range e.Fields {
		out.fields[f.Attribute()] = true
	}
	if i.Changed != nil {
		out.changed = map[string]bool{}
		for _, name := range slices.Concat(i.Changed, plan.KeyFields(e)) {
			if f := e.Field(name); f != nil {
				out.changed[f.Attribute()] = true
			}
		}
		for _, c := range e.Counters {
			if i.Action == design.Upsert && e.Field(c.Field) != nil { // a new item starts with it
				out.changed[e.Field(c.Field).Attribute()] = true
			}
		}
		if e.TTL != nil && e.Field(e.TTL.Field) != nil {
			out.changed[e.Field(e.TTL.Field).Attribute()] = true
		}
	}
	if i.Step == nil || !out.required {
		return out
	}
	for _, a := range i.Step.Set {
		f := e.Field(a.Field)
		if terms := a.Value.Terms; f != nil && !f.Nested() && len(terms) == 1 && terms[0].Kind == design.ConstantTerm && !terms[0].Negative {
			out.constants[f.Attribute()] = terms[0].Constant
		}
	}
	return out
}

// fitAll returns how closely writes fit: each must be one of the items, and all required items must be among them. Otherwise
// the result is so negative that no pattern fits.
func fitAll(items []written, writes []touch) int {
	const not = -main
	used := map[string]bool{} // by place: a write can touch one item there, and others for each line
	closeness := 0
	for i := range writes {
		best, at := 0, -1
		for n := range items {
			if fit := items[n].fit(&writes[i]); fit > best {
				best, at = fit, n
			}
		}
		if at < 0 {
			return not
		}
		used[items[at].place] = true
		closeness += best
	}
	for _, i := range items {
		if i.required && !used[i.place] {
			return not
		}
	}
	return closeness
}

// fit returns how closely a write fits the item, 0 if it does not.
func (w *written) fit(t *touch) int {
	if !w.does(t.action) || !w.holds(t.table, t.item) {
		return 0
	}
	closeness := 1
	if t.action == update && w.changed != nil {
		for _, name := range t.changed {
			if w.fields[name] && !w.changed[name] {
				return 0
			}
		}
		closeness += closer(w.changesAll(t.changed))
	}
	for name, constant := range w.constants {
		v, there := t.assigns(name)
		switch {
		case !there && t.action == put, there && !same(constant, v):
			return 0
		case there:
			closeness++
		}
	}
	return closeness
}

// changesAll reports whether an update changes all fields that it may change, but for those of the key.
func (w *written) changesAll(changed []string) bool {
	for name := range w.changed {
		if !slices.Contains(changed, name) {
			return false
		}
	}
	return true
}

// does reports whether an action in a request is possible for the item. In a transaction, a check takes the place of a change that
// is known to fail, or that leaves the item as it is.
func (w *written) does(a action) bool {
	switch w.action {
	case design.Create, design.Put:
		return a == put || a == check
	case design.Delete:
		return a == remove || a == check
	case design.Check:
		return a == check
	default: // Update, Upsert; one that has read the whole item may replace it
		return a == update || a == put || a == check
	}
}

// assigns returns the value that a write gives an attribute.
func (t *touch) assigns(name string) (attr.Value, bool) {
	if t.action == put {
		return t.item.Get(name)
	}
	v, there := t.set[name]
	return v, there
}

func same(c design.Constant, v attr.Value) bool {
	if v.Kind() == attr.KindBool {
		return c.Kind == design.BoolConstant && (c.Text == "true") == v.Bool()
	}
	return c.Text == v.Text()
}
