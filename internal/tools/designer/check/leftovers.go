package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// forgotten checks ST517: one write creates an item and adds one to a field of its parent, and another deletes such items
// without decrementing the field.
func (c *checker) forgotten() {
	reported := map[string]bool{}
	for _, w := range c.design.Writes {
		for _, created := range w.Steps {
			for _, a := range c.countedBy(w, created) {
				of := c.design.Entity(created.Entity)
				for _, other := range c.design.Writes {
					deletes := slices.IndexFunc(other.Steps, func(s *design.Step) bool { return s.Action == design.Delete && s.Entity == of.Name })
					if deletes < 0 || c.settles(other, a.entity, a.field) || reported[other.Name+" "+a.entity.Name+"."+a.field] {
						continue
					}
					reported[other.Name+" "+a.entity.Name+"."+a.field] = true
					c.find("ST517", other.Name, other.Steps[deletes].Pos, "deletes %s but does not decrement %s of %s, which %s increments", article(of.Name), a.field, a.entity.Name, w.Name).
						witness(fmt.Sprintf("after %s and %s there is no %s, but %s is 1", w.Name, other.Name, of.Name, a.field)).
						fix("declare counters: { %s: %s } in %s, which every write maintains; or { update: %s, add: { %s: \"-1\" } } in this one", a.field, of.Name, a.entity.Name, a.entity.Name, a.field).report()
				}
			}
		}
	}
}

// counting is a field of an entity that a write increments explicitly.
type counting struct {
	entity *design.Entity
	field  string
}

// countedBy returns the fields of parent items that a write increments for each item that a step creates.
func (c *checker) countedBy(w *design.Write, created *design.Step) []counting {
	if created.Action != design.Create && created.Action != design.Put {
		return nil
	}
	var out []counting
	for _, s := range w.Steps {
		e := c.design.Entity(s.Entity)
		if s.Entity == created.Entity || !c.leadsTo(c.design.Entity(created.Entity), e) {
			continue
		}
		for _, a := range s.Add {
			t := a.Value.Terms
			one := len(t) == 1 && !t[0].Negative && (s.Each == created.Each && t[0].Constant.Text == "1" || !s.Each && created.Each && t[0].Kind == design.CountTerm)
			if one {
				out = append(out, counting{e, a.Field})
			}
		}
	}
	return out
}

// leadsTo reports whether an item contains the whole key of another entity.
func (c *checker) leadsTo(e, to *design.Entity) bool { return len(design.Belongs(e, to)) > 0 }

// settles reports whether a write, or another write of the same flow, changes a field or deletes its item.
func (c *checker) settles(w *design.Write, e *design.Entity, field string) bool {
	here := func(w *design.Write) bool {
		return w != nil && (changes(w, e.Name, field) || removes(w, e.Name))
	}
	return here(w) || c.inFlow(w, here)
}

// inFlow reports whether a flow calls a write and also another one that satisfies the predicate.
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

// orphans checks ST518: an item is deleted but its dependents stay. Dependents that expire are exempt, and so is a delete
// with a condition on their count.
func (c *checker) orphans() {
	for _, w := range c.design.Writes {
		for _, s := range w.Steps {
			if s.Action != design.Delete {
				continue
			}
			e := c.design.Entity(s.Entity)
			for _, child := range c.design.Entities {
				belongs := c.isPartOf(child, e) || counts(e, child)
				if child == e || child.TTL != nil || !belongs && refOf(child, e) == "" || removes(w, child.Name) || checksCounterOf(e, child, s.When) {
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
					c.find("ST518", w.Name+"+"+child.Name, s.Pos, "deletes %s but not the items that refer to it: no write or flow deletes %s items whose %s names it", article(e.Name), child.Name, ref).
						witness(fmt.Sprintf("%s stays, and its %s names the deleted %s", quoted(texts(plan.Places(c.design, child)[0])), ref, quoted(texts(plan.Places(c.design, e)[0])))).
						fix("a flow that reads and deletes each %s first; or accept it, if references to deleted items are allowed", child.Name).report()
					continue
				}
				c.find("ST518", w.Name+"+"+child.Name, s.Pos, "deletes %s but not its dependents: no write or flow deletes its %s items", article(e.Name), child.Name).
					witness(fmt.Sprintf("%s stays when %s is deleted", quoted(texts(plan.Places(c.design, child)[0])), quoted(texts(plan.Places(c.design, e)[0])))).
					fix("a flow that reads and deletes each %s first; or counters: { %s: %s } in %s and when: \"%s = 0\"", child.Name, counter, child.Name, e.Name, counter).report()
			}
		}
	}
}

// refOf returns the field with which items of an entity refer to those of another; "" if they do not.
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

// dangling checks ST520: a write creates an item that refers to another without checking that it exists. A step on the
// other item counts as a check, and so does a counter in it that counts the new item, or a flow that reads it first.
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
				c.find("ST520", w.Name+"+"+r.Field, s.Pos, "creates %s whose %s refers to %s, and nothing checks that it exists", article(e.Name), r.Field, strings.Join(names, " or ")).
					witness(fmt.Sprintf("%s = 'x', but there is no %s 'x'", r.Field, to.Entity)).
					fix("- { check: %s, by: { %s: \":%s\" }, when: \"attribute_exists(%s)\", else: No%s }", to.Entity, to.Field, r.Field, to.Field, to.Entity).report()
			}
		}
	}
}

// asked reports whether a write, or a flow that calls it, checks that the target of a reference exists.
func (c *checker) asked(w *design.Write, created *design.Step, r design.Ref) bool {
	here := slices.ContainsFunc(w.Steps, func(s *design.Step) bool {
		return s != created && s.Action != design.Delete && refersTo(r, s.Entity)
	})
	counted := slices.ContainsFunc(r.To, func(t design.RefTarget) bool {
		to := c.design.Entity(t.Entity)
		return slices.ContainsFunc(to.Counters, func(x *design.Counter) bool {
			return x.Of == created.Entity && slices.Contains(design.Owner(c.design.Entity(created.Entity), to, x.By), design.Join{A: r.Field, B: t.Field})
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

// isPartOf reports whether items of an entity belong to an item of another: their volume is per item of it, and they
// contain its key.
func (c *checker) isPartOf(child, e *design.Entity) bool {
	return child.Volume.Per == e.Name && c.leadsTo(child, e) && !slices.ContainsFunc(ownerFields(child, e), func(f string) bool { return !isKey(child, f) })
}

// ownerFields returns the fields that identify the item's owner.
func ownerFields(e, owner *design.Entity) []string {
	var out []string
	for _, j := range design.Belongs(e, owner) {
		out = append(out, j.A)
	}
	return out
}

// counts reports whether an entity has a counter of all items of another, which cannot be deleted any more once the item with
// the counter is gone.
func counts(e, child *design.Entity) bool {
	return slices.ContainsFunc(e.Counters, func(x *design.Counter) bool { return x.Of == child.Name && x.By == "" && x.Where == nil })
}

// checksCounterOf reports whether a condition on an item checks a counter of its children.
func checksCounterOf(e, child *design.Entity, when *design.Condition) bool {
	return slices.ContainsFunc(e.Counters, func(x *design.Counter) bool {
		return x.Of == child.Name && slices.Contains(when.Fields(), x.Field)
	})
}
