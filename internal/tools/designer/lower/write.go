package lower

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// maxActions is the maximum number of items in a transaction.
const maxActions = 100

func (l *lowerer) write(w *design.Write) {
	before := len(l.faults)
	out := &Write{Design: w, Plan: plan.ForWrite(l.program.Design, w)}
	out.Inputs, out.Lines = l.writeInputs(w)
	if !l.runnable(out) || len(l.faults) > before {
		return
	}
	run := &table.Write{Pattern: w.Name, Batch: w.Batch, Params: l.params(out.Inputs), LineParams: l.params(out.Lines)}
	if w.Lines != nil {
		run.Lines, run.MaxLines = true, w.Lines.Max
		if fixed, each := out.Plan.Actions(); run.MaxLines == 0 && each > 0 && !w.Batch {
			run.MaxLines = (maxActions - fixed) / each
		}
	}
	for _, s := range w.Steps {
		run.Steps = append(run.Steps, l.step(out, s))
	}
	for _, i := range out.Plan.Items {
		if i.Counter() {
			l.declareNotFound(i.Place.Entity)
		}
	}
	if i := w.Idempotent; i != nil {
		run.Idempotent = &table.Idempotent{Record: l.entities[i.With], Request: i.Request}
		run.Idempotent.Reused = l.declare("Err"+i.With+"Reused", words(i.With), "ErrReused")
	}
	out.Run = run
	l.program.Writes = append(l.program.Writes, out)
}

// runnable rejects what no transaction can do.
func (l *lowerer) runnable(w *Write) bool {
	d := l.program.Design
	for _, s := range w.Design.Steps {
		e := d.Entity(s.Entity)
		if s.Action == design.Put && Lossy(d, e) != "" {
			l.fault(w.Design.Name, s.Pos, "replaces any existing %s, whose copies, markers and counters it does not know: use create, update or upsert", e.Name)
			return false
		}
	}
	if i := w.Design.Idempotent; i != nil {
		for _, name := range i.Request {
			given := slices.ContainsFunc(w.Inputs, func(in Input) bool { return in.Name == name })
			if !given && name != "lines" {
				l.fault(w.Design.Name, i.Pos, "compares %s, which is not an input: use params, input fields or lines", name)
				return false
			}
		}
	}
	if i := w.Design.Idempotent; i != nil && len(i.Request) > 0 && d.Entity(i.With).Field("request") == nil {
		l.fault(w.Design.Name, i.Pos, "compares requests, but %s has no field to store them: add request: text", i.With)
		return false
	}
	return true
}

func (l *lowerer) params(list []Input) []table.Param {
	var out []table.Param
	for _, in := range list {
		out = append(out, table.Param{
			Name: in.Name, Type: l.typeOf(in.Type), Optional: in.Optional, Removable: in.Removable || in.Emptied, MaxBytes: in.MaxBytes, MinBytes: in.MinBytes,
		})
	}
	return out
}

func (l *lowerer) step(w *Write, s *design.Step) table.Step {
	e := l.program.Design.Entity(s.Entity)
	typed := func(c *design.Condition) func(string) design.Type {
		return func(param string) design.Type {
			if name, ofLine := strings.CutPrefix(param, "line."); ofLine {
				return l.typeOfParam(e, c, w.Lines, name)
			}
			return l.typeOfParam(e, c, w.Inputs, param)
		}
	}
	out := table.Step{
		Action: action(s.Action), Entity: l.entities[e.Name], Each: s.Each, Name: s.Name, When: l.condition(e, s.When, typed(s.When)),
		By: assignments(s.By), Set: assignments(s.Set), Add: assignments(s.Add), Init: assignments(s.Init),
		Drop: assignments(s.Drop), Append: assignments(s.Append), Prepend: assignments(s.Prepend), Patch: s.Patch,
	}
	for _, path := range s.Remove {
		out.Remove = append(out.Remove, design.PathSteps(path))
	}
	for _, x := range s.Else {
		out.Else = append(out.Else, table.Else{Err: l.refusal(x.Error), When: l.condition(e, x.When, typed(x.When))})
	}
	l.ends(e, s)
	return out
}

// refusal is the error that an else names. NotFound and the like are the errors that patterns return anyway, so that callers in
// all languages recognize them as such.
func (l *lowerer) refusal(name string) error {
	for _, known := range Known {
		if known.Name == name {
			return known.Err
		}
	}
	return l.declare("Err"+name, "", "")
}

// ends declares the errors that a step can return without declaring them.
func (l *lowerer) ends(e *design.Entity, s *design.Step) {
	if l.silent {
		return
	}
	run := l.entities[e.Name]
	name := words(e.Name)
	switch s.Action {
	case design.Create:
		run.Exists = l.declare("Err"+e.Name+"Exists", name, "ErrExists")
	case design.Update, design.Delete:
		l.declareNotFound(e)
	case design.Check:
		if !slices.ContainsFunc(s.Else, func(x *design.Refusal) bool { return x.When == nil }) {
			l.declareNotFound(e)
		}
	default:
	}
	for i, m := range e.Unique {
		if s.Action != design.Delete && s.Action != design.Check {
			run.Markers[i].Taken = l.declare("Err"+e.Name+m.Name+"Taken", name+" "+words(m.Name)+" is taken", "ErrExists")
		}
	}
}

// declareNotFound declares the error for an item that must exist, for a step or for its counters.
func (l *lowerer) declareNotFound(e *design.Entity) {
	l.entities[e.Name].NotFound = l.declare("Err"+e.Name+"NotFound", words(e.Name), "ErrNotFound")
}

func action(a design.Action) table.Action {
	return map[design.Action]table.Action{
		design.Create: table.Create, design.Put: table.Put, design.Update: table.Update, design.Upsert: table.Upsert,
		design.Delete: table.Delete, design.Check: table.Check,
	}[a]
}

// assignments convert paths of field names, including paths into structures.
func assignments(list []*design.Assignment) []table.Assignment {
	var out []table.Assignment
	for _, a := range list {
		to := table.Assignment{Path: design.PathSteps(a.Field)}
		for _, t := range a.Value.Terms {
			to.Value = append(to.Value, term(t))
		}
		out = append(out, to)
	}
	return out
}

func term(t design.Term) table.Term {
	out := table.Term{Negative: t.Negative}
	switch t.Kind {
	case design.ConstantTerm:
		out.Kind, out.Constant = table.ConstantTerm, constant(t.Constant)
	case design.ParamTerm:
		name, ofLine := strings.CutPrefix(t.Name, "line.")
		out.Kind, out.Name = table.InputTerm, name
		if ofLine {
			out.Kind = table.LineTerm
		}
	case design.FieldTerm:
		out.Kind, out.Path = table.FieldTerm, strings.Split(t.Name, ".")
	case design.NowTerm:
		out.Kind = table.NowTerm
	case design.NewIDTerm:
		out.Kind = table.NewIDTerm
	case design.SumTerm:
		out.Kind, out.Name = table.SumTerm, t.Name
	case design.CountTerm:
		out.Kind = table.CountTerm
	}
	return out
}

// Read returns the read with a name, or nil if there is none that can be run.
func (p *Program) Read(name string) *Read {
	i := slices.IndexFunc(p.Reads, func(r *Read) bool { return r.Design.Name == name })
	if i < 0 {
		return nil
	}
	return p.Reads[i]
}

// Collection returns the collection with a name, or nil if there is none that can be run.
func (p *Program) Collection(name string) *Collection {
	i := slices.IndexFunc(p.Collections, func(c *Collection) bool { return c.Design.Name == name })
	if i < 0 {
		return nil
	}
	return p.Collections[i]
}

// Write returns the write with a name, or nil if there is none that can be run.
func (p *Program) Write(name string) *Write {
	i := slices.IndexFunc(p.Writes, func(w *Write) bool { return w.Design.Name == name })
	if i < 0 {
		return nil
	}
	return p.Writes[i]
}
