package lower

import (
	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// person lowers the export and erasure of a person's items to reads and writes that the design could declare itself, so that
// copies, markers, counters and index entries are maintained as usual.
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
		if w := p.Erase(l.program.Design); w != nil {
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
		return nil // the fault is reported
	}
	run := l.program.Reads[n].Run
	l.program.Reads = l.program.Reads[:n]
	return run
}

func (l *lowerer) personWrite(w *design.Write) *table.Write {
	n := len(l.program.Writes)
	l.write(w)
	if len(l.program.Writes) == n {
		return nil // the fault is reported
	}
	run := l.program.Writes[n].Run
	l.program.Writes = l.program.Writes[:n]
	return run
}
