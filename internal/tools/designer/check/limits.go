package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// A limit is an invariant that bounds a field or a number of items. These are the two forms:
//
//	user.cartas <= user.limiteCartas
//	count(Conductor of user) <= user.limiteConductores
var (
	fieldLimit = regexp.MustCompile(`^\s*(\w+)\.(\w+)\s*(<=|<|>=|>)\s*(\w+\.\w+|-?\d+)\s*$`)
	countLimit = regexp.MustCompile(`^\s*count\(\s*(\w+)(?:\s+of\s+(\w+))?(?:\s+where\s+[^()]+)?\s*\)\s*(<=|<)\s*(\w+\.\w+|\d+)\s*$`)
)

// limits checks ST510: writes that can exceed a limit without checking it.
func (c *checker) limits() {
	for _, i := range c.design.Invariants {
		if m := fieldLimit.FindStringSubmatch(i.Text); m != nil {
			if e := c.entityCalled(m[1]); e != nil && e.Field(m[2]) != nil {
				c.fieldLimit(i, e, m[2], strings.HasPrefix(m[3], "<"))
			}
		}
		if m := countLimit.FindStringSubmatch(i.Text); m != nil {
			if e := c.entityCalled(m[1]); e != nil {
				c.countLimit(i, e, c.entityCalled(m[2]), "count them in a field, in the same write: { update: …, add: { n: \"1\" }, when: \"n < :limit\" }")
			}
		}
	}
}

// entityCalled returns the entity with a name, ignoring case; nil if there is none.
func (c *checker) entityCalled(name string) *design.Entity {
	i := slices.IndexFunc(c.design.Entities, func(e *design.Entity) bool { return strings.EqualFold(e.Name, name) })
	if i < 0 {
		return nil
	}
	return c.design.Entities[i]
}

// fieldLimit reports steps that move a field towards its bound without a condition on it. A counter moves with the items that it
// counts.
func (c *checker) fieldLimit(i *design.Invariant, e *design.Entity, field string, upper bool) {
	for _, x := range e.Counters {
		if x.Field == field && upper {
			c.counterLimit(i, e, x)
		}
	}
	for _, w := range c.design.Writes {
		for _, s := range w.Steps {
			if s.Entity != e.Name || s.Action != design.Update && s.Action != design.Upsert || slices.Contains(s.When.Fields(), field) {
				continue
			}
			for _, a := range slices.Concat(s.Set, s.Add) {
				if a.Field == field && towards(a, slices.Contains(s.Add, a), upper) {
					c.pastLimit(w, a.Pos, i, e, field, upper)
				}
			}
			if slices.Contains(s.Patch, field) {
				c.pastLimit(w, s.Pos, i, e, field, upper)
			}
		}
	}
}

func (c *checker) pastLimit(w *design.Write, at design.Pos, i *design.Invariant, e *design.Entity, field string, upper bool) {
	c.find("ST510", w.Name, at, "changes %s of %s without checking that %s, %q, still holds", field, e.Name, i.Name, i.Text).
		fix("when: \"%s %s :limit\"", field, map[bool]string{true: "<", false: ">"}[upper]).report()
}

// towards reports whether an assignment can move a field towards its upper, or lower, bound. Setting a constant does not
// count: authors see that themselves.
func towards(a *design.Assignment, add, upper bool) bool {
	terms := a.Value.Terms
	if len(terms) == 1 && terms[0].Kind == design.ConstantTerm {
		negative := terms[0].Negative || strings.HasPrefix(terms[0].Constant.Text, "-")
		return add && negative != upper
	}
	if len(terms) == 1 && add {
		return terms[0].Negative != upper
	}
	return true
}

// counterLimit reports steps that create a counted item in a write without a condition on the item with the counter.
func (c *checker) counterLimit(i *design.Invariant, e *design.Entity, x *design.Counter) {
	c.countLimit(i, c.design.Entity(x.Of), e, "in the same write: { check: %s, when: \"%s < :limit\", else: Full }", e.Name, x.Field)
}

// countLimit reports steps that create an item of an entity in a write without a condition on the item's owner.
func (c *checker) countLimit(i *design.Invariant, e, of *design.Entity, fix string, args ...any) {
	for _, w := range c.design.Writes {
		asked := slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
			return s.When != nil && s.Entity != e.Name && (of == nil || s.Entity == of.Name || plan.Belongs(c.design, c.design.Entity(s.Entity), of))
		})
		for _, s := range w.Steps {
			if s.Entity == e.Name && (s.Action == design.Create || s.Action == design.Put) && !asked {
				c.find("ST510", w.Name, s.Pos, "creates %s without checking that %s, %q, still holds", e.Name, i.Name, i.Text).
					fix(fix, args...).report()
			}
		}
	}
}
