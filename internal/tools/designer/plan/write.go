package plan

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
)

// WritePlan describes how a write is executed: one request if it touches one item, batches if it is declared as a batch,
// otherwise one transaction.
type WritePlan struct {
	Write *design.Write
	// Items are the items that are touched, in the order of the steps; the idempotency record comes first.
	Items []ItemWrite
}

// ItemWrite is what a write does with one item, or with one for each line.
type ItemWrite struct {
	// Step is the step that causes the write; nil for an idempotency record.
	Step   *design.Step
	Place  Place // of the item: key, copy or marker
	Action design.Action
	Each   bool
	// Changed are the fields that an update changes; nil if the whole item is put or deleted.
	Changed []string
	Entries []EntryWrite
	// Left is set for the counters of the item that the counted item leaves for another: it is not the item that a step names.
	Left bool
	// Owner says which fields of Step's item identify the item that has its counters; nil for anything but a counter.
	Owner []design.Join
}

// EntryEffect is the effect of a write on an index entry.
type EntryEffect uint8

// The effects.
const (
	EntryUntouched EntryEffect = iota // nothing in it changes: free
	EntryAdded
	EntryRemoved
	EntryUpdated // a projected field changes
	EntryMoved   // its key changes: one entry removed, one added
)

// String is the effect as a participle.
func (e EntryEffect) String() string {
	return [...]string{"untouched", "added", "removed", "updated", "moved"}[e]
}

// EntryWrite is the effect on an item's entry in one index.
type EntryWrite struct {
	Place  Place
	Effect EntryEffect
	// Certain means that the write itself puts the item into the index, or takes it out: the place's share does not matter.
	Certain bool
	// Share is the part of the writes that have the effect, if it differs from the place's; 0 if it does not.
	Share float64
}

// Part is the part of the writes that have the effect.
func (e EntryWrite) Part() float64 {
	switch {
	case e.Share > 0:
		return e.Share
	case e.Certain:
		return 1
	default:
		return e.Place.Part()
	}
}

// Transaction reports whether the write needs a transaction.
func (p WritePlan) Transaction() bool {
	return !p.Write.Batch && (len(p.Items) > 1 || len(p.Items) == 1 && p.Items[0].Each)
}

// Actions is the number of items the write touches: a fixed number, and a number per line.
func (p WritePlan) Actions() (fixed, perLine int) {
	for _, i := range p.Items {
		if i.Each {
			perLine++
		} else {
			fixed++
		}
	}
	return fixed, perLine
}

// ForWrite plans a write: its steps with their consequences. Creating an entity puts its copies and markers; changing it
// changes the copies of the changed fields, and moves copies and markers whose key changes: one deleted, one put; deleting it
// deletes them. Counters of other entities are maintained, by the step on their item if there is one; an idempotent write puts
// its record.
func ForWrite(d *design.Design, w *design.Write) WritePlan {
	p := writer{design: d, plan: WritePlan{Write: w}}
	if w.Idempotent != nil {
		if record := d.Entity(w.Idempotent.With); record != nil {
			p.add(ItemWrite{Place: Places(d, record)[0], Action: design.Create})
		}
	}
	for _, s := range w.Steps {
		e := d.Entity(s.Entity)
		changed := changedFields(e, s)
		for _, place := range Places(d, e) {
			if place.Kind == EntryPlace || !touches(d, place, s, changed) {
				continue
			}
			item := ItemWrite{Step: s, Place: place, Action: s.Action, Each: s.Each}
			if s.Action == design.Update || s.Action == design.Upsert {
				item.Changed = changed
			}
			p.addMoved(item)
		}
		p.count(e, s)
	}
	p.join()
	p.follow()
	return p.plan
}

// addMoved adds an item or, if a change moves a copy or marker, its removal and the new one.
func (p *writer) addMoved(item ItemWrite) {
	changed := item.Changed
	if item.Action == design.Upsert {
		changed = slices.DeleteFunc(mayChange(item.Place.Entity, item.Step), func(f string) bool { return keeps(item, f) })
		for _, c := range item.Place.Entity.Counters {
			if slices.Contains(item.Changed, c.Field) {
				changed = append(changed, c.Field)
			}
		}
	}
	if item.Place.Kind != KeyPlace && moves(item.Place, changed) {
		item.Changed, item.Action = nil, design.Delete
		p.add(item)
		item.Action = design.Create
	} else if item.Place.Kind == MarkerPlace && item.Action == design.Update {
		item.Action = design.Put // it is written again, with the new expiry
	}
	p.add(item)
}

// writer makes the plan of a write.
type writer struct {
	design *design.Design
	plan   WritePlan
}

// touches reports whether a step affects an item at the place.
func touches(d *design.Design, place Place, s *design.Step, changed []string) bool {
	switch {
	case place.Kind == KeyPlace:
		return true
	case s.Action == design.Check:
		return false
	case s.Action == design.Create || s.Action == design.Put || s.Action == design.Delete || s.Action == design.Upsert:
		return true // an upsert may create the item
	default:
		return follows(d, place, changed)
	}
}

// follows reports whether a change of an item's fields affects its copy or marker at the place.
func follows(d *design.Design, place Place, changed []string) bool {
	return slices.ContainsFunc(changed, place.Has) || slices.ContainsFunc(Places(d, place.Entity), func(entry Place) bool {
		of := entry.Kind == EntryPlace && !entry.Undeclared && entry.SameItem(place) // the copy has this key, whatever else it contains
		return of && (moves(entry, changed) || slices.ContainsFunc(entry.Where.Fields(), func(f string) bool { return slices.Contains(changed, f) }))
	})
}

// moves reports whether a change of fields changes the key of an item at a place.
func moves(place Place, changed []string) bool {
	return slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(fieldsOf(place.PK, place.SK), f) })
}

// changedFields are the fields of an entity that a step says it changes.
func changedFields(e *design.Entity, s *design.Step) []string {
	return slices.DeleteFunc(s.Changed(), func(f string) bool { return e.Field(f) == nil })
}

// mayChange are all fields that a step may change: an upsert also sets those that it does not mention, from inputs of their
// names.
func mayChange(e *design.Entity, s *design.Step) []string {
	out := changedFields(e, s)
	if s.Action != design.Upsert {
		return out
	}
	for _, f := range e.Fields {
		counter := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
		if !counter && !slices.Contains(out, f.Name) && !slices.Contains(KeyFields(e), f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// count adds the counters that a step changes: one update for each item with counters, however many it has, and two if the
// counted item may leave one item for another.
func (p *writer) count(of *design.Entity, s *design.Step) {
	if s.Action == design.Check {
		return
	}
	changed := mayChange(of, s)
	for _, e := range p.design.Entities {
		for _, by := range countedBy(e, of) {
			p.countBy(of, s, e, by, changed)
		}
	}
}

// countedBy are the ways in which items of an entity identify the items of another that count them.
func countedBy(e, of *design.Entity) []string {
	var out []string
	for _, c := range e.Counters {
		if c.Of == of.Name && !slices.Contains(out, c.By) {
			out = append(out, c.By)
		}
	}
	return out
}

// countBy adds the counters of the item that the counted item identifies in one way.
func (p *writer) countBy(of *design.Entity, s *design.Step, e *design.Entity, by string, changed []string) {
	join := design.Owner(of, e, by)
	left := leaves(of, join, changed)
	var fields []string
	for _, c := range e.Counters {
		counted := append(c.Where.Fields(), c.Sum)
		same := s.Action == design.Update && !left && !slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(counted, f) })
		if c.Of == of.Name && c.By == by && !same {
			fields = append(fields, c.Field)
		}
	}
	if len(fields) == 0 {
		return
	}
	item := ItemWrite{Step: s, Owner: join, Place: Places(p.design, e)[0], Action: design.Update, Each: s.Each && !p.one(s, join), Changed: fields}
	p.addCounter(item)
	if left {
		item.Left = true
		p.addCounter(item)
	}
}

// addCounter adds counters of an item, to others of the same item if there are any, and the counters that sum them.
func (p *writer) addCounter(item ItemWrite) {
	e := item.Place.Entity
	i := slices.IndexFunc(p.plan.Items, func(i ItemWrite) bool {
		return i.Counter() && i.Place.Entity == e && i.Each == item.Each && !i.Left && !item.Left && sameOwner(i, item)
	})
	if i < 0 {
		p.add(item)
	} else {
		same := &p.plan.Items[i]
		same.Changed = slices.Clone(same.Changed)
		for _, f := range item.Changed {
			if !slices.Contains(same.Changed, f) {
				same.Changed = append(same.Changed, f)
			}
		}
		same.Entries = entries(p.design, *same)
	}
	for _, above := range p.design.Entities {
		for _, by := range countedBy(above, e) {
			next := item
			next.Place, next.Changed = Places(p.design, above)[0], nil
			for _, c := range above.Counters {
				if counted := append(c.Where.Fields(), c.Sum); c.Of == e.Name && c.By == by && slices.ContainsFunc(counted, func(f string) bool { return slices.Contains(item.Changed, f) }) {
					next.Changed = append(next.Changed, c.Field)
				}
			}
			if len(next.Changed) == 0 {
				continue
			}
			var known bool
			next.Owner, known = through(item.Owner, design.Owner(e, above, by))
			next.Left = next.Left || !known
			p.addCounter(next)
		}
	}
}

// through are the fields that identify an item by way of another: known if the key of that one has them.
func through(first, second []design.Join) (out []design.Join, known bool) {
	known = true
	for _, j := range second {
		i := slices.IndexFunc(first, func(own design.Join) bool { return own.B == j.A })
		if known = known && i >= 0; i >= 0 {
			j.A = first[i].A
		}
		out = append(out, j)
	}
	return out, known
}

// sameOwner reports whether counters are certainly those of one item: each field of its key has the same value.
func sameOwner(a, b ItemWrite) bool {
	return !slices.ContainsFunc(a.Owner, func(j design.Join) bool {
		i := slices.IndexFunc(b.Owner, func(other design.Join) bool { return other.B == j.B })
		if i < 0 {
			return true
		}
		x, _ := valueFor(a.Step, j.A)
		y, _ := valueFor(b.Step, b.Owner[i].A)
		return x != y
	})
}

// leaves reports whether a change of fields moves an item from the entity's item that counts it to another.
func leaves(of *design.Entity, join []design.Join, changed []string) bool {
	return slices.ContainsFunc(join, func(j design.Join) bool { return slices.Contains(changed, j.A) && !slices.Contains(KeyFields(of), j.A) })
}

// join merges counters into the steps on their items: a check becomes an update under its condition, and a step that creates
// or deletes the item includes the counter.
func (p *writer) join() {
	items := p.plan.Items
	joined := map[int]bool{}
	for n, i := range items {
		at := slices.IndexFunc(items, func(of ItemWrite) bool {
			return i.Counter() && !i.Left && of.Step != nil && !of.Counter() && of.Place.String() == i.Place.String() && of.Each == i.Each &&
				sameItem(i, of.Step)
		})
		if at < 0 {
			continue
		}
		joined[n] = true
		of := &items[at]
		if of.Action == design.Check {
			of.Action = design.Update
		}
		if of.Action == design.Update || of.Action == design.Upsert {
			of.Changed = slices.Clone(of.Changed) // the copies share the list
			for _, f := range i.Changed {
				if !slices.Contains(of.Changed, f) {
					of.Changed = append(of.Changed, f)
				}
			}
			of.Entries = entries(p.design, *of)
		}
	}
	p.plan.Items = nil
	for n, i := range items {
		if !joined[n] {
			p.plan.Items = append(p.plan.Items, i)
		}
	}
}

// follow adds the copies and markers of items with counters: what a step changes of the same item is written with them.
func (p *writer) follow() {
	items := p.plan.Items
	p.plan.Items = nil
	counts := func(i ItemWrite) bool {
		return i.Place.Kind == KeyPlace && (i.Action == design.Update || i.Action == design.Upsert) && slices.ContainsFunc(i.Place.Entity.Counters, func(c *design.Counter) bool {
			return slices.Contains(i.Changed, c.Field)
		})
	}
	for _, i := range items {
		if i.Place.Kind != KeyPlace && slices.ContainsFunc(items, func(of ItemWrite) bool {
			return of.Step == i.Step && of.Place.Entity == i.Place.Entity && of.Owner == nil && counts(of)
		}) {
			continue // added again below
		}
		p.plan.Items = append(p.plan.Items, i)
		if !counts(i) {
			continue
		}
		for _, place := range Places(p.design, i.Place.Entity) {
			if (place.Kind == CopyPlace || place.Kind == MarkerPlace) && follows(p.design, place, i.Changed) {
				copied := i
				copied.Place = place
				p.addMoved(copied)
			}
		}
	}
}

// sameItem reports whether a step is on the counter's item: each field of its key has the same value.
func sameItem(counter ItemWrite, s *design.Step) bool {
	return !slices.ContainsFunc(counter.Owner, func(j design.Join) bool {
		counted, _ := valueFor(counter.Step, j.A)
		own, _ := valueFor(s, j.B)
		return counted != own
	})
}

// KnownValue is the value of a field of the item's key, as the write determines it; "" if it has to be read.
func (i ItemWrite) KnownValue(field string) string {
	if i.Left || i.Step == nil {
		return ""
	}
	for _, j := range i.Owner {
		if j.B == field {
			field = j.A
		}
	}
	value, _ := valueFor(i.Step, field)
	return value
}

// valueFor is a step's value for a field of its item: the assigned value, or else the parameter of the field's name.
func valueFor(s *design.Step, field string) (value string, given bool) {
	for _, a := range slices.Concat(s.By, s.Set) {
		if a.Field == field {
			return a.Value.Text, true
		}
	}
	return ":" + field, false
}

// Counter reports whether the item is written only for its counters, which a step on another entity changes.
func (i ItemWrite) Counter() bool { return i.Step != nil && i.Step.Entity != i.Place.Entity.Name }

// Key is the key of the item, in the fields of the step's item.
func (i ItemWrite) Key() []KeyValue {
	own := i.Place
	for _, side := range []*[]*design.Template{&own.PK, &own.SK} {
		*side = slices.Clone(*side)
		for n, t := range *side {
			parts := slices.Clone(t.Parts)
			for p := range parts {
				if at := slices.IndexFunc(i.Owner, func(j design.Join) bool { return j.B == parts[p].Field }); at >= 0 {
					parts[p].Field = i.Owner[at].A
				}
			}
			(*side)[n] = &design.Template{Parts: parts, Text: partsText(parts)}
		}
	}
	return own.Key()
}

// one reports whether all lines of the write are counted on one item: a step that is not repeated determines it.
func (p *writer) one(s *design.Step, join []design.Join) bool {
	var known []string
	for _, other := range p.plan.Write.Steps {
		if !other.Each {
			known = append(known, KeyFields(p.design.Entity(other.Entity))...)
		}
	}
	return !slices.ContainsFunc(join, func(j design.Join) bool {
		value, given := valueFor(s, j.A)
		return !slices.Contains(known, j.A) && (!given || strings.Contains(value, "line.") || strings.Contains(value, "newID"))
	})
}

func (p *writer) add(item ItemWrite) {
	item.Entries = entries(p.design, item)
	p.plan.Items = append(p.plan.Items, item)
}

// entries are the effects on the index entries of an item.
func entries(d *design.Design, item ItemWrite) []EntryWrite {
	if item.Action == design.Check {
		return nil
	}
	var out []EntryWrite
	for _, entry := range Places(d, item.Place.Entity) {
		if entry.Kind == EntryPlace && entry.SameItem(item.Place) {
			out = append(out, EntryWrite{Place: entry, Effect: effect(d, entry, item), Certain: decides(entry, item)})
		}
	}
	byTurns(d, item, out)
	return out
}

// byTurns sets the shares of an item's alternative entries in one index if a write decides between them: at most one is
// removed, and at most one added.
func byTurns(d *design.Design, item ItemWrite, list []EntryWrite) {
	turns := func(e EntryWrite, x *design.Index) bool {
		return e.Place.Entry != "" && e.Place.Index == x && e.Certain && e.Effect != EntryUntouched
	}
	left := map[*design.Index]float64{}
	for _, e := range list {
		if turns(e, e.Place.Index) && e.Effect == EntryRemoved {
			left[e.Place.Index] += e.Place.Part()
		}
	}
	for i := range list {
		e := &list[i]
		if !turns(*e, e.Place.Index) {
			continue
		}
		switch in, _ := Implied(d, e.Place.Entity, e.Place.Where, item.Step); {
		case e.Effect == EntryRemoved && left[e.Place.Index] > 0:
			e.Share = e.Place.Part() / left[e.Place.Index]
		case e.Effect == EntryAdded && !in && (item.Action == design.Create || item.Action == design.Put):
			e.Share = e.Place.Part()
		case !in && e.Effect != EntryRemoved:
			e.Effect, e.Share = EntryMoved, e.Place.Part() // it leaves this entry, or enters it
		}
	}
}

// effect is the effect of a write on an entry of its item. A put is assumed to create the item, an upsert to update an
// existing one: an upserted item is created once and updated from then on.
func effect(d *design.Design, entry Place, item ItemWrite) EntryEffect {
	_, out := Implied(d, entry.Entity, entry.Where, item.Step)
	switch item.Action {
	case design.Create, design.Put:
		if out {
			return EntryUntouched
		}
		return EntryAdded
	case design.Delete:
		return EntryRemoved
	default:
	}
	changed := item.Changed
	if item.Action == design.Upsert && item.Step != nil {
		changed = slices.DeleteFunc(slices.Clone(changed), func(f string) bool { return keeps(item, f) })
	}
	within := func(fields []string) bool {
		return slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(fields, f) })
	}
	moved := within(fieldsOf(entry.PK, entry.SK))
	enters, was := within(entry.Where.Fields()), had(d, entry, item)
	switch {
	case enters && out && !was, !enters && !was:
		return EntryUntouched
	case enters && out, without(entry, item.Step):
		return EntryRemoved
	case enters && (!moved || !was):
		return EntryAdded // or removed, at the same price
	case moved:
		return EntryMoved
	case slices.ContainsFunc(changed, entry.Has):
		return EntryUpdated
	default:
		return EntryUntouched
	}
}

// had reports whether an updated item may have had an entry: the update's condition does not exclude it.
func had(d *design.Design, entry Place, item ItemWrite) bool {
	if item.Action != design.Update || entry.Where == nil || item.Step == nil || item.Step.When == nil || item.Step.Entity != entry.Entity.Name {
		return true
	}
	both, decided := expression.Overlap(d, entry.Entity, item.Step.When, entry.Where)
	return both != "" || !decided
}

// keeps reports whether an upsert leaves a field of an existing item unchanged: a field of its key, or one that only init
// sets.
func keeps(item ItemWrite, field string) bool {
	assigns := func(list []*design.Assignment) bool {
		return slices.ContainsFunc(list, func(a *design.Assignment) bool { return design.Root(a.Field) == field })
	}
	given := assigns(item.Step.Init) && !assigns(item.Step.Set) && !assigns(item.Step.Add)
	return given || slices.Contains(KeyFields(item.Place.Entity), field)
}

// decides reports whether the step decides by what it assigns whether the item has the entry: a field of its condition, or an
// optional field of its key. A create that sets a parameter decides nothing.
func decides(entry Place, item ItemWrite) bool {
	if item.Step == nil || item.Action == design.Delete {
		return false
	}
	matters := entry.Where.Fields()
	for _, name := range fieldsOf(entry.PK, entry.SK) {
		if f := entry.Entity.Field(name); f != nil && f.Optional {
			matters = append(matters, name)
		}
	}
	changed := item.Changed
	if item.Action == design.Create || item.Action == design.Put {
		changed = nil
		for _, a := range item.Step.Set {
			if len(a.Value.Terms) == 1 && a.Value.Terms[0].Kind == design.ConstantTerm {
				changed = append(changed, a.Field)
			}
		}
	}
	return slices.ContainsFunc(changed, func(f string) bool { return slices.Contains(matters, f) })
}

// without reports whether a step takes an item out of an index by removing a field of its key there.
func without(entry Place, s *design.Step) bool {
	return s != nil && s.Entity == entry.Entity.Name && slices.ContainsFunc(s.Remove, func(f string) bool { return slices.Contains(fieldsOf(entry.PK, entry.SK), f) })
}

// Implied is what follows for the condition of an index once a step has been made, from the constants it sets and the fields it
// removes: that the item is in the index, or that it is not. Usually neither is known.
func Implied(d *design.Design, e *design.Entity, where *design.Condition, s *design.Step) (in, out bool) {
	if where == nil || s == nil || s.Entity != e.Name {
		return false, false
	}
	given := map[string]types.AttributeValue{}
	var present []string
	for _, a := range s.Set {
		present = append(present, a.Field)
		if len(a.Value.Terms) == 1 && a.Value.Terms[0].Kind == design.ConstantTerm {
			given[a.Field] = expression.Constant(a.Value.Terms[0].Constant)
		}
	}
	for _, f := range s.Remove {
		given[f] = nil
	}
	if !slices.ContainsFunc(where.Fields(), func(f string) bool { _, known := given[f]; return known || slices.Contains(present, f) }) {
		return false, false
	}
	return expression.Decide(d, e, where, given, present)
}
