package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// constants checks ST002: constants in values and conditions that their fields can never have.
func (c *checker) constants() {
	for _, e := range c.design.Entities {
		for _, entry := range e.Entries {
			c.compared(e.Name+"."+entry.Place(), e, entry.Where)
		}
		for _, x := range e.Counters {
			c.compared(e.Name, c.design.Entity(x.Of), x.Where)
		}
	}
	for _, r := range c.design.Reads {
		c.compared(r.Name, c.design.Entity(r.Entity), r.Filter)
	}
	for _, w := range c.design.Writes {
		for _, fault := range lower.InputFaults(c.design, w) {
			c.find("ST002", w.Name, fault.Pos, "%s", fault.Message).report()
		}
		for _, s := range w.Steps {
			e := c.design.Entity(s.Entity)
			for _, a := range slices.Concat(s.By, s.Set, s.Init) {
				c.assigned(w, s, e, a)
			}
			for _, a := range slices.Concat(s.By, s.Assignments()) {
				c.assignedParams(w, e, a)
			}
			c.compared(w.Name, e, s.When)
			c.comparedParams(w, e, s.When)
			for _, x := range s.Else {
				c.compared(w.Name, e, x.When)
				c.comparedParams(w, e, x.When)
			}
		}
	}
	for _, f := range c.design.Flows {
		c.flowConstants(f)
	}
	for _, i := range c.design.Invariants {
		c.stated(i.Name, i.Statement, c.design.EntityCalled)
	}
}

// assignedParams checks the declared parameters in a value that a step assigns to a field.
func (c *checker) assignedParams(w *design.Write, e *design.Entity, a *design.Assignment) {
	f := lower.FieldAt(c.design, e, a.Field)
	if f == nil {
		return
	}
	for _, t := range a.Value.Terms {
		if p := param(w, t.Name); t.Kind == design.ParamTerm && p != nil && storedType(p.Type) != storedType(f.Type) {
			c.find("ST002", w.Name, a.Pos, "sets %s of %s, which is of type %s, to :%s, which is declared as %s", a.Field, e.Name, f.Type, p.Name, p.Type).
				fix("%s: %s in params", p.Name, f.Type).report()
		}
	}
}

// comparedParams checks the declared parameters of a condition.
func (c *checker) comparedParams(w *design.Write, e *design.Entity, cond *design.Condition) {
	for _, x := range lower.Comparisons(c.design, e, cond) {
		if p := param(w, x.Value.Param); p != nil && storedType(p.Type) != storedType(x.Type) {
			c.find("ST002", w.Name, cond.Pos, "compares %s of %s, which is of type %s, with :%s, which is declared as %s", x.Of, e.Name, x.Type, p.Name, p.Type).
				fix("%s: %s in params", p.Name, x.Type).report()
		}
	}
}

// param is a declared parameter of a write; nil if there is none with that name.
func param(w *design.Write, name string) *design.Field {
	if i := slices.IndexFunc(w.Params, func(p *design.Field) bool { return p.Name == name }); i >= 0 {
		return w.Params[i]
	}
	return nil
}

// storedType distinguishes types whose values are never equal on DynamoDB.
func storedType(t design.Type) string {
	switch {
	case t.Kind == design.KindStruct || t.Kind == design.KindMap:
		return "M"
	case t.Kind == design.KindList:
		return "L"
	case t.Kind == design.KindSet && t.Elem != nil:
		return "set of " + storedType(*t.Elem)
	case t.Kind == design.KindBytes:
		return "B"
	default:
		return fmt.Sprint(storedAs(t))
	}
}

// flowConstants checks the conditions of a flow's steps on the results of its reads.
func (c *checker) flowConstants(f *design.Flow) {
	results := map[string]*design.Entity{}
	for _, step := range f.Steps {
		c.stated(f.Name, step.If, func(name string) *design.Entity { return results[name] })
		for _, list := range []*design.Selection{step.Each, step.Lines} {
			if list != nil && !list.Given {
				c.compared(f.Name, results[list.List], list.Where)
			}
		}
		if r := c.design.Read(step.Read); r != nil && step.As != "" {
			results[step.As] = c.design.Entity(r.Entity)
		}
	}
}

// compared checks the literals of a condition.
func (c *checker) compared(subject string, e *design.Entity, cond *design.Condition) {
	if e == nil || cond == nil {
		return
	}
	for _, x := range lower.Comparisons(c.design, e, cond) {
		if x.Value.Param == "" {
			f := &design.Field{Name: x.Of, Type: x.Type}
			c.comparedWith(subject, e, f, x.Value.Literal, x.Whole, c.literalAt(cond.Pos, cond.Text, x.Value.Literal))
		}
	}
}

// literalAt is the position of a literal in an expression; that of the expression if the literal is written differently.
func (c *checker) literalAt(p design.Pos, text string, k design.Constant) design.Pos {
	if at := strings.Index(text, literal(k)); at >= 0 && c.design.Source != nil {
		return c.design.Source.Within(p, text, at)
	}
	return p
}

// comparedWith checks a constant that is compared with a field. A comparison that is not of whole values may use one that the
// field cannot have, such as the beginning of a time, if it is stored as the same type.
func (c *checker) comparedWith(subject string, e *design.Entity, f *design.Field, k design.Constant, whole bool, at design.Pos) {
	if k.Kind == design.NullConstant || !whole && f.Type.Scalar() && storedAs(f.Type) == k.Kind {
		return
	}
	if why := lower.Invalid(c.design, f, k); why != "" {
		c.find("ST002", subject, at, "compares %s of %s with %s, which %s", f.Name, e.Name, literal(k), why).
			fix("%s", c.instead(f, k)).report()
	}
}

// stated checks the comparisons of a statement; entity returns the entity that a word names.
func (c *checker) stated(subject string, x *design.Expression, entity func(word string) *design.Entity) {
	for _, o := range x.Operands() {
		switch o := o.(type) {
		case *design.CallOperand:
			word, _, _ := strings.Cut(o.Of, ".")
			c.compared(subject, entity(word), o.Where)
		case *design.Operation:
			c.statedPair(subject, x, o, o.Left, o.Right, entity)
			c.statedPair(subject, x, o, o.Right, o.Left, entity)
		}
	}
}

// statedPair checks a comparison of a field with a constant.
func (c *checker) statedPair(subject string, x *design.Expression, o *design.Operation, a, b design.Operand, entity func(word string) *design.Entity) {
	name, named := a.(*design.NameOperand)
	k, constant := b.(*design.ConstantOperand)
	if !named || !constant || o.Operator == design.And || o.Operator == design.Or {
		return
	}
	word, path, _ := strings.Cut(name.Path, ".")
	e := entity(word)
	if e == nil || path == "" {
		return
	}
	if f := lower.FieldAt(c.design, e, path); f != nil {
		of := &design.Field{Name: path, Type: f.Type}
		whole := o.Operator == design.Equal || o.Operator == design.NotEqual
		c.comparedWith(subject, e, of, k.Constant, whole, c.literalAt(x.Pos, x.Text, k.Constant))
	}
}

// assigned checks a constant that a step assigns to a field: the field must be able to have it, and so must its keys.
func (c *checker) assigned(w *design.Write, s *design.Step, e *design.Entity, a *design.Assignment) {
	f := lower.FieldAt(c.design, e, a.Field)
	if f == nil || len(a.Value.Terms) != 1 || a.Value.Terms[0].Kind != design.ConstantTerm {
		return
	}
	t := a.Value.Terms[0]
	k := t.Constant
	if t.Negative {
		k.Text = "-" + k.Text
	}
	if name, _ := c.fraction(w, s, t); name != "" && whole(f) {
		return // ST519
	}
	at := c.literalAt(a.Value.Pos, a.Value.Text, k)
	named := *f
	named.Name = a.Field
	why := lower.Invalid(c.design, &named, k)
	if why == "" {
		why = unusable(e, f, k)
	}
	if why != "" {
		c.find("ST002", w.Name, at, "sets %s of %s to %s, which %s", a.Field, e.Name, literal(k), why).
			fix("%s", c.instead(f, k)).report()
	}
}

// unusable returns why a constant cannot be used in a key of its entity; "" if it can. Index entries with a condition are
// skipped, because the item may not be in them.
func unusable(e *design.Entity, f *design.Field, k design.Constant) string {
	keys := []*design.Template{e.Key.PK, e.Key.SK}
	for _, x := range e.Copies {
		keys = append(keys, x.Key.PK, x.Key.SK)
	}
	for _, m := range e.Unique {
		keys = append(keys, m.Key.PK, m.Key.SK)
	}
	for _, x := range e.Entries {
		if x.Where == nil {
			keys = append(append(keys, x.PK...), x.SK...)
		}
	}
	for _, t := range keys {
		if t == nil {
			continue
		}
		for _, p := range t.Parts {
			if p.Field != f.Name || e.Field(f.Name) != f || f.Type.Kind == design.KindBytes {
				continue
			}
			if _, err := render.Part(e, p, map[string]design.Literal{f.Name: {Text: k.Text}}); err != nil {
				return "cannot be used in the key \"" + t.Text + "\": " + err.Error()
			}
		}
	}
	return ""
}

// storedAs is the kind of constants that have the stored type of a scalar type; 0 for bytes, for which there are none.
func storedAs(t design.Type) design.ConstantKind {
	switch {
	case t.Numeric():
		return design.NumberConstant
	case t.Kind == design.KindBool:
		return design.BoolConstant
	case t.Kind == design.KindBytes:
		return 0
	default:
		return design.StringConstant
	}
}

// literal is a constant as it is written in a design.
func literal(k design.Constant) string {
	if k.Kind == design.StringConstant {
		return "'" + strings.ReplaceAll(k.Text, "'", "''") + "'"
	}
	return k.Text
}

// instead is the fix for a constant: the value of the enumeration that was most likely meant, if there is one.
func (c *checker) instead(f *design.Field, k design.Constant) string {
	if f.Type.Kind == design.KindEnum {
		if near := c.design.Enum(f.Type.Name).Nearest(k.Text); near != "" {
			return "did you mean " + literal(design.Constant{Kind: design.StringConstant, Text: near}) + "?"
		}
		return "use one of these, or add " + literal(k) + " to " + f.Type.Name
	}
	return ""
}

// samples checks ST003: samples that monotable test cannot store.
func (c *checker) samples() {
	if len(c.design.Samples) == 0 {
		return
	}
	p := lower.Entities(c.design)
	for _, s := range c.design.Samples {
		_, err := p.Sample(s, time.Unix(0, 0))
		faults, _ := errors.AsType[design.Errors](err)
		for _, f := range faults {
			c.find("ST003", s.Entity, f.Pos, "in a sample, %s", f.Message).report()
		}
	}
}
