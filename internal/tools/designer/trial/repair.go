package trial

import (
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// repairs is the number of changes to the items before giving up on a write.
const repairs = 6

// repaired changes the items so that a write with an input succeeds: strict conditions rarely hold by chance. It returns nil
// if that does not succeed.
func (g *writing) repaired(run *lower.Write, in table.Input) []*record {
	own := *g.world // a copy with other records
	own.records = slices.Clone(g.world.records)
	for i, r := range own.records {
		if len(r.entity.Counters) > 0 { // they are counted again
			own.records[i] = cloned(r)
		}
	}
	for range repairs {
		v, err := own.judgeWrite(run, in, nil)
		if err != nil || v.replayed || g.withGhosts(v) {
			return nil
		}
		if v.ok() {
			return own.records
		}
		for _, e := range v.effects {
			g.fix(&own, e)
		}
		kept, collided := g.trial.storable(own.records)
		if len(collided) > 0 || len(kept) < len(own.records) {
			return nil
		}
		if slices.ContainsFunc(kept, func(r *record) bool {
			was := slices.Contains(g.world.records, r) && len(own.uncounted(nil, r, g.world.records)) > 0
			return !was && len(own.uncounted(nil, r, kept)) > 0
		}) {
			return nil // the item that counts it has been removed, or never existed
		}
	}
	return nil
}

// cloned is a copy of a record whose values can be changed.
func cloned(r *record) *record {
	return &record{entity: r.entity, home: r.home, run: r.run, values: maps.Clone(r.values)}
}

// fix changes the item of an effect, or creates it, or removes the one in its place.
func (g *writing) fix(w *world, e *effect) {
	if e.step == nil {
		return
	}
	switch e.step.Action {
	case design.Create, design.Put:
		w.records = slices.DeleteFunc(w.records, func(r *record) bool {
			clash, _ := e.clashes(r)
			return clash
		})
		return
	case design.Upsert:
		if e.old == nil {
			return
		}
	default:
	}
	if e.step.When == nil && e.old != nil || len(e.refusals) == 0 && e.old != nil {
		return
	}
	var next *record
	if e.old != nil {
		next = cloned(e.old)
	} else {
		key, err := e.key()
		if err != nil {
			return
		}
		next = g.data.record(e.entity(), g.rng.IntN(manyValues))
		maps.Copy(next.values, key)
	}
	if e.step.When != nil {
		if tree, err := expr.Parse(expr.Condition, e.step.When.Expression); err == nil {
			m := fixing{e, next.values, g.data}
			m.fulfil(tree.Root)
		}
	}
	if _, err := next.items(); err != nil {
		return
	}
	w.records = append(slices.DeleteFunc(w.records, func(r *record) bool { return r == e.old }), next)
}

// fixing sets the values of an item that a condition requires.
type fixing struct {
	*effect

	values table.Values
	data   *generator
}

func (m *fixing) fulfil(n expr.Node) {
	switch n := n.(type) {
	case *expr.And:
		for _, term := range n.Terms {
			m.fulfil(term)
		}
	case *expr.Or:
		m.fulfil(n.Terms[len(n.Terms)-1])
	case *expr.Comparison:
		m.compare(n)
	case *expr.In:
		if path, is := m.path(n.Operand); is {
			m.set(path, m.operand(n.List[0]))
		}
	case *expr.Between:
		if path, is := m.path(n.Operand); is {
			m.set(path, m.operand(n.Low))
		}
	case *expr.Call:
		path, is := m.path(n.Args[0])
		t, _ := typeAt(m.program.Design, m.entity(), path)
		switch {
		case !is:
		case n.Function == expr.AttributeExists && valueAt(m.program.Design, m.entity(), m.values, path) == nil:
			m.set(path, m.data.value(path, t, 0))
		case n.Function == expr.AttributeNotExists:
			m.set(path, nil)
		}
	default: // other requirements are left to chance
	}
}

// compare makes a comparison true by changing its left side, or the right side if that is the field.
func (m *fixing) compare(n *expr.Comparison) {
	flipped := map[expr.Comparator]expr.Comparator{
		expr.Less: expr.Greater, expr.LessOrEqual: expr.GreaterOrEqual, expr.Greater: expr.Less, expr.GreaterOrEqual: expr.LessOrEqual,
		expr.Equal: expr.Equal, expr.NotEqual: expr.NotEqual,
	}
	left, right, op := n.Left, n.Right, n.Op
	path, is := m.path(left)
	if !is {
		left, right, op = right, left, flipped[op]
		if path, is = m.path(left); !is {
			return
		}
	}
	v := m.operand(right)
	if v == nil {
		return
	}
	t, _ := typeAt(m.program.Design, m.entity(), path)
	below, above := neighbours(&design.Field{Type: t}, v)
	switch {
	case op == expr.Less && below != nil:
		v = below
	case op == expr.Greater && above != nil:
		v = above
	case op == expr.NotEqual:
		if now := valueAt(m.program.Design, m.entity(), m.values, path); now != nil && !equal(now, v) {
			return
		}
		for range attempts {
			if other := m.data.value(path, t, 0); !equal(other, v) {
				v = other
				break
			}
		}
	}
	m.set(path, v)
}

// path is the field, or path into it, that a node refers to.
func (m *fixing) path(n expr.Node) (string, bool) {
	p, is := n.(*expr.Path)
	if !is {
		return "", false
	}
	last := p.Steps[len(p.Steps)-1]
	i := slices.IndexFunc(m.step.When.Names, func(ref design.NameRef) bool { return ref.Alias == last.Name })
	if i < 0 {
		return "", false
	}
	return m.step.When.Names[i].Field, true
}

// operand is the value of a node; nil if there is none.
func (m *fixing) operand(n expr.Node) types.AttributeValue {
	if path, is := m.path(n); is {
		return valueAt(m.program.Design, m.entity(), m.values, path)
	}
	p, is := n.(*expr.Placeholder)
	if !is {
		return nil
	}
	for _, ref := range m.step.When.Values {
		switch {
		case ref.Placeholder != p.Name:
		case ref.Param != "":
			return m.parameters(m.run.When)[ref.Param]
		case ref.Literal.Kind == design.NumberConstant:
			return numberValue(ref.Literal.Text)
		case ref.Literal.Kind == design.BoolConstant:
			return boolValue(ref.Literal.Text == "true")
		case ref.Literal.Kind == design.StringConstant:
			return textValue(ref.Literal.Text)
		}
	}
	return nil
}

// set sets the value at a path, creating the structure that contains it if needed.
func (m *fixing) set(path string, v types.AttributeValue) {
	root, _, within := strings.Cut(path, ".")
	f := m.entity().Field(root)
	if f == nil || slices.Contains(plan.KeyFields(m.entity()), root) || v == nil && !f.Optional && !within {
		return
	}
	if within && m.values[root] == nil {
		m.values[root] = m.data.value(root, f.Type, 0)
	}
	_ = m.put(m.values, path, v) // an impossible path leaves the item unchanged
}
