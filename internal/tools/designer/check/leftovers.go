package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// forgotten is ST517: one write makes an item and adds one to a field of what it belongs to, and another deletes such items
// and leaves the field as it is.
func (c *checker) forgotten() {
	told := map[string]bool{}
	for _, w := range c.design.Writes {
		for _, made := range w.Steps {
			for _, a := range c.countedBy(w, made) {
				of := c.design.Entity(made.Entity)
				for _, other := range c.design.Writes {
					deletes := slices.IndexFunc(other.Steps, func(s *design.Step) bool { return s.Action == design.Delete && s.Entity == of.Name })
					if deletes < 0 || c.settles(other, a.entity, a.field) || told[other.Name+" "+a.entity.Name+"."+a.field] {
						continue
					}
					told[other.Name+" "+a.entity.Name+"."+a.field] = true
					c.find("ST517", other.Name, other.Steps[deletes].Pos, "deletes %s and leaves %s of %s as it is, which %s has counted it in", article(of.Name), a.field, a.entity.Name, w.Name).
						witness(fmt.Sprintf("%s, then %s: there is no %s, and %s is 1", w.Name, other.Name, of.Name, a.field)).
						fix("counters: { %s: %s } in %s, which every write keeps; or { update: %s, add: { %s: \"-1\" } } in this one", a.field, of.Name, a.entity.Name, a.entity.Name, a.field).report()
				}
			}
		}
	}
}

// counting is a field of an entity that a write adds one to by hand.
type counting struct {
	entity *design.Entity
	field  string
}

// countedBy are the fields that a write adds one to for each item that a step makes, of what the item belongs to.
func (c *checker) countedBy(w *design.Write, made *design.Step) []counting {
	if made.Action != design.Create && made.Action != design.Put {
		return nil
	}
	var out []counting
	for _, s := range w.Steps {
		e := c.design.Entity(s.Entity)
		if s.Entity == made.Entity || !c.leadsTo(c.design.Entity(made.Entity), e) {
			continue
		}
		for _, a := range s.Add {
			t := a.Value.Terms
			one := len(t) == 1 && !t[0].Negative && (s.Each == made.Each && t[0].Constant.Text == "1" || !s.Each && made.Each && t[0].Kind == design.CountTerm)
			if one {
				out = append(out, counting{e, a.Field})
			}
		}
	}
	return out
}

// leadsTo reports whether an item has the whole key of another entity's.
func (c *checker) leadsTo(e, to *design.Entity) bool { return len(design.Belongs(e, to)) > 0 }

// settles reports whether a write changes a field, or deletes the item that has it; or a flow does in another write.
func (c *checker) settles(w *design.Write, e *design.Entity, field string) bool {
	here := func(w *design.Write) bool {
		return w != nil && (changes(w, e.Name, field) || removes(w, e.Name))
	}
	return here(w) || c.inFlow(w, here)
}

// inFlow reports whether a flow makes a write, and another for which a condition holds.
func (c *checker) inFlow(w *design.Write, other func(*design.Write) bool) bool {
	return slices.ContainsFunc(c.design.Flows, func(f *design.Flow) bool {
		return slices.ContainsFunc(f.Steps, func(s *design.FlowStep) bool { return s.Write == w.Name }) &&
			slices.ContainsFunc(f.Steps, func(s *design.FlowStep) bool { return other(c.design.Write(s.Write)) })
	})
}

// removes reports whether a write deletes items of an entity.
func removes(w *design.Write, entity string) bool {
	return slices.ContainsFunc(w.Steps, func(s *design.Step) bool { return s.Action == design.Delete && s.Entity == entity })
}

// orphans is ST518: an item is deleted, and what belongs to it stays. What expires goes by itself, and a condition on how many
// there are lets the item go only when there are none.
func (c *checker) orphans() {
	for _, w := range c.design.Writes {
		for _, s := range w.Steps {
			if s.Action != design.Delete {
				continue
			}
			e := c.design.Entity(s.Entity)
			for _, child := range c.design.Entities {
				belongs := c.isPartOf(child, e)
				if child == e || child.TTL != nil || !belongs && refOf(child, e) == "" || removes(w, child.Name) || asksFor(e, child, s.When) {
					continue
				}
				if c.inFlow(w, func(other *design.Write) bool { return other != nil && removes(other, child.Name) }) {
					continue
				}
				counter := "n"
				if i := slices.IndexFunc(e.Counters, func(x *design.Counter) bool { return x.Of == child.Name && x.Sum == "" && x.Where == nil }); i >= 0 {
					counter = e.Counters[i].Field
				}
				if !belongs {
					ref := refOf(child, e)
					c.find("ST518", w.Name+"+"+child.Name, s.Pos, "deletes %s, and what refers to it stays: no write or flow deletes the %s whose %s names it", article(e.Name), child.Name, ref).
						witness(fmt.Sprintf("%s stays, whose %s names %s", quoted(texts(plan.Places(c.design, child)[0])), ref, quoted(texts(plan.Places(c.design, e)[0])))).
						fix("a flow that reads and deletes each %s first; or accept it here, where a reference may name what is gone", child.Name).report()
					continue
				}
				c.find("ST518", w.Name+"+"+child.Name, s.Pos, "deletes %s, and what belongs to it stays: no write or flow deletes its %s with it", article(e.Name), child.Name).
					witness(fmt.Sprintf("%s stays when %s is gone", quoted(texts(plan.Places(c.design, child)[0])), quoted(texts(plan.Places(c.design, e)[0])))).
					fix("a flow that reads and deletes each %s first; or counters: { %s: %s } in %s and when: \"%s = 0\"", child.Name, counter, child.Name, e.Name, counter).report()
			}
		}
	}
}

// refOf is the field by which items of an entity refer to those of another; "" where they do not.
func refOf(e, to *design.Entity) string {
	for _, r := range e.Refs {
		if refersTo(r, to.Name) {
			return r.Field
		}
	}
	return ""
}

func refersTo(r design.Ref, entity string) bool {
	return slices.ContainsFunc(r.To, func(t design.RefTarget) bool { return t.Entity == entity })
}

// dangling is ST520: a write makes an item that refers to another, and nothing in it asks whether that is there. A step on the other
// item does, and a counter of it that counts the new one; so does a flow that reads it before.
func (c *checker) dangling() {
	for _, w := range c.design.Writes {
		for _, s := range w.Steps {
			if s.Action != design.Create && s.Action != design.Put && s.Action != design.Upsert {
				continue
			}
			e := c.design.Entity(s.Entity)
			for _, r := range e.Refs {
				if c.asked(w, s, r) {
					continue
				}
				to := design.RefTarget{}
				var names []string
				for _, to = range r.To {
					names = append(names, article(to.Entity))
				}
				c.find("ST520", w.Name+"+"+r.Field, s.Pos, "makes %s whose %s names %s, and nothing asks whether there is one", article(e.Name), r.Field, strings.Join(names, " or ")).
					witness(fmt.Sprintf("%s = 'x', and there is no %s 'x'", r.Field, to.Entity)).
					fix("- { check: %s, by: { %s: \":%s\" }, when: \"attribute_exists(%s)\", else: No%s }", to.Entity, to.Field, r.Field, to.Field, to.Entity).report()
			}
		}
	}
}

// asked reports whether a write, or a flow that makes it, asks for an item that a reference of a step's item names.
func (c *checker) asked(w *design.Write, made *design.Step, r design.Ref) bool {
	here := slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
		return s != made && s.Action != design.Delete && refersTo(r, s.Entity)
	})
	counted := slices.ContainsFunc(r.To, func(t design.RefTarget) bool {
		to := c.design.Entity(t.Entity)
		return slices.ContainsFunc(to.Counters, func(x *design.Counter) bool {
			return x.Of == made.Entity && slices.Contains(design.Owner(c.design.Entity(made.Entity), to, x.By), design.Join{A: r.Field, B: t.Field})
		})
	})
	return here || counted || slices.ContainsFunc(c.design.Flows, func(f *design.Flow) bool {
		at := slices.IndexFunc(f.Steps, func(s *design.FlowStep) bool { return s.Write == w.Name })
		return at > 0 && slices.ContainsFunc(f.Steps[:at], func(s *design.FlowStep) bool {
			i := slices.IndexFunc(c.design.Reads, func(x *design.Read) bool { return x.Name == s.Read })
			return i >= 0 && refersTo(r, c.design.Reads[i].Entity)
		})
	})
}

// isPartOf reports whether items of an entity belong to one of another: there are so many for each, and they have its key.
func (c *checker) isPartOf(child, e *design.Entity) bool {
	return child.Volume.Per == e.Name && c.leadsTo(child, e) && !slices.ContainsFunc(ownerFields(child, e), func(f string) bool { return !isKey(child, f) })
}

// ownerFields are the fields by which an item tells the one of another entity that it belongs to.
func ownerFields(e, owner *design.Entity) []string {
	var out []string
	for _, j := range design.Belongs(e, owner) {
		out = append(out, j.A)
	}
	return out
}

// asksFor reports whether a condition on an item asks how many of a child there are, by a counter of them.
func asksFor(e, child *design.Entity, when *design.Condition) bool {
	return slices.ContainsFunc(e.Counters, func(x *design.Counter) bool {
		return x.Of == child.Name && slices.Contains(when.Fields(), x.Field)
	})
}
