package generate

import (
	"slices"
	"strconv"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

type writeModel struct {
	*lower.Write
	Go            string
	input, line   string // types, "" for none
	inputs, lines []member
	result        string // a type, "" if there is nothing to return
	returned      []returnedModel
	record        *entityModel // of an idempotent write
	// One of these answers a repetition; without either, the record does.
	replayRead        *readModel
	replayCollection  *collectionModel
	owner             string // of the replay, if the caller passes it
	variable, outcome string // outcome is the function that makes the result
}

// returnedModel is an item that a write returns.
type returnedModel struct {
	step   int
	field  string // of the result
	entity *entityModel
	each   bool
	// maybe is set for a previous item, which the result only has if the write has read it.
	maybe bool
}

func (m *model) nameWrite(w *lower.Write) *writeModel {
	d := w.Design
	x := &writeModel{Write: w, Go: m.method(d.Name, d.Pos)}
	fields := m.scope()
	if w.Run.Lines {
		fields = m.scope("Lines", "the field Lines")
		x.lines = m.inputs(m.scope(), d.Name+"'s line", d.Pos, w.Lines, "")
		x.line = m.names.take(x.Go+"Line", "line of "+d.Name, d.Name, d.Pos)
	}
	x.inputs = m.inputs(fields, d.Name, d.Pos, w.Inputs, "")
	if len(x.inputs) > 0 || w.Run.Lines {
		x.input = m.names.take(x.Go+"Input", "input of "+d.Name, d.Name, d.Pos)
	}
	results := m.scope("Replayed", "the field Replayed")
	if d.Idempotent != nil && m.language != "Go" {
		results.names["Record"] = "the field record" // of a repetition
	}
	uses := map[string]int{}
	for i, s := range d.Steps {
		e := m.entity(s.Entity)
		created := s.Action == design.Create || s.Action == design.Put
		changed := s.Action == design.Update || s.Action == design.Upsert
		if !created && (!changed || s.Each) {
			continue
		}
		name := e.Go
		if s.Name != "" {
			name = exported(s.Name)
		} else if uses[name]++; uses[name] > 1 {
			name += strconv.Itoa(uses[name])
		}
		results.take(name, "entity "+e.Name, d.Name, s.Pos)
		x.returned = append(x.returned, returnedModel{step: i, field: name, entity: e, each: s.Each, maybe: changed && w.Plan.Transaction()})
	}
	if len(x.returned) > 0 || d.Idempotent != nil {
		x.result = m.names.take(x.Go+"Result", "result of "+d.Name, d.Name, d.Pos)
	}
	if d.Idempotent != nil {
		m.nameReplay(x, d.Idempotent)
	}
	return x
}

// nameReplay determines what answers a repetition, and checks that everything it needs is known.
func (m *model) nameReplay(x *writeModel, i *design.Idempotent) {
	x.record = m.entity(i.With)
	var needs []lower.Input
	if at := slices.IndexFunc(m.reads, func(r *readModel) bool { return r.Design.Name == i.Replay }); at >= 0 {
		x.replayRead = m.reads[at]
		x.owner, needs = x.replayRead.Design.Owner, x.replayRead.Inputs
	}
	if at := slices.IndexFunc(m.collections, func(c *collectionModel) bool { return c.Design.Name == i.Replay }); at >= 0 {
		x.replayCollection = m.collections[at]
		x.owner, needs = x.replayCollection.Design.Owner, x.replayCollection.Inputs
	}
	for _, in := range needs {
		same := func(name string, t design.Type) bool { return name == in.Name && t.String() == in.Type.String() }
		recorded := slices.ContainsFunc(x.record.members, func(f member) bool { return same(f.Name, f.Type) })
		given := slices.ContainsFunc(x.inputs, func(f member) bool { return same(f.Name, f.Type) })
		if !recorded && !given && !in.Optional {
			m.fault(x.Design.Name, i.Pos, "is replayed by %s, which needs %s: neither %s nor the write has it", i.Replay, in.Name, i.With)
		}
	}
	if !slices.ContainsFunc(x.inputs, func(f member) bool { return f.Name == x.owner }) {
		x.owner = ""
	}
}
