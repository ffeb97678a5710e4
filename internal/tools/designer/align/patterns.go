package align

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// Read is a read of the original design that does the same in the other's names; its parameters keep theirs.
func (n *Names) Read(r *design.Read) *design.Read {
	a, out, e := n.aligner, *r, n.aligner.from.Entity(r.Entity)
	out.Entity, out.Filter, out.Returns = a.entityName(r.Entity), a.condition(e, r.Filter), a.fieldNames(e, r.Returns)
	out.Order = nil
	for _, o := range r.Order {
		out.Order = append(out.Order, design.Order{Field: a.field(e, o.Field), Desc: o.Desc})
	}
	out.Via = n.via(r.Entity, r.Via)
	return &out
}

// via is a place of an entity.
func (n *Names) via(entity, name string) string {
	e := n.Design.Entity(n.aligner.entityName(entity))
	if e == nil {
		return name
	}
	called := func(x any, now string) string {
		if was, renamed := n.Original(x); renamed {
			return was
		}
		return now
	}
	for _, c := range e.Copies {
		if called(c, c.Name) == name {
			return c.Name
		}
	}
	for _, m := range e.Unique {
		if called(m, m.Name) == name {
			return m.Name
		}
	}
	for _, x := range e.Entries {
		was := *x
		was.Name = called(x, x.Name)
		if was.Place() == name {
			return x.Place()
		}
	}
	return name
}

// Write is like Read for a write.
func (n *Names) Write(w *design.Write) *design.Write {
	a, out := n.aligner, *w
	out.Steps = nil
	for _, s := range w.Steps {
		step, e := *s, a.from.Entity(s.Entity)
		step.Entity, step.When, step.Patch = a.entityName(s.Entity), a.condition(e, s.When), a.fieldNames(e, s.Patch)
		for _, list := range []*[]*design.Assignment{&step.By, &step.Set, &step.Add, &step.Init, &step.Drop, &step.Append, &step.Prepend} {
			*list = a.assignments(e, *list)
		}
		step.Remove = nil
		for _, path := range s.Remove {
			step.Remove = append(step.Remove, a.path(e, path))
		}
		step.Else = nil
		for _, x := range s.Else {
			step.Else = append(step.Else, &design.Refusal{Error: x.Error, When: a.condition(e, x.When), Pos: x.Pos})
		}
		out.Steps = append(out.Steps, &step)
	}
	if w.Idempotent != nil {
		i := *w.Idempotent
		i.With = a.entityName(i.With)
		out.Idempotent = &i
	}
	return &out
}

func (a *aligner) assignments(e *design.Entity, list []*design.Assignment) []*design.Assignment {
	var out []*design.Assignment
	for _, x := range list {
		out = append(out, &design.Assignment{Field: a.path(e, x.Field), Value: a.value(e, x.Value), Pos: x.Pos})
	}
	return out
}

// value is a value with the new names of fields; parameters and the rest of its text stay.
func (a *aligner) value(e *design.Entity, v *design.ValueExpr) *design.ValueExpr {
	out := *v
	out.Terms = slices.Clone(v.Terms)
	for i := len(out.Terms) - 1; i >= 0; i-- { // from the end, because the text before a term stays where it is
		t := &out.Terms[i]
		if t.Kind != design.FieldTerm || !strings.HasPrefix(out.Text[t.At:], t.Name) {
			continue
		}
		now := a.path(e, t.Name)
		out.Text = out.Text[:t.At] + now + out.Text[t.At+len(t.Name):]
		t.Name = now
	}
	return &out
}
