package provision

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// need is a DynamoDB action that the code of a pattern calls at a place.
type need struct {
	place  plan.Place
	action string
	// named means that the caller names the item's owner, who need not be the caller.
	named bool
}

// patternNeeds are the needs of a pattern.
type patternNeeds struct {
	pattern string
	needs   []need
	// together are the additional needs of a write that is composed with others in one transaction.
	together []need
}

// needsOf are the needs of all patterns of a design.
func needsOf(d *design.Design) []patternNeeds {
	var out []patternNeeds
	add := func(name string, collect func(*needs)) {
		n := needs{design: d}
		collect(&n)
		n.pattern = name
		out = append(out, n.patternNeeds)
	}
	for _, r := range d.Reads {
		add(r.Name, func(n *needs) { n.read(plan.ForRead(d, r).Plan) })
	}
	for _, c := range d.Collections {
		add(c.Name, func(n *needs) {
			for _, m := range plan.ForCollection(d, c).Members {
				n.add(m, string(plan.Query))
			}
		})
	}
	for _, w := range d.Writes {
		add(w.Name, func(n *needs) { n.write(w) })
	}
	if p := plan.ForPerson(d); p != nil {
		add("ExportPerson", func(n *needs) {
			p.Each(func(part *plan.PersonPart) {
				if part.Plan != nil && !part.Others {
					n.read(part.Plan)
				}
			})
		})
		add("ErasePerson", func(n *needs) {
			p.Each(func(part *plan.PersonPart) {
				if part.Plan == nil {
					return
				}
				n.read(part.Plan)
				if w := part.Erase(d); w != nil {
					n.write(w)
				}
			})
		})
	}
	return out
}

// needs collects the needs of a pattern.
type needs struct {
	patternNeeds

	design  *design.Design
	writing *design.Write // the current write
	named   bool          // the item's owner is named by the caller
}

// The actions that are not operations of plans.
const (
	putItem, updateItem, deleteItem = "PutItem", "UpdateItem", "DeleteItem"

	conditionCheck, batchWrite = "ConditionCheckItem", "BatchWriteItem"
)

func (n *needs) add(p plan.Place, actions ...string) {
	for _, action := range actions {
		n.needs = append(n.needs, need{p, action, n.named})
	}
}

// read adds the needs of a read. A read by key can also be called with several keys in the generated code; fields missing at a
// place are read for all found items at once.
func (n *needs) read(p *plan.Plan) {
	n.add(p.Place, string(p.Operation))
	if p.Operation == plan.GetItem {
		n.add(p.Place, string(plan.BatchGetItem))
	}
	if p.Place.Kind == plan.MarkerPlace || len(p.Hydrate) > 0 {
		n.add(n.item(p.Place.Entity), string(plan.BatchGetItem))
	}
}

// item is the place of an entity's own items.
func (n *needs) item(e *design.Entity) plan.Place { return plan.Places(n.design, e)[0] }

// write adds the needs of a write's plan, and what the generated code may do in addition, depending on the items it finds:
// this follows design/table's internal/write.
func (n *needs) write(w *design.Write) {
	p := plan.ForWrite(n.design, w)
	n.writing = w
	reads := slices.ContainsFunc(p.Items, func(i plan.ItemWrite) bool { return i.Step != nil && i.Place.Kind == plan.KeyPlace && n.mayRead(i) })
	for at, item := range p.Items {
		n.named = item.Step != nil && item.KnownValue(n.design.Tenant) != ":"+n.design.Tenant
		switch {
		case w.Batch:
			n.add(item.Place, batchWrite)
			if item.Place.Kind == plan.KeyPlace && n.mayRead(item) {
				n.look(item.Place)
			}
		case item.Step == nil:
			for _, place := range plan.Places(n.design, item.Place.Entity) {
				if place.Index == nil {
					n.add(place, putItem)
				}
			}
			n.alone(!reads, func() { n.look(item.Place) }) // together with other reads
		case item.Place.Kind != plan.KeyPlace:
			n.follower(item.Place, item)
		default:
			first := at == 0 && !item.Each && (item.Action != design.Delete || len(w.Steps) == 1)
			n.ownItem(item, first, p.Transaction())
		}
	}
	n.named = false
}

// look adds reading an item before it is written: alone, or with others of its table.
func (n *needs) look(p plan.Place) { n.add(p, string(plan.GetItem), string(plan.BatchGetItem)) }

// alone adds needs that the write only has if it is not alone.
func (n *needs) alone(is bool, add func()) {
	kept := n.needs
	if add(); is {
		n.together = append(n.together, n.needs[len(kept):]...)
		n.needs = kept
	}
}

// ownItem adds what a step does with its own item, or a counter's. first means that nothing of the write comes before it, so
// that the write can be rejected without a request.
func (n *needs) ownItem(item plan.ItemWrite, first, transaction bool) {
	p := item.Place
	reads := n.mayRead(item)
	switch item.Action {
	case design.Create, design.Put:
		n.add(p, putItem)
	case design.Delete:
		n.add(p, deleteItem)
	case design.Check:
		n.add(p, conditionCheck)
	default:
		n.add(p, updateItem)
		if !n.moved(item) {
			if item.Step.Action == design.Check {
				n.add(p, conditionCheck) // if the counters do not change after all
			}
			if n.mayBeEmpty(item) {
				n.alone(!transaction, func() { n.add(p, conditionCheck) }) // an update without changes only checks the condition
			}
		}
		if item.Action == design.Upsert && reads {
			n.add(p, putItem) // if the item does not exist
		}
		n.follow(item)
	}
	if reads {
		n.look(p)
		counts := slices.ContainsFunc(p.Entity.Counters, func(c *design.Counter) bool { return slices.Contains(item.Changed, c.Field) })
		n.alone(first && !counts, func() { n.add(p, conditionCheck) }) // instead of a change that is already rejected, or a delete of a missing item
	}
}

// moved reports whether the write certainly changes a counter of an item: it creates a counted item, which identifies the
// counter's item.
func (n *needs) moved(item plan.ItemWrite) bool {
	return slices.ContainsFunc(item.Place.Entity.Counters, func(c *design.Counter) bool {
		created := func(s *design.Step) bool { return s.Entity == c.Of && s.Action == design.Create && !s.Each }
		return c.Sum == "" && c.Where == nil && slices.Contains(item.Changed, c.Field) && slices.ContainsFunc(n.writing.Steps, created) &&
			!slices.ContainsFunc(item.Owner, func(j design.Join) bool { return mayOmit(n.design.Entity(c.Of), j.A) })
	})
}

// mayOmit reports whether items of an entity may lack a field.
func mayOmit(e *design.Entity, field string) bool {
	f := e.Field(field)
	return f != nil && f.Optional
}

// follower adds what a step does with a copy or a marker. A lost copy is put again, and a copy whose key may change may turn
// out unchanged.
func (n *needs) follower(p plan.Place, item plan.ItemWrite) {
	changes := item.Step.Action == design.Update || item.Step.Action == design.Upsert
	switch {
	case item.Action == design.Delete:
		n.add(p, deleteItem)
	case p.Kind == plan.CopyPlace && changes:
		n.add(p, putItem, updateItem)
	default:
		n.add(p, putItem)
	}
}

// follow adds the copies, markers and counters that follow a changed item, beyond its plan: those that contain or sum its own
// counters, and those that an upsert creates, moves or changes depending on its input.
func (n *needs) follow(item plan.ItemWrite) {
	e := item.Place.Entity
	created := item.Action == design.Upsert
	if created {
		item.Changed = upserted(item)
	}
	for _, p := range plan.Places(n.design, e) {
		moves := changes(item, func(f string) bool { return slices.Contains(fieldsOf(p), f) })
		expires := e.TTL != nil && slices.Contains(item.Changed, e.TTL.Field)
		switch {
		case p.Kind == plan.CopyPlace && (moves || n.holds(p, item)):
			n.add(p, putItem, updateItem)
		case p.Kind == plan.CopyPlace && created, p.Kind == plan.MarkerPlace && (created || moves || expires):
			n.add(p, putItem)
		default:
			continue
		}
		if moves {
			n.add(p, deleteItem)
		}
	}
	if !item.Counter() {
		return // they are in its plan
	}
	for _, holder := range n.design.Entities {
		var moved []string
		for _, c := range holder.Counters {
			if c.Of == e.Name && changes(item, func(f string) bool { return f == c.Sum || slices.Contains(c.Where.Fields(), f) }) {
				moved = append(moved, c.Field)
			}
		}
		if len(moved) > 0 {
			n.ownItem(plan.ItemWrite{Step: item.Step, Place: n.item(holder), Action: design.Update, Changed: moved}, false, true)
		}
	}
}

// holds reports whether a copy, or one of its index entries, contains something that changes.
func (n *needs) holds(copied plan.Place, item plan.ItemWrite) bool {
	return changes(item, copied.Has) || slices.ContainsFunc(plan.Places(n.design, copied.Entity), func(p plan.Place) bool {
		return p.Index != nil && p.Copy == copied.Copy && !p.Undeclared && depends(p, item)
	})
}

// upserted are the fields of an existing item that an upsert may change: all of its inputs, not just those it assigns.
func upserted(item plan.ItemWrite) []string {
	e := item.Place.Entity
	var out []string
	for _, f := range e.Fields {
		begins := slices.ContainsFunc(item.Step.Init, func(a *design.Assignment) bool { return design.Root(a.Field) == f.Name }) ||
			slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
		if slices.Contains(item.Changed, f.Name) || !begins && !slices.Contains(plan.KeyFields(e), f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// depends reports whether a change affects a place's key, or whether an item has the place.
func depends(p plan.Place, item plan.ItemWrite) bool {
	return changes(item, func(f string) bool { return slices.Contains(fieldsOf(p), f) || slices.Contains(p.Where.Fields(), f) })
}

func changes(item plan.ItemWrite, is func(string) bool) bool {
	return slices.ContainsFunc(item.Changed, is)
}

// mayBeEmpty reports whether an update may have nothing to do: it only patches, or adds values that may be absent.
func (n *needs) mayBeEmpty(item plan.ItemWrite) bool {
	if item.Action != design.Update || item.Counter() || len(item.Step.Remove) > 0 {
		return false
	}
	sets := func(a *design.Assignment) bool { return !slices.Contains(plan.KeyFields(item.Place.Entity), a.Field) }
	adds := func(a *design.Assignment) bool {
		f := item.Place.Entity.Field(a.Field)
		return f != nil && f.Type.Numeric() && !slices.ContainsFunc(a.Value.Terms, n.mayBeAbsent)
	}
	return !slices.ContainsFunc(item.Step.Set, sets) && !slices.ContainsFunc(item.Step.Add, adds)
}

// mayBeAbsent reports whether a term may be absent: it is not a required parameter of the write.
func (n *needs) mayBeAbsent(t design.Term) bool {
	if t.Kind != design.ParamTerm {
		return t.Kind == design.FieldTerm
	}
	given := func(f *design.Field) bool { return f.Name == t.Name && !f.Optional }
	return !slices.ContainsFunc(n.writing.Params, given)
}

// mayRead reports whether the generated code may read an item before it writes it: a copy, an index entry, a marker or a
// counter depends on something that only the item contains.
func (n *needs) mayRead(item plan.ItemWrite) bool {
	e := item.Place.Entity
	upsert := item.Action == design.Upsert
	switch {
	case item.Action != design.Update && item.Action != design.Delete && !upsert:
		return false
	case item.Action != design.Delete && !item.Counter() && (computes(item.Step) || upsert && (nested(item.Step) || item.Place.Table.TypeAttr == "" && len(item.Step.Set) == 0)):
		return true // sums; a nested change in an item that may not exist; and an item that may consist of its key only
	}
	for _, p := range plan.Places(n.design, e) {
		elsewhere := item.Action == design.Delete && !within(fieldsOf(p), plan.KeyFields(e))
		expires := e.TTL != nil && slices.Contains(item.Changed, e.TTL.Field)
		if p.Kind == plan.CopyPlace && (upsert || elsewhere || depends(p, item) || changes(item, p.Has)) ||
			p.Kind == plan.MarkerPlace && (upsert || elsewhere || depends(p, item) || expires) ||
			p.Kind == plan.EntryPlace && !p.Undeclared && (upsert && !given(item.Step, p) || !upsert && depends(p, item) && (n.counted(e) || !assigned(item, p))) {
			return true
		}
	}
	return slices.ContainsFunc(n.design.Entities, func(holder *design.Entity) bool {
		return slices.ContainsFunc(holder.Counters, func(c *design.Counter) bool {
			counted := append(c.Where.Fields(), c.Sum)
			for _, j := range design.Owner(e, holder, c.By) {
				counted = append(counted, j.A)
			}
			return c.Of == e.Name && (item.Action != design.Update || changes(item, func(f string) bool { return slices.Contains(counted, f) }))
		})
	})
}

// given reports whether an upsert determines the whole key of an entry, whether the item exists or not.
func given(s *design.Step, p plan.Place) bool {
	e := p.Entity
	return p.Where == nil && !slices.ContainsFunc(fieldsOf(p), func(name string) bool {
		f := e.Field(name)
		rests := func(a *design.Assignment) bool {
			return a.Field == name && !slices.ContainsFunc(a.Value.Terms, isField)
		}
		counted := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == name })
		switch {
		case slices.Contains(plan.KeyFields(e), name):
			return false
		case f == nil || f.Optional || counted || e.TTL != nil && e.TTL.Field == name:
			return true
		default:
			changed := slices.ContainsFunc(s.Assignments(), func(a *design.Assignment) bool { return design.Root(a.Field) == name })
			return changed && !slices.ContainsFunc(s.Set, rests)
		}
	})
}

// counted reports whether a counter counts an entity's items.
func (n *needs) counted(e *design.Entity) bool {
	return slices.ContainsFunc(n.design.Entities, func(holder *design.Entity) bool {
		return slices.ContainsFunc(holder.Counters, func(c *design.Counter) bool { return c.Of == e.Name })
	})
}

// assigned reports whether an update determines the whole key of an entry, so that the old item need not be read.
func assigned(item plan.ItemWrite, p plan.Place) bool {
	e := p.Entity
	return item.Action == design.Update && !item.Counter() && p.Where == nil && !slices.ContainsFunc(fieldsOf(p), func(name string) bool {
		f := e.Field(name)
		set := slices.ContainsFunc(item.Step.Set, func(a *design.Assignment) bool {
			return a.Field == name && !slices.ContainsFunc(a.Value.Terms, isField)
		})
		return !slices.Contains(plan.KeyFields(e), name) && (!set || f == nil || f.Optional)
	})
}

func isField(t design.Term) bool { return t.Kind == design.FieldTerm }

// computes reports whether a step assigns sums that no DynamoDB expression can express.
func computes(s *design.Step) bool {
	fields := func(a *design.Assignment) (n, negative int) {
		for _, t := range a.Value.Terms {
			if isField(t) {
				if n++; t.Negative {
					negative++
				}
			}
		}
		return n, negative
	}
	return slices.ContainsFunc(s.Assignments(), func(a *design.Assignment) bool {
		n, negative := fields(a)
		set := slices.Contains(s.Set, a)
		return n > 0 && (!set || n > 2 || n == 2 && len(a.Value.Terms) > 2 || negative == len(a.Value.Terms))
	})
}

// nested reports whether a step changes something inside a field.
func nested(s *design.Step) bool {
	return slices.ContainsFunc(s.Changed(), func(f string) bool {
		inside := func(path string) bool { return path != f && design.Root(path) == f }
		return slices.ContainsFunc(s.Assignments(), func(a *design.Assignment) bool { return inside(a.Field) }) || slices.ContainsFunc(s.Remove, inside)
	})
}

func fieldsOf(p plan.Place) []string {
	var out []string
	for _, t := range slices.Concat(p.PK, p.SK) {
		out = append(out, t.Fields()...)
	}
	return out
}

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(f string) bool { return !slices.Contains(all, f) })
}
