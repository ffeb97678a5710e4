package trial

import (
	"context"
	"regexp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	// draws is the number of attempts to draw an input that can be written.
	draws = 25
	// manyValues is a number of values large enough that a random one is hardly ever taken.
	manyValues = 1000
	// maxLines is the maximum number of lines of a write.
	maxLines = 4
)

// input draws the input of a write: usually one that must succeed, otherwise one that must be rejected. If nothing drawn can
// succeed, it changes the items.
func (g *writing) input(ctx context.Context, w *lower.Write) (table.Input, error) {
	var last table.Input
	succeed := g.rng.IntN(10) < 7
	for range draws {
		in := g.draw(w, succeed && g.rng.IntN(4) > 0)
		v, err := g.world.judgeWrite(w, in, nil)
		if err != nil {
			return in, err
		}
		if g.withGhosts(v) {
			continue // it is undefined what happens to an expired item that may or may not have been removed
		}
		if last = in; v.ok() == succeed && (succeed || v.invalid == "") {
			return in, nil
		}
	}
	for i := 0; succeed && i < repairs; i++ {
		in := g.draw(w, true)
		if records := g.repaired(w, in); records != nil {
			return in, g.world.become(ctx, records)
		}
	}
	return last, nil
}

// repeatsID reports whether the item of an effect has the key of another item, because both have the same generated identifier.
func (g *writing) repeatsID(e *effect) bool {
	target := newRecord(g.trial.program, e.entity())
	var err error
	if target.values, err = e.key(); err != nil {
		return false
	}
	key, err := target.run.KeyOf(target.run.Key, target.values)
	return err == nil && slices.ContainsFunc(g.world.records, func(other *record) bool {
		if !g.trial.repeatsID(target, other) || other.identity() == e.identity {
			return false
		}
		theirs, err := other.run.KeyOf(other.run.Key, other.values)
		return err == nil && keyOf(target.run.Table, theirs) == keyOf(target.run.Table, key)
	})
}

// withGhosts reports whether an input concerns an item that has expired and was partly replaced, or replaces one that is
// counted, or repeats the generated identifier and with it the key of another item.
func (g *writing) withGhosts(v *verdict) bool {
	if v.miscounts {
		return true
	}
	for _, e := range v.effects {
		if e.step != nil && g.repeatsID(e) {
			return true
		}
		r := e.next
		if r == nil {
			r = e.old
		}
		if r == nil {
			continue
		}
		if items, err := r.items(); err == nil {
			for _, it := range items {
				if g.world.ghosts[keyOf(r.run.Table, it)] {
					return true
				}
			}
		}
	}
	return false
}

// drawing is an input being drawn, with its items.
type drawing struct {
	*writing

	run  *lower.Write
	once table.Values
	// eager prefers values with which the write succeeds, as far as that is known.
	eager bool
	// about are the items that provide values for parameters.
	about []*record
}

// draw draws a random input: keys of existing or missing items; fields of these items; any values. An eager drawing prefers
// values with which the write succeeds.
func (g *writing) draw(w *lower.Write, eager bool) table.Input {
	d := &drawing{writing: g, run: w, once: table.Values{}, eager: eager}
	for _, s := range byAction(w.Design.Steps) {
		if !s.Each {
			d.pick(s, d.once, w.Inputs, nil)
		}
	}
	in := table.Input{Values: d.once}
	for _, s := range byAction(w.Design.Steps) {
		if s.Each {
			d.pick(s, d.once, w.Inputs, nil) // it determines the items of the lines
		}
	}
	if w.Design.Lines != nil {
		n := 1 + g.rng.IntN(maxLines)
		if w.Run.MaxLines > 0 {
			n = min(n, w.Run.MaxLines)
		}
		about := d.about
		for range n {
			d.about = slices.Clone(about)
			if line := d.line(); !d.eager || len(in.Lines) == 0 || !d.repeats(in.Lines, line) {
				in.Lines = append(in.Lines, line)
			}
		}
		d.about = about
	}
	d.rest(d.once, w.Inputs)
	return in
}

// byAction are the steps, those that require an existing item first.
func byAction(steps []*design.Step) []*design.Step {
	needs := func(s *design.Step) int {
		switch s.Action {
		case design.Update, design.Delete, design.Check:
			return 0
		case design.Upsert:
			return 1
		default:
			return 2
		}
	}
	out := slices.Clone(steps)
	slices.SortStableFunc(out, func(a, b *design.Step) int { return needs(a) - needs(b) })
	return out
}

// line draws a line.
func (d *drawing) line() table.Values {
	line := table.Values{}
	for _, s := range byAction(d.run.Design.Steps) {
		if s.Each {
			d.pick(s, line, d.run.Lines, d.once)
		}
	}
	d.rest(line, d.run.Lines)
	return line
}

// repeats reports whether a line touches the item of another line, or of a step that is not repeated.
func (d *drawing) repeats(lines []table.Values, line table.Values) bool {
	for _, s := range d.run.Design.Steps {
		key := plan.KeyFields(d.world.program.Design.Entity(s.Entity))
		same := func(other table.Values) bool {
			return !slices.ContainsFunc(key, func(name string) bool { return line[name] != nil && !equal(line[name], other[name]) })
		}
		once := slices.ContainsFunc(d.run.Design.Steps, func(o *design.Step) bool { return !o.Each && o.Entity == s.Entity })
		if s.Each && (slices.ContainsFunc(lines, same) || once && same(d.once)) {
			return true
		}
	}
	return false
}

// pick chooses the item of a step and sets its key fields, as far as they are inputs without a value.
func (d *drawing) pick(s *design.Step, into table.Values, inputs []lower.Input, outer table.Values) {
	e := d.world.program.Design.Entity(s.Entity)
	makes := s.Action == design.Create || s.Action == design.Put
	var r *record
	if (d.eager || d.rng.IntN(6) > 0) != makes {
		r = d.fitting(s, into, outer, inputs)
	}
	if r == nil {
		r = d.data.record(e, d.rng.IntN(4*writeItems))
	} else {
		d.about = append(d.about, r)
	}
	for _, name := range plan.KeyFields(e) {
		i := slices.IndexFunc(inputs, func(in lower.Input) bool { return in.Name == name })
		if i >= 0 && into[name] == nil && r.values[name] != nil {
			into[name] = r.values[name]
		}
	}
	if d.eager && !makes {
		for name, v := range d.agreed(s, r) {
			i := slices.IndexFunc(inputs, func(in lower.Input) bool { return in.Name == name })
			if i >= 0 && into[name] == nil && v != nil {
				into[name] = v
			}
		}
	}
}

// compared is a parameter that a condition compares with a field.
type compared struct{ field, operator, param string }

var comparedWith = regexp.MustCompile(`(\w+)\s*(<=|>=|<|>|=)\s*:(?:line\.)?(\w+)`) //nolint:gochecknoglobals // compiled once

// comparisons are the comparisons in a step's condition.
func (g *writing) comparisons(s *design.Step) []compared {
	known, there := g.compared[s]
	if !there && s.When != nil {
		for _, m := range comparedWith.FindAllStringSubmatch(s.When.Text, -1) {
			known = append(known, compared{m[1], m[2], m[3]})
		}
		g.compared[s] = known
	}
	return known
}

// agreed are values of parameters with which an item satisfies the comparisons of a step's condition.
func (g *writing) agreed(s *design.Step, r *record) table.Values {
	out := table.Values{}
	for _, c := range g.comparisons(s) {
		v := r.values[c.field]
		if v == nil {
			continue
		}
		if c.operator == "<" || c.operator == ">" {
			below, above := neighbours(&design.Field{Type: design.Type{Kind: design.KindDecimal}}, v)
			switch {
			case c.operator == "<" && above != nil:
				v = above
			case c.operator == ">" && below != nil:
				v = below
			}
		}
		out[c.param] = v
	}
	return out
}

// fitting is an item whose key has the values chosen so far, if there is one, and which satisfies the step's condition, if
// there is one; nil if there are no items.
func (d *drawing) fitting(s *design.Step, chosen, outer table.Values, inputs []lower.Input) *record {
	e := d.world.program.Design.Entity(s.Entity)
	var best []*record
	most := -1
	for _, r := range d.world.records {
		if r.entity != e {
			continue
		}
		fits := 0
		for _, name := range plan.KeyFields(e) {
			v := chosen[name]
			if v == nil && !slices.ContainsFunc(inputs, func(in lower.Input) bool { return in.Name == name }) {
				v = outer[name]
			}
			if v != nil && equal(v, r.values[name]) {
				fits++
			}
		}
		if fits > most {
			best, most = best[:0], fits
		}
		if fits == most {
			best = append(best, r)
		}
	}
	d.rng.Shuffle(len(best), func(i, j int) { best[i], best[j] = best[j], best[i] })
	if d.eager && len(best) > 1 && s.When != nil {
		if i := slices.IndexFunc(best, func(r *record) bool { return d.fulfils(s, r, chosen) }); i >= 0 {
			return best[i]
		}
	}
	if len(best) == 0 {
		return nil
	}
	return best[0]
}

// fulfils reports whether an item satisfies a step's condition with the values chosen so far, and with its other requirements.
func (d *drawing) fulfils(s *design.Step, r *record, chosen table.Values) bool {
	given := d.agreed(s, r)
	for name, v := range given {
		if chosen[name] != nil {
			v = chosen[name]
		}
		given["line."+name], given[name] = v, v
	}
	for name, v := range chosen {
		given["line."+name], given[name] = v, v
	}
	in, err := holds(d.world.program.Design, r.entity, s.When, r.values, given)
	return in && err == nil
}

// rest sets the remaining inputs: to the value of one of the write's items with the same name or type, or to any value.
func (d *drawing) rest(into table.Values, inputs []lower.Input) {
	for _, in := range inputs {
		if into[in.Name] != nil || in.Optional && d.rng.IntN(3) == 0 {
			continue
		}
		if in.Removable && d.rng.IntN(3) == 0 {
			into[in.Name] = &types.AttributeValueMemberNULL{Value: true}
			continue
		}
		if v := d.unused(in); v != nil && d.rng.IntN(3) > 0 {
			into[in.Name] = v
			continue
		}
		if v := d.known(in); v != nil && (d.eager || d.rng.IntN(5) > 0) {
			into[in.Name] = v
			continue
		}
		if v := d.data.value(in.Name, in.Type, 0); v != nil {
			into[in.Name] = v
		}
	}
}

// unused is a value that is hardly ever taken, for an input that must be unique; nil for others.
func (d *drawing) unused(in lower.Input) types.AttributeValue {
	for _, s := range d.run.Design.Steps {
		e := d.world.program.Design.Entity(s.Entity)
		for _, f := range e.Fields {
			unique := slices.ContainsFunc(e.Unique, func(m *design.Marker) bool {
				return slices.Contains(markerFields(m), f.Name) && !slices.Contains(plan.KeyFields(e), f.Name)
			})
			given := f.Name == in.Name || slices.ContainsFunc(s.Set, func(a *design.Assignment) bool {
				return a.Field == f.Name && len(a.Value.Terms) == 1 && a.Value.Terms[0].Name == in.Name
			})
			if unique && given && f.Type.Scalar() {
				return d.data.pool(f.Name, f.Type).at(d.rng.IntN(manyValues))
			}
		}
	}
	return nil
}

// markerFields are the fields that a marker makes unique.
func markerFields(m *design.Marker) []string {
	fields := m.Key.PK.Fields()
	if m.Key.SK != nil {
		fields = append(fields, m.Key.SK.Fields()...)
	}
	return fields
}

// known is a value of one of the write's items.
func (d *drawing) known(in lower.Input) types.AttributeValue {
	var named, typed []types.AttributeValue
	for _, r := range d.about {
		for _, f := range r.entity.Fields {
			v := r.values[f.Name]
			switch {
			case v == nil || f.Type.String() != in.Type.String() || len(scalarText(v)) < in.MinBytes || in.MaxBytes > 0 && len(scalarText(v)) > in.MaxBytes:
			case !d.data.limits[d.data.poolName(in.Name, in.Type)].admits(in.Type, scalarText(v)):
			case f.Name == in.Name:
				named = append(named, v)
			default:
				typed = append(typed, v)
			}
		}
	}
	list := named
	if len(list) == 0 || len(typed) > 0 && d.rng.IntN(4) == 0 && !d.eager {
		list = typed
	}
	if in.Type.Numeric() && d.rng.IntN(3) == 0 && !d.eager {
		return numberValue([]string{"1", "2", "0"}[d.rng.IntN(3)])
	}
	if len(list) == 0 {
		return nil
	}
	return list[d.rng.IntN(len(list))]
}
