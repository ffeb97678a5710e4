package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// writes are the rules on writes, ST5xx.
func (c *checker) writes() {
	for _, e := range c.design.Entities {
		c.duplicate(e)
		c.summed(e)
	}
	for _, r := range c.design.Reads {
		c.assumedUnique(r)
	}
	for _, w := range c.design.Writes {
		p := plan.ForWrite(c.design, w)
		c.transactionSize(w, p)
		c.sameItemTwice(w, p)
		c.sameParameters(w)
		c.batch(w)
		c.repetition(w)
		c.idempotency(w)
		for _, s := range w.Steps {
			c.step(w, s)
		}
	}
	c.forgotten()
	c.orphans()
	c.dangling()
	c.flows()
	c.limits()
}

// step is ST104, ST410, ST502, ST508 and ST509.
func (c *checker) step(w *design.Write, s *design.Step) {
	e := c.design.Entity(s.Entity)
	c.fractions(w, s)
	if s.Action == design.Put && s.When == nil {
		c.find("ST502", w.Name, s.Pos, "puts %s unconditionally: a retry, or an id that is already in use, overwrites the existing item", article(e.Name)).
			fix("create: %s, which fails if the item exists; or upsert", e.Name).report()
	}
	if s.Action != design.Update && s.Action != design.Upsert {
		return
	}
	all := s.Assignments()
	for i, a := range all {
		if isKey(e, a.Field) && !tells(e, a) {
			c.find("ST104", w.Name, a.Pos, "changes %s of %s, which is part of its primary key: an item cannot change its key", a.Field, e.Name).
				fix("delete the item and create another in one write").report()
		}
		c.nested(w, s, a)
		c.operand(w, s, a)
		for _, before := range all[:i] {
			c.overlap(w, e, before, a)
		}
	}
	for _, path := range s.Remove {
		gone := &design.Assignment{Field: path, Pos: s.Pos}
		c.nested(w, s, gone)
		for _, a := range all {
			c.overlap(w, e, a, gone)
		}
	}
	for _, a := range s.Set {
		if readBefore(a) && !slices.Contains(s.When.Fields(), a.Field) {
			c.find("ST508", w.Name, a.Pos, "sets %s to what was read before plus something, and nothing makes sure that it is still that: of two at once one is lost", a.Field).
				fix("add: { %s: … }, or when: \"%s = :seen\"", a.Field, a.Field).report()
		}
	}
	c.entryParts(w, s, e)
}

// tells reports whether an assignment of a key field tells which item is meant: it is from a parameter, of that name or for
// an identifier of any.
func tells(e *design.Entity, a *design.Assignment) bool {
	if len(a.Value.Terms) != 1 || a.Value.Terms[0].Kind != design.ParamTerm {
		return false
	}
	return a.Value.Terms[0].Name == a.Field || meaning(e.Field(a.Field).Type) == string(design.KindID)
}

// readBefore reports whether a value is a parameter plus or minus a constant: what a caller computes of what it read.
func readBefore(a *design.Assignment) bool {
	return len(a.Value.Terms) == 2 && a.Value.Terms[0].Kind == design.ParamTerm && a.Value.Terms[1].Kind == design.ConstantTerm
}

// nested is ST509: changing something inside a map that may not be there.
func (c *checker) nested(w *design.Write, s *design.Step, a *design.Assignment) {
	root := design.Root(a.Field)
	steps, inside := a.Field[len(root):], len(root) < len(a.Field)
	f := c.design.Entity(s.Entity).Field(root)
	if f == nil || !f.Nested() && !inside {
		return
	}
	if f.Optional || s.Action == design.Upsert || withinElement(a.Field) {
		path := strings.Join(f.Path, ".")
		if inside {
			path += steps
		}
		c.find("ST509", w.Name, a.Pos, "changes %s, which is inside of what may be absent: DynamoDB refuses the update then", path).
			fix("store it as a top-level attribute, or make the map part of what creates the item").report()
	}
}

// withinElement reports whether a path leads into what stands behind a key of a map that the caller gives.
func withinElement(path string) bool {
	list := design.PathSteps(path)
	return slices.ContainsFunc(list[:len(list)-1], func(step string) bool { return strings.HasPrefix(step, ":") })
}

// operand is ST509 of a value that is computed of a field which may not be there.
func (c *checker) operand(w *design.Write, s *design.Step, a *design.Assignment) {
	for _, t := range a.Value.Terms {
		root, _, _ := strings.Cut(t.Name, ".")
		f := c.design.Entity(s.Entity).Field(root)
		if t.Kind != design.FieldTerm || f == nil || f.Nested() || !f.Optional && s.Action != design.Upsert || slices.Contains(s.When.Fields(), root) {
			continue
		}
		c.find("ST509", w.Name, a.Pos, "computes %s of %s, which may be absent: DynamoDB refuses the update then", a.Field, t.Name).
			fix("add: { %s: … }, which takes what is absent for 0", a.Field).report()
	}
}

// overlap is ST509 of two assignments of one step, one of which is inside what the other sets.
func (c *checker) overlap(w *design.Write, e *design.Entity, a, b *design.Assignment) {
	if x, y := strings.Join(design.PathSteps(a.Field), ".")+".", strings.Join(design.PathSteps(b.Field), ".")+"."; strings.HasPrefix(x, y) || strings.HasPrefix(y, x) {
		c.find("ST509", w.Name, b.Pos, "changes %s and %s of %s in one update, and one is inside the other: DynamoDB refuses paths that overlap", a.Field, b.Field, e.Name).
			fix("set the whole, or only parts of it").report()
	}
}
