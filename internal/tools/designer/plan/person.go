package plan

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// personPage is the number of items found at once.
const personPage = 100

// PersonPart is a way to reach items of a person: by a field that identifies the person, or through an item of the person to
// which they belong.
type PersonPart struct {
	Entity *design.Entity
	// Field identifies the person; "" if the items belong to those of another part.
	Field string
	// Fate is what the design declares, or what its keys imply: items in the person's own partition, and items that
	// belong to deleted items, are deleted.
	Fate design.Fate
	// Read finds the items, by Field or by the fields of the other part's items. Plan is its plan, nil if no key serves it.
	Read *design.Read
	Plan *Plan
	// Others means that the items are other people's, and are not exported: they only refer to the person, or belong to one of
	// the person's items.
	Others bool
	// Parts are the ways from each item to the items that belong to it.
	Parts []*PersonPart
}

// Person describes how the items of a person are found.
type Person struct {
	// Field identifies a person; its type is Type.
	Field string
	Type  design.Type
	// Own is the person's own entity, whose key is the field alone; nil if there is none. Its part is the last.
	Own   *design.Entity
	Parts []*PersonPart
}

// ForPerson plans the export and the erasure of a person's items; nil if the design has no persons.
func ForPerson(d *design.Design) *Person {
	if d.Person == "" {
		return nil
	}
	p := &Person{Field: d.Person}
	met := map[*design.Entity]bool{}
	var own *PersonPart
	if i := slices.IndexFunc(d.Entities, func(e *design.Entity) bool { return e.Field(p.Field) != nil }); i >= 0 {
		p.Type = d.Entities[i].Field(p.Field).Type
	}
	for _, e := range d.Entities {
		for _, part := range p.direct(d, e) {
			met[e] = true
			if p.Own == nil && part.Field == p.Field && slices.Equal(KeyFields(e), []string{p.Field}) {
				p.Own, own = e, part
				continue
			}
			p.Parts = append(p.Parts, part)
		}
	}
	if own != nil {
		p.Parts = append(p.Parts, own)
	}
	p.belongings(d, p.Parts, met, map[*design.Entity]bool{})
	return p
}

// direct are the ways to an entity's items by fields that identify the person.
func (p *Person) direct(d *design.Design, e *design.Entity) []*PersonPart {
	var out []*PersonPart
	if e.Field(p.Field) != nil && e.Fate(p.Field) == nil && slices.Equal(fieldsOf(templates(e.Key.PK)), []string{p.Field}) {
		out = append(out, p.by(d, e, design.Fate{Field: p.Field, Do: design.FateDelete, Pos: e.Pos}))
	}
	for _, fate := range e.Personal {
		if f := e.Field(fate.Field); f != nil {
			out = append(out, p.by(d, e, *fate))
		}
	}
	return out
}

func (p *Person) by(d *design.Design, e *design.Entity, fate design.Fate) *PersonPart {
	part := &PersonPart{Entity: e, Field: fate.Field, Fate: fate, Others: fate.Field != p.Field && e.Field(p.Field) != nil}
	if e.Field(fate.Field).Type.Kind == p.Type.Kind { // otherwise it identifies the person by something other than the id
		part.find(d, fate.Field)
	}
	return part
}

// find plans the read of the part's items by fields.
func (part *PersonPart) find(d *design.Design, by ...string) {
	part.Read = &design.Read{
		Name: "Personal" + part.Entity.Name, Entity: part.Entity.Name, Many: true, By: by, Page: personPage, Consistent: true, Pos: part.Fate.Pos,
	}
	for _, f := range part.Entity.Fields {
		part.Read.Returns = append(part.Read.Returns, f.Name)
	}
	for _, name := range by {
		if !part.Entity.Field(name).Type.Scalar() {
			return
		}
	}
	found := ForRead(d, part.Read).Plan
	if !found.Unserved() && found.Place.Where == nil && !found.Place.Sparse() && len(found.FilterBy) == 0 {
		part.Plan = found
	}
}

// belongings finds what belongs to the items of parts: entities whose key contains all fields of theirs, and whose partition
// key those fields determine. An entity belongs to the first part that has it. An entity whose items identify persons
// themselves belongs to an item only if its key says more.
func (p *Person) belongings(d *design.Design, parts []*PersonPart, met, belonging map[*design.Entity]bool) {
	for _, part := range parts {
		if part.Others || part.Plan == nil {
			continue
		}
		key := KeyFields(part.Entity)
		for _, e := range d.Entities {
			partition := fieldsOf(templates(e.Key.PK))
			own := met[e] && (slices.Contains(partition, p.Field) || subset(KeyFields(e), key)) // it is found already
			if e == part.Entity || own || belonging[e] || len(partition) == 0 || !subset(key, KeyFields(e)) || !subset(partition, key) {
				continue
			}
			child := &PersonPart{Entity: e, Fate: part.Fate, Others: e.Field(p.Field) != nil && !slices.Contains(partition, p.Field)}
			if child.find(d, partition...); child.Plan == nil {
				continue
			}
			if child.Fate.Do == design.FateKeep {
				child.Fate.Set, child.Fate.Remove = nil, nil
			}
			belonging[e] = true
			part.Parts = append(part.Parts, child)
		}
		p.belongings(d, part.Parts, met, belonging)
	}
}

// Erase is the write for the part's items; nil if they stay as they are, or nothing finds them. If the key does not say whose
// an item is, the write is conditional on that.
func (part *PersonPart) Erase(d *design.Design) *design.Write {
	w := &design.Write{Name: "Erase" + part.Entity.Name, Pos: part.Fate.Pos}
	s := &design.Step{Entity: part.Entity.Name, Pos: part.Fate.Pos}
	if part.Field != "" && !slices.Contains(KeyFields(part.Entity), part.Field) {
		s.When, _ = design.ParseCondition(part.Field + " = :" + part.Field) // the name is known to be valid
	}
	switch {
	case part.Plan == nil:
		return nil
	case part.Fate.Do == design.FateKeep && part.Fate.Changes():
		s.Action, s.Set, s.Remove = design.Update, part.Fate.Set, part.Fate.Remove
	case part.Fate.Do != design.FateDelete:
		return nil
	default:
		s.Action = design.Delete
		if s.When == nil && alone(d, part.Entity) {
			w.Batch, w.Lines, s.Each = true, &design.Lines{}, true
		}
	}
	w.Steps = []*design.Step{s}
	return w
}

// alone reports whether deleting an entity's items has no consequences, so that they can be deleted in batches.
func alone(d *design.Design, of *design.Entity) bool {
	return len(of.Copies)+len(of.Unique) == 0 && !slices.ContainsFunc(d.Entities, func(e *design.Entity) bool {
		return slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Of == of.Name })
	})
}

// Each calls do for each part, parents first.
func (p *Person) Each(do func(*PersonPart)) {
	if p != nil {
		each(p.Parts, do)
	}
}

func each(parts []*PersonPart, do func(*PersonPart)) {
	for _, part := range parts {
		do(part)
		each(part.Parts, do)
	}
}

func subset(some, all []string) bool {
	return !slices.ContainsFunc(some, func(name string) bool { return !slices.Contains(all, name) })
}
