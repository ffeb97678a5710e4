package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// flows checks ST501 and ST508 in flows: a value may have changed between the read and the write that relies on it.
func (c *checker) flows() {
	for _, f := range c.design.Flows {
		s := flowState{c: c, flow: f, reads: map[string]*design.Read{}, lets: map[string]*design.Expression{}}
		for _, step := range f.Steps {
			for _, a := range step.Let {
				s.lets[a.Name] = a.Value
			}
			if r := c.design.Read(step.Read); r != nil && step.As != "" {
				s.reads[step.As] = r
			}
			if w := c.design.Write(step.Write); w != nil {
				for _, change := range w.Steps {
					s.lost(step, w, change)
					s.createdAfterRead(step, w, change)
				}
			}
		}
	}
}

// flowState holds what a flow has read and named before a step.
type flowState struct {
	c     *checker
	flow  *design.Flow
	reads map[string]*design.Read
	lets  map[string]*design.Expression
}

// source is a field of a read's result.
type source struct{ as, field string }

// sources returns the fields that an expression is computed from.
func (s *flowState) sources(x *design.Expression) []source {
	var out []source
	for _, o := range x.Operands() {
		switch o := o.(type) {
		case *design.NameOperand:
			as, field, _ := strings.Cut(o.Path, ".")
			out = append(out, source{as, field})
		case *design.ParamOperand:
			if let := s.lets[o.Name]; let != nil && let != x {
				out = append(out, s.sources(let)...)
			}
		}
	}
	return out
}

// argument returns the expression that a step passes for a write's parameter; nil if the flow's own parameter is passed on.
func (s *flowState) argument(step *design.FlowStep, param string) *design.Expression {
	if i := slices.IndexFunc(step.With, func(a *design.Argument) bool { return a.Name == param }); i >= 0 {
		return step.With[i].Value
	}
	return s.lets[param]
}

// lost checks ST508: a write sets a field computed from its value read earlier, or relies on an earlier check of that
// value, and its own condition does not check again.
func (s *flowState) lost(step *design.FlowStep, w *design.Write, change *design.Step) {
	if change.Action != design.Update && change.Action != design.Upsert {
		return
	}
	find := func(as, field, format string, args ...any) {
		s.c.find("ST508", s.flow.Name+"+"+w.Name, step.Pos, format, args...).
			witness(fmt.Sprintf("two %s calls read the same %s.%s, then both call %s", s.flow.Name, as, field, w.Name)).
			fix("when: \"%s = :seen\" in %s, with: { seen: %s.%s }; or use add, with a condition on the bound", field, w.Name, as, field).report()
	}
	for _, a := range slices.Concat(change.Set, change.Add) {
		for _, from := range s.asked(step.If) {
			if s.stale(from, change, a.Field, step) && !constantOnly(a, change) {
				find(from.as, from.field, "checks %s.%s, then %s changes it without checking again", from.as, from.field, w.Name)
				return
			}
		}
	}
	for _, a := range change.Set {
		if len(a.Value.Terms) != 1 || a.Value.Terms[0].Kind != design.ParamTerm {
			continue
		}
		x := s.argument(step, a.Value.Terms[0].Name)
		if x == nil || !s.computed(x) {
			continue
		}
		for _, from := range s.sources(x) {
			if s.stale(from, change, a.Field, step) {
				find(from.as, from.field, "%s sets %s to a value computed from %s.%s, and nothing checks that it is still current: of two concurrent updates, one is lost", w.Name, a.Field, from.as, from.field)
				return
			}
		}
	}
}

// asked returns the sources of a step's condition.
func (s *flowState) asked(x *design.Expression) []source {
	if x == nil {
		return nil
	}
	return s.sources(x)
}

// constantOnly reports whether a step sets a field to a constant, which is idempotent.
func constantOnly(a *design.Assignment, s *design.Step) bool {
	return slices.Contains(s.Set, a) && len(a.Value.Terms) == 1 && a.Value.Terms[0].Kind == design.ConstantTerm
}

// stale reports whether a step changes a field that the flow has read, without a condition on that field or on another
// value from the same read.
func (s *flowState) stale(from source, change *design.Step, field string, step *design.FlowStep) bool {
	r := s.reads[from.as]
	if r == nil || r.Many || r.Entity != change.Entity || from.field != field || slices.Contains(change.When.Fields(), field) {
		return false
	}
	return !slices.ContainsFunc(equalities(change.When), func(e equality) bool {
		x := s.argument(step, e.value.Param)
		return x != nil && slices.ContainsFunc(s.sources(x), func(other source) bool { return other.as == from.as })
	})
}

// computed reports whether an expression does arithmetic rather than passing on a value that was read.
func (s *flowState) computed(x *design.Expression) bool {
	return slices.ContainsFunc(x.Operands(), func(o design.Operand) bool {
		switch o := o.(type) {
		case *design.Operation:
			return o.Operator == design.Plus || o.Operator == design.Minus
		case *design.ParamOperand:
			let := s.lets[o.Name]
			return let != nil && let != x && s.computed(let)
		default:
			return false
		}
	})
}

// createdAfterRead checks ST501: a write creates an item because a read by fields that no key or marker makes unique found none.
func (s *flowState) createdAfterRead(step *design.FlowStep, w *design.Write, change *design.Step) {
	if change.Action != design.Create && change.Action != design.Put || step.If == nil {
		return
	}
	e := s.c.design.Entity(change.Entity)
	for _, o := range step.If.Operands() {
		call := requiresAbsence(o)
		if call == nil {
			continue
		}
		r := s.reads[call.Of]
		if r == nil || r.Entity != e.Name || s.c.guardedBy(e, r.By) || len(r.By) == 0 {
			continue
		}
		p := plan.ForRead(s.c.design, r).Plan
		if p.Operation == plan.GetItem {
			continue
		}
		where := "the table"
		if p.Place.Global() {
			where = "the index " + p.Place.Name + ", which lags behind the table"
		}
		s.c.find("ST501", s.flow.Name+"+"+w.Name, step.Pos, "looks for %s by %s in %s and creates one if there is none: two concurrent calls both find none and both create one",
			article(e.Name), strings.Join(r.By, ", "), where).
			witness(fmt.Sprintf("two %s calls with the same %s: both read %s, then both call %s", s.flow.Name, strings.Join(r.By, " and "), r.Name, w.Name)).
			fix("unique: { %s: { pk: \"…#{%s}\", sk: UNIQUE } }, a marker item created in the same transaction",
				title(r.By[0]), strings.Join(r.By, "}#{")).report()
	}
}

// requiresAbsence returns the call in an expression that requires absence: NOT exists(x), exists(x) = false, count(x) = 0,
// count(x) < 1. It returns nil for any other expression.
func requiresAbsence(o design.Operand) *design.CallOperand {
	var call *design.CallOperand
	switch o := o.(type) {
	case *design.Negation:
		call, _ = o.Operand.(*design.CallOperand)
		if call != nil && call.Function != design.ExistsFunction {
			return nil
		}
	case *design.Operation:
		constant, is := o.Right.(*design.ConstantOperand)
		if !is || !slices.Contains([]string{"= false", "= 0", "< 1"}, string(o.Operator)+" "+constant.Constant.Text) {
			return nil
		}
		call, _ = o.Left.(*design.CallOperand)
	}
	return call
}

// guardedBy reports whether a key or marker of an entity consists of these fields only, so that their combination is unique.
func (c *checker) guardedBy(e *design.Entity, fields []string) bool {
	within := func(key []string) bool {
		return !slices.ContainsFunc(key, func(f string) bool { return !slices.Contains(fields, f) })
	}
	return within(keyOf(e)) || slices.ContainsFunc(e.Unique, func(m *design.Marker) bool {
		return within(slices.Concat(m.Key.PK.Fields(), m.Key.SK.Fields()))
	})
}
