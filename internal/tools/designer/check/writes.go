package check

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// writes checks the rules on writes, ST5xx.
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
		c.sameItemInLines(w)
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

// step checks ST104, ST410, ST502, ST508 and ST509.
func (c *checker) step(w *design.Write, s *design.Step) {
	e := c.design.Entity(s.Entity)
	c.fractions(w, s)
	if kept := lower.Lossy(c.design, e); s.Action == design.Put && kept != "" {
		c.find("ST502", w.Name, s.Pos, "put of %s cannot maintain %s, because it does not know the item that it overwrites", e.Name, kept).as(Error).
			fix("use create, upsert or update").report()
	} else if s.Action == design.Put && s.When == nil {
		fix := "create: %s, which fails if the item exists; or upsert"
		if w.Batch {
			fix = "a write of one %s with create, called for each: a batch has no conditions"
		}
		c.find("ST502", w.Name, s.Pos, "puts %s unconditionally: a retry, or an id that is already in use, overwrites the existing item", article(e.Name)).
			fix(fix, e.Name).report()
	}
	if s.Action != design.Update && s.Action != design.Upsert {
		return
	}
	all := s.Assignments()
	for i, a := range all {
		if isKey(e, a.Field) && !selects(e, a) {
			c.find("ST104", w.Name, a.Pos, "changes %s of %s, which is part of its primary key: the key of an item cannot change", a.Field, e.Name).
				fix("delete the item and create a new one in the same write").report()
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
	for _, name := range s.Patch {
		c.nested(w, s, &design.Assignment{Field: name, Pos: s.Pos})
	}
	for _, a := range s.Set {
		if readBefore(a) && !slices.Contains(s.When.Fields(), a.Field) {
			c.find("ST508", w.Name, a.Pos, "sets %s to a value computed from an earlier read, and nothing checks that it is still current: of two concurrent updates, one is lost", a.Field).
				fix("add: { %s: … }, or when: \"%s = :seen\"", a.Field, a.Field).report()
		}
	}
	c.entryParts(w, s, e)
}

// selects reports whether an assignment of a key field selects the item: its value is a parameter with the same name or,
// for identifiers, with any name.
func selects(e *design.Entity, a *design.Assignment) bool {
	if len(a.Value.Terms) != 1 || a.Value.Terms[0].Kind != design.ParamTerm {
		return false
	}
	return a.Value.Terms[0].Name == a.Field || meaning(e.Field(a.Field).Type) == string(design.KindID)
}

// readBefore reports whether a value is a parameter plus or minus a constant, which a caller computes from an earlier read.
func readBefore(a *design.Assignment) bool {
	return len(a.Value.Terms) == 2 && a.Value.Terms[0].Kind == design.ParamTerm && a.Value.Terms[1].Kind == design.ConstantTerm
}

// nested checks ST509: a change inside a map that may be absent.
func (c *checker) nested(w *design.Write, s *design.Step, a *design.Assignment) {
	root := design.Root(a.Field)
	steps, inside := a.Field[len(root):], len(root) < len(a.Field)
	f := c.design.Entity(s.Entity).Field(root)
	if f == nil || !f.Nested() && !inside {
		return
	}
	absent := f.Optional || f.Type.Kind == design.KindSet
	if absent && (inside || !c.created(s.Entity, f.Path[:len(f.Path)-1])) || s.Action == design.Upsert || withinElement(a.Field) {
		path := strings.Join(f.Path, ".")
		if inside {
			path += steps
		}
		c.find("ST509", w.Name, a.Pos, "changes %s, which is inside a map that may be absent: DynamoDB then rejects the update", path).
			fix("store it as a top-level attribute, or create the map together with the item").report()
	}
}

// created reports whether a map is created with every item of an entity, because a required field is inside it. A set is not stored
// while it is empty.
func (c *checker) created(entity string, path []string) bool {
	return slices.ContainsFunc(c.design.Entity(entity).Fields, func(f *design.Field) bool {
		return !f.Optional && f.Type.Kind != design.KindSet && len(f.Path) > len(path) && slices.Equal(f.Path[:len(path)], path)
	})
}

// withinElement reports whether a path leads into a map element whose key the caller passes.
func withinElement(path string) bool {
	list := design.PathSteps(path)
	return slices.ContainsFunc(list[:len(list)-1], func(step string) bool { return strings.HasPrefix(step, ":") })
}

// operand checks ST509 for a value computed from a field that may be absent.
func (c *checker) operand(w *design.Write, s *design.Step, a *design.Assignment) {
	for _, t := range a.Value.Terms {
		root, _, _ := strings.Cut(t.Name, ".")
		f := c.design.Entity(s.Entity).Field(root)
		if t.Kind != design.FieldTerm || f == nil || f.Nested() || !f.Optional && s.Action != design.Upsert || slices.Contains(s.When.Fields(), root) {
			continue
		}
		c.find("ST509", w.Name, a.Pos, "computes %s from %s, which may be absent: DynamoDB then rejects the update", a.Field, t.Name).
			fix("add: { %s: … }, which treats an absent value as 0", a.Field).report()
	}
}

// overlap checks ST509 for two assignments of a step where one path contains the other.
func (c *checker) overlap(w *design.Write, e *design.Entity, a, b *design.Assignment) {
	if x, y := strings.Join(design.PathSteps(a.Field), ".")+".", strings.Join(design.PathSteps(b.Field), ".")+"."; strings.HasPrefix(x, y) || strings.HasPrefix(y, x) {
		c.find("ST509", w.Name, b.Pos, "changes %s and %s of %s in one update, and one contains the other: DynamoDB rejects overlapping paths", a.Field, b.Field, e.Name).
			fix("set the whole value, or only parts of it").report()
	}
}
