package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// lifecycle describes how the writes of a design move a field through the values of its enumeration.
type lifecycle struct {
	values []string
	moves  []move
	// free are the moves that the declared conditions do not restrict, a sentence each.
	free []string
}

// move is a transition with the writes that make it; "" is before creation, and after deletion.
type move struct {
	from, to string
	by       []string
}

// lifecycles draws the fields of enumerations whose values follow from the set and when of the writes.
func (p *page) lifecycles() {
	d := p.design
	headed := false
	for _, e := range d.Entities {
		for _, f := range e.Fields {
			enum := d.Enum(f.Type.Name)
			if f.Type.Kind != design.KindEnum || enum == nil {
				continue
			}
			l := p.lifecycleOf(e, f, enum.Values)
			if len(l.moves) == 0 {
				continue
			}
			if !headed {
				p.heading(2, "Lifecycles")
				headed = true
			}
			p.heading(3, e.Name+"."+f.Name)
			p.mermaid(l.diagram())
			p.list(l.free)
		}
	}
}

// lifecycleOf follows the steps that create, change and delete items of the entity.
func (p *page) lifecycleOf(e *design.Entity, f *design.Field, values []string) lifecycle {
	l := lifecycle{values: values}
	for _, w := range p.design.Writes {
		for _, s := range w.Steps {
			if s.Entity != e.Name {
				continue
			}
			switch s.Action {
			case design.Create, design.Put:
				l.created(w, f, s.Set)
			case design.Upsert:
				l.created(w, f, slices.Concat(s.Set, s.Init))
				l.changed(w, s, f)
			case design.Update:
				l.changed(w, s, f)
			case design.Delete:
				l.deleted(w, s, f)
			case design.Check:
			}
		}
	}
	return l
}

// created adds the initial values of an item.
func (l *lifecycle) created(w *design.Write, f *design.Field, list []*design.Assignment) {
	value := assigned(list, f.Name)
	if to, constant := constantOf(value); constant {
		l.move("", to, w)
		return
	}
	if value == nil && f.Optional {
		return // it may have no initial value
	}
	l.free = append(l.free, fmt.Sprintf("%s: the caller chooses the initial value.", code(w.Name)))
}

// changed adds the moves of a step from the values that its condition allows.
func (l *lifecycle) changed(w *design.Write, s *design.Step, f *design.Field) {
	value := assigned(s.Set, f.Name)
	if slices.Contains(s.Patch, f.Name) {
		l.free = append(l.free, fmt.Sprintf("%s: from any value to %s%s.", code(w.Name), code(":"+f.Name), onlyIf(s.When)))
	}
	if value == nil {
		return
	}
	from := l.allowed(s.When, f)
	to, constant := constantOf(value)
	switch {
	case constant:
		for _, v := range from {
			if v != to {
				l.move(v, to, w)
			}
		}
	case len(from) < len(l.values):
		for _, v := range from {
			for _, other := range l.values {
				if other != v {
					l.move(v, other, w)
				}
			}
		}
	default:
		l.free = append(l.free, fmt.Sprintf("%s: from any value to %s%s.", code(w.Name), code(value.Text), onlyIf(s.When)))
	}
}

// deleted adds the end of items.
func (l *lifecycle) deleted(w *design.Write, s *design.Step, f *design.Field) {
	from := l.allowed(s.When, f)
	if len(from) == len(l.values) {
		l.free = append(l.free, fmt.Sprintf("%s: deletes an item with any value%s.", code(w.Name), onlyIf(s.When)))
		return
	}
	for _, v := range from {
		l.move(v, "", w)
	}
}

func onlyIf(c *design.Condition) string {
	if c == nil {
		return ""
	}
	return ", if " + code(c.Text)
}

// allowed are the values of the field that a condition allows.
func (l *lifecycle) allowed(c *design.Condition, f *design.Field) []string {
	var out []string
	for _, v := range l.values {
		holds := judge(c, func(name string) operand {
			if name != f.Name {
				return operand{}
			}
			return operand{known: true, value: design.Constant{Kind: design.StringConstant, Text: v}}
		})
		if holds != no {
			out = append(out, v)
		}
	}
	return out
}

func (l *lifecycle) move(from, to string, w *design.Write) {
	i := slices.IndexFunc(l.moves, func(m move) bool { return m.from == from && m.to == to })
	if i < 0 {
		l.moves = append(l.moves, move{from, to, []string{w.Name}})
		return
	}
	if !slices.Contains(l.moves[i].by, w.Name) {
		l.moves[i].by = append(l.moves[i].by, w.Name)
	}
}

// diagram is the lifecycle as a state diagram. States get names of their own, because a value may be any text.
func (l *lifecycle) diagram() []string {
	lines := []string{"stateDiagram-v2"}
	for i, v := range l.values {
		lines = append(lines, fmt.Sprintf("    state %s as s%d", quoted(v), i+1))
	}
	state := func(v string) string {
		if v == "" {
			return "[*]"
		}
		return fmt.Sprintf("s%d", slices.Index(l.values, v)+1)
	}
	for _, m := range l.moves {
		if m.to != "" && !slices.Contains(l.values, m.to) || m.from != "" && !slices.Contains(l.values, m.from) {
			continue // not a value of the enumeration, which check reports
		}
		lines = append(lines, fmt.Sprintf("    %s --> %s : %s", state(m.from), state(m.to), strings.Join(m.by, ", ")))
	}
	return lines
}

// assigned is the value assigned to a field; nil if there is none.
func assigned(list []*design.Assignment, field string) *design.ValueExpr {
	i := slices.IndexFunc(list, func(a *design.Assignment) bool { return a.Field == field })
	if i < 0 {
		return nil
	}
	return list[i].Value
}

// constantOf is the text of a constant value.
func constantOf(v *design.ValueExpr) (string, bool) {
	if v == nil || len(v.Terms) != 1 || v.Terms[0].Kind != design.ConstantTerm {
		return "", false
	}
	return v.Terms[0].Constant.Text, true
}
