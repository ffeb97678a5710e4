package lower

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// person lowers the export and erasure of a person's items: to reads and writes as the design could declare them, so that copies,
// markers, counters and index entries follow as they do for these.
func (l *lowerer) person() {
	p := plan.ForPerson(l.program.Design)
	if p == nil {
		return
	}
	l.silent = true
	defer func() { l.silent = false }()
	l.program.Person = &table.Person{Field: p.Field, Parts: l.personParts(p.Parts)}
}

func (l *lowerer) personParts(list []*plan.PersonPart) []*table.PersonPart {
	var out []*table.PersonPart
	for _, p := range list {
		part := &table.PersonPart{Entity: l.entities[p.Entity.Name], Field: p.Field, Others: p.Others, Parts: l.personParts(p.Parts)}
		switch p.Fate.Do {
		case design.FateKeep:
			part.Keep = p.Fate.Reason
		case design.FateExpire:
			part.Expires = true
		default:
		}
		if p.Plan != nil {
			part.Read = l.personRead(p.Read)
		}
		if w := eraseWrite(l.program.Design, p); w != nil && part.Read != nil {
			part.Erase = l.personWrite(w)
		}
		out = append(out, part)
	}
	return out
}

func (l *lowerer) personRead(r *design.Read) *table.Read {
	n := len(l.program.Reads)
	l.read(r)
	if len(l.program.Reads) == n {
		return nil // the fault is told
	}
	run := l.program.Reads[n].Run
	l.program.Reads = l.program.Reads[:n]
	return run
}

func (l *lowerer) personWrite(w *design.Write) *table.Write {
	n := len(l.program.Writes)
	l.write(w)
	if len(l.program.Writes) == n {
		return nil // the fault is told
	}
	run := l.program.Writes[n].Run
	l.program.Writes = l.program.Writes[:n]
	return run
}

// eraseWrite is the write that a part's items get; nil where they stay as they are. Where the key does not say whose an item is, the
// write is conditional on that.
func eraseWrite(d *design.Design, p *plan.PersonPart) *design.Write {
	w := &design.Write{Name: "Erase" + p.Entity.Name, Pos: p.Fate.Pos}
	s := &design.Step{Entity: p.Entity.Name, Pos: p.Fate.Pos}
	if p.Field != "" && !slices.Contains(plan.KeyFields(p.Entity), p.Field) {
		s.When, _ = design.ParseCondition(p.Field + " = :" + p.Field) // a name is a name
	}
	switch {
	case p.Fate.Do == design.FateKeep && p.Fate.Changes():
		s.Action, s.Set, s.Remove = design.Update, p.Fate.Set, p.Fate.Remove
	case p.Fate.Do != design.FateDelete:
		return nil
	default:
		s.Action = design.Delete
		if s.When == nil && alone(d, p.Entity) {
			w.Batch, w.Lines, s.Each = true, &design.Lines{}, true
		}
	}
	w.Steps = []*design.Step{s}
	return w
}

// alone reports whether nothing follows an entity's items, so that they can be deleted in batches.
func alone(d *design.Design, of *design.Entity) bool {
	return len(of.Copies)+len(of.Unique) == 0 && !slices.ContainsFunc(d.Entities, func(e *design.Entity) bool {
		return slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Of == of.Name })
	})
}
