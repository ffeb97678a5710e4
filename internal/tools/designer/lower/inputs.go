package lower

import (
	"errors"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// inputs determines what the caller of a write passes: once, and for each line.
type inputs struct {
	*lowerer
	write       *design.Write
	once, lines []Input
	// ofLine are the names that the write explicitly takes from its lines: :line.price, sum(lines.price).
	ofLine []string
}

// writeInputs are the inputs of a write. Steps that are not repeated come first, because a repeated step uses the write's
// inputs where they exist, and takes the rest from its line.
func (l *lowerer) writeInputs(w *design.Write) (once, lines []Input) {
	in := &inputs{lowerer: l, write: w}
	for _, p := range w.Params {
		in.once = append(in.once, Input{Name: p.Name, Doc: p.Doc, Type: p.Type, Optional: p.Optional, MaxBytes: p.MaxBytes, MinBytes: p.MinBytes, Of: w.Name})
	}
	in.linesNamed()
	for _, each := range []bool{false, true} {
		for _, s := range w.Steps {
			if s.Each == each {
				in.step(s)
			}
		}
	}
	in.sums()
	if w.Idempotent != nil {
		in.record(l.program.Design.Entity(w.Idempotent.With))
	}
	if w.Lines != nil && slices.ContainsFunc(in.once, func(i Input) bool { return i.Name == "lines" }) {
		in.fault(w.Name, w.Pos, "takes lines as its lines and as a field: set the field from a param with another name, or rename the field and set attr")
	}
	return in.once, in.lines
}

// InputFaults returns the inputs of a write that cannot have one type, or have the name of its lines.
func InputFaults(d *design.Design, w *design.Write) []*FaultError {
	l := newLowerer(d)
	l.writeInputs(w)
	var out []*FaultError
	for _, err := range l.faults {
		if fault, ok := errors.AsType[*FaultError](err); ok {
			out = append(out, fault)
		}
	}
	return out
}

// LineInputs returns what the caller of a write passes for each line.
func LineInputs(d *design.Design, w *design.Write) []Input {
	_, lines := newLowerer(d).writeInputs(w)
	return lines
}

// linesNamed finds the names that the write explicitly takes from its lines.
func (in *inputs) linesNamed() {
	for _, s := range in.write.Steps {
		for _, a := range slices.Concat(s.By, s.Assignments()) {
			for _, t := range a.Value.Terms {
				name, ofLine := strings.CutPrefix(t.Name, "line.")
				if t.Kind == design.SumTerm || t.Kind == design.ParamTerm && ofLine {
					in.ofLine = append(in.ofLine, name)
				}
			}
		}
		for _, key := range s.MapKeys() {
			if name, ofLine := strings.CutPrefix(key, "line."); ofLine {
				in.ofLine = append(in.ofLine, name)
			}
		}
		conditions := []*design.Condition{s.When}
		for _, x := range s.Else {
			conditions = append(conditions, x.When)
		}
		for _, c := range conditions {
			for _, p := range c.Params() {
				if name, ofLine := strings.CutPrefix(p, "line."); ofLine {
					in.ofLine = append(in.ofLine, name)
				}
			}
		}
	}
}

func (in *inputs) step(s *design.Step) {
	e := in.program.Design.Entity(s.Entity)
	assigned := slices.Concat(s.By, s.Assignments())
	for _, f := range e.Fields {
		if in.needs(e, s, f) && !slices.ContainsFunc(assigned, func(a *design.Assignment) bool { return a.Field == f.Name }) && !slices.Contains(s.Remove, f.Name) {
			input := fieldInput(e, f)
			input.Optional = f.Optional
			in.add(s.Each, input)
		}
	}
	for _, name := range s.Patch {
		f := e.Field(name)
		input := fieldInput(e, f)
		input.Optional, input.Removable, input.Emptied = true, f.Optional, !f.Optional && f.Type.Kind == design.KindSet
		in.add(s.Each, input)
	}
	for _, a := range assigned {
		t, _ := typeAt(in.program.Design, e, a.Field)
		for _, term := range a.Value.Terms {
			if term.Kind == design.ParamTerm {
				in.param(e, s, term.Name, t, a)
			}
		}
	}
	for _, key := range s.MapKeys() {
		in.param(e, s, key, design.Type{Kind: design.KindText}, nil)
	}
	in.conditions(e, s)
}

// sums adds what is summed over the lines, usually a field of the item written for each line.
func (in *inputs) sums() {
	for _, s := range in.write.Steps {
		e := in.program.Design.Entity(s.Entity)
		for _, a := range slices.Concat(s.By, s.Assignments()) {
			t, _ := typeAt(in.program.Design, e, a.Field)
			for _, term := range a.Value.Terms {
				if term.Kind == design.SumTerm {
					in.param(e, s, "line."+term.Name, t, nil)
				}
			}
		}
	}
}

// needs reports whether a step requires a value of a field: of every key field, and of every required field of a new item.
func (in *inputs) needs(e *design.Entity, s *design.Step, f *design.Field) bool {
	if slices.Contains(slices.Concat(e.Key.PK.Fields(), fieldsOf(e.Key.SK)), f.Name) {
		return true
	}
	createsItem := s.Action == design.Create || s.Action == design.Put || s.Action == design.Upsert
	counter := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
	return createsItem && !counter && (e.TTL == nil || e.TTL.Field != f.Name || e.TTL.After == 0)
}

func fieldsOf(t *design.Template) []string {
	if t == nil {
		return nil
	}
	return t.Fields()
}

func (in *inputs) conditions(e *design.Entity, s *design.Step) {
	list := []*design.Condition{s.When}
	for _, x := range s.Else {
		list = append(list, x.When)
	}
	for _, c := range list {
		for _, name := range c.Params() {
			t, known := compared(in.program.Design, e, c, name)
			if name == "now" && !in.declared("now") && (!known || t.Kind == design.KindTTL || t.Kind == design.KindTime) {
				continue
			}
			in.param(e, s, name, t, nil)
		}
	}
}

// param adds a parameter that a step mentions. Its type is the declared one; otherwise that of the field of the same name;
// otherwise that of what it is assigned to or compared with.
func (in *inputs) param(e *design.Entity, s *design.Step, name string, otherwise design.Type, a *design.Assignment) {
	name, ofLine := strings.CutPrefix(name, "line.")
	input := Input{Name: name, Type: otherwise, Of: in.write.Name}
	if f := e.Field(name); f != nil {
		input = fieldInput(e, f)
	} else if f := in.lineField(name); ofLine && f != nil {
		input.Type, input.MaxBytes, input.MinBytes = f.Type, f.MaxBytes, f.MinBytes
	}
	if a != nil && len(a.Value.Terms) == 1 { // a value for an optional field may be omitted
		if f := e.Field(a.Field); f != nil {
			input.Optional = f.Optional && !slices.Contains(s.When.Params(), name)
		}
	}
	if input.Type.Kind == "" {
		in.fault(in.write.Name, s.Pos, "uses :%s, whose type is unknown: declare it in params", name)
		return
	}
	if ofLine {
		in.put(&in.lines, input)
		return
	}
	if !in.declared(name) {
		in.put(&in.once, input)
	}
}

// lineField is the field with that name of the first entity that is written for each line.
func (in *inputs) lineField(name string) *design.Field {
	for _, s := range in.write.Steps {
		if f := in.program.Design.Entity(s.Entity).Field(name); s.Each && f != nil {
			return f
		}
	}
	return nil
}

func (in *inputs) declared(name string) bool {
	return slices.ContainsFunc(in.write.Params, func(p *design.Field) bool { return p.Name == name })
}

// add adds a field's value: a repeated step takes it from the line if the write says so or has no such input.
func (in *inputs) add(each bool, input Input) {
	known := slices.ContainsFunc(in.once, func(i Input) bool { return i.Name == input.Name })
	if each && (slices.Contains(in.ofLine, input.Name) || !known) {
		in.put(&in.lines, input)
		return
	}
	in.put(&in.once, input)
}

// put adds an input unless it exists. An existing one must have the same type, and stays optional only if both are.
func (in *inputs) put(list *[]Input, input Input) {
	i := slices.IndexFunc(*list, func(known Input) bool { return known.Name == input.Name })
	if i < 0 {
		*list = append(*list, input)
		return
	}
	known := &(*list)[i]
	if known.Type.String() != input.Type.String() {
		in.fault(in.write.Name, in.write.Pos, "uses %s as %s for %s and as %s for %s: set one of them from a param with another name", input.Name, known.Type, known.Of, input.Type, input.Of)
		return
	}
	if !in.declared(input.Name) {
		known.Optional = known.Optional && input.Optional
	}
	known.Removable = known.Removable && input.Removable
	known.Emptied = known.Emptied && input.Emptied
	if input.MaxBytes > 0 && (known.MaxBytes == 0 || input.MaxBytes < known.MaxBytes) {
		known.MaxBytes = input.MaxBytes
	}
	known.MinBytes = max(known.MinBytes, input.MinBytes)
}

// record adds the inputs of an idempotent write's record that nothing else provides.
func (in *inputs) record(e *design.Entity) {
	for _, f := range e.Fields {
		created := slices.ContainsFunc(in.write.Steps, func(s *design.Step) bool {
			return !s.Each && s.Action == design.Create && in.program.Design.Entity(s.Entity).Field(f.Name) != nil
		})
		expires := e.TTL != nil && e.TTL.Field == f.Name && e.TTL.After > 0
		if created || expires || f.Name == "request" || f.Type.Kind == design.KindTime {
			continue
		}
		input := fieldInput(e, f)
		input.Optional = f.Optional
		in.put(&in.once, input)
	}
}
