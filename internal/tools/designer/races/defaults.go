package races

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/expr"
)

// scenarios are the requested races of a design. A design without races is explored with its writes: each one twice at once
// with equal inputs, and each pair that touches a common entity.
func scenarios(d *design.Design, names []string) ([]scenario, error) {
	var all []scenario
	for _, r := range d.Races {
		all = append(all, scenario{race: r})
	}
	if len(all) == 0 {
		all = defaults(d)
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []scenario
	for _, name := range names {
		i := slices.IndexFunc(all, func(s scenario) bool { return s.race.Name == name })
		if i < 0 {
			known := make([]string, len(all))
			for i, s := range all {
				known[i] = s.race.Name
			}
			return nil, fmt.Errorf("%s has no race %q; it has %s", d.Name, name, cmp.Or(strings.Join(known, ", "), "none"))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func defaults(d *design.Design) []scenario {
	var out []scenario
	add := func(name string, writes ...*design.Write) {
		g := &guess{design: d, chosen: map[string]design.Literal{}}
		r := &design.Race{Name: name, Crash: true, Start: g.start(writes), Pos: writes[0].Pos}
		for _, w := range writes {
			r.Run = append(r.Run, g.call(w))
		}
		out = append(out, scenario{race: r, byDefault: true, optional: true})
	}
	for i, w := range d.Writes {
		add(w.Name+" twice", w, w)
		for _, other := range d.Writes[i+1:] {
			if overlap(w, other) {
				add(w.Name+" with "+other.Name, w, other)
			}
		}
	}
	return out
}

// overlap reports whether two writes touch a common entity, and one of them changes it.
func overlap(a, b *design.Write) bool {
	for _, x := range a.Steps {
		for _, y := range b.Steps {
			if x.Entity == y.Entity && (x.Action != design.Check || y.Action != design.Check) {
				return true
			}
		}
	}
	return false
}

// guess chooses what writes need to have an effect: existing items, and matching inputs.
type guess struct {
	design *design.Design
	// chosen are the values by the names of fields and inputs: equal names get equal values.
	chosen map[string]design.Literal
}

// start are the items that the writes update, delete or check, and those that count these or what the writes change, unless one of
// the writes creates them.
func (g *guess) start(writes []*design.Write) []*design.RaceCall {
	var created, needed []string
	for _, w := range writes {
		for _, s := range w.Steps {
			if s.Action == design.Create {
				created = append(created, s.Entity)
			}
		}
	}
	var out []*design.RaceCall
	need := func(w *design.Write, s *design.Step) {
		// A step that identifies its item by a value with another name is about a different item.
		of := s.Entity + " " + byWords(s)
		if !slices.Contains(created, s.Entity) && !slices.Contains(needed, of) {
			needed = append(needed, of)
			out = append(out, g.item(w, s))
		}
	}
	for _, w := range writes {
		for _, s := range w.Steps {
			if s.Action == design.Update || s.Action == design.Delete || s.Action == design.Check {
				need(w, s)
			}
			for _, holder := range g.holders(s.Entity) {
				need(w, holder)
			}
		}
	}
	for i := 0; i < len(out); i++ { //nolint:intrange // out grows
		for _, holder := range g.holders(out[i].Put) {
			need(writes[0], holder)
		}
	}
	for _, x := range out {
		g.refer(g.design.Entity(x.Put), x.Given)
	}
	return out
}

// holders are steps on the items that count an entity's.
func (g *guess) holders(of string) []*design.Step {
	var out []*design.Step
	for _, e := range g.design.Entities {
		if slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Of == of }) {
			out = append(out, &design.Step{Action: design.Update, Entity: e.Name})
		}
	}
	return out
}

func byWords(s *design.Step) string {
	var out []string
	for _, a := range s.By {
		out = append(out, a.Field+"="+a.Value.Text)
	}
	return strings.Join(out, " ")
}

// item is the item that a step needs: the entity's first sample, if there is one, adjusted to the step's condition.
func (g *guess) item(w *design.Write, s *design.Step) *design.RaceCall {
	e := g.design.Entity(s.Entity)
	given := map[string]design.Literal{}
	for _, sample := range g.design.Samples {
		if sample.Entity == e.Name {
			maps.Copy(given, sample.Values)
			break
		}
	}
	for _, c := range e.Counters { // they count existing items
		delete(given, c.Field)
	}
	key := slices.Concat(e.Key.PK.Fields(), fieldsOf(e.Key.SK))
	for _, name := range key {
		if l, is := g.chosen[name]; is {
			given[name] = l
		}
	}
	for _, a := range s.By {
		if t := a.Value.Terms; len(t) == 1 && t[0].Kind == design.ParamTerm && !e.Field(a.Field).Type.Numeric() {
			given[a.Field] = design.Literal{Text: strings.TrimPrefix(t[0].Name, "line.")}
		}
	}
	asked, params := equalities(s.When)
	for name, c := range asked {
		if f := e.Field(name); f != nil && !slices.Contains(key, name) {
			given[name] = design.Literal{Text: c.Text}
		}
	}
	for name, l := range given {
		if _, is := g.chosen[name]; !is && len(s.By) == 0 {
			g.chosen[name] = l
		}
	}
	for param, field := range params {
		if l, is := given[field]; is {
			g.chosen[strings.TrimPrefix(param, "line.")] = l
		}
	}
	return &design.RaceCall{Put: e.Name, Given: given, Times: 1, Pos: w.Pos}
}

func fieldsOf(t *design.Template) []string {
	if t == nil {
		return nil
	}
	return t.Fields()
}

// equalities are the fields that a condition compares with constants by =, and the parameters that it compares with fields
// by =.
func equalities(c *design.Condition) (constants map[string]design.Constant, params map[string]string) {
	constants, params = map[string]design.Constant{}, map[string]string{}
	if c == nil {
		return constants, params
	}
	tree, err := expr.Parse(expr.Condition, c.Expression)
	if err != nil {
		return constants, params
	}
	expr.Walk(tree.Root, func(n expr.Node) {
		is, comparison := n.(*expr.Comparison)
		if !comparison || is.Op != expr.Equal {
			return
		}
		for _, side := range [][2]expr.Node{{is.Left, is.Right}, {is.Right, is.Left}} {
			path, isPath := side[0].(*expr.Path)
			value, isValue := side[1].(*expr.Placeholder)
			if !isPath || !isValue || len(path.Steps) != 1 {
				continue
			}
			name := slices.IndexFunc(c.Names, func(n design.NameRef) bool { return n.Alias == path.Steps[0].Name })
			ref := slices.IndexFunc(c.Values, func(v design.ValueRef) bool { return v.Placeholder == value.Name })
			switch {
			case name < 0 || ref < 0:
			case c.Values[ref].Param != "":
				params[c.Values[ref].Param] = c.Names[name].Field
			case c.Values[ref].Literal.Kind != design.NullConstant:
				constants[c.Names[name].Field] = c.Values[ref].Literal
			}
		}
	})
	return constants, params
}

// call is a call of a write with the chosen values, also in its lines.
func (g *guess) call(w *design.Write) *design.RaceCall {
	given := maps.Clone(g.chosen)
	for _, e := range g.design.Entities {
		g.refer(e, given)
	}
	return &design.RaceCall{Write: w.Name, Given: given, Times: 1, Pos: w.Pos}
}

// refer sets the fields that refer to other items to the values of existing items.
func (g *guess) refer(e *design.Entity, given map[string]design.Literal) {
	for _, r := range e.Refs {
		l, chosen := g.chosen[g.design.NamedLike(r.Field, e.Field(r.Field).Type)]
		if _, is := given[r.Field]; chosen && !is {
			given[r.Field] = l
		}
	}
}
