package design

import "slices"

func (r *resolver) flow(in namedEntry[flowShape]) {
	s := in.value
	f := &Flow{
		Name: in.name, Doc: s.Doc, Given: r.params(s.Given), Steps: []*FlowStep{}, Retry: r.texts(s.Retry), Attempts: s.Attempts, Pos: in.pos,
	}
	r.design.Flows = append(r.design.Flows, f)
	if len(f.Retry) > 0 && f.Attempts == 0 {
		f.Attempts = DefaultAttempts
	}
	if len(s.Do) == 0 {
		r.Hint(in.pos, "do: [ { read: Pattern, as: name } ]", "flow %s has no steps", in.name)
	}
	for i := range s.Do {
		r.flowStep(f, &s.Do[i])
	}
}

func (r *resolver) flowStep(f *Flow, s *flowStepShape) {
	step := &FlowStep{If: r.expression(s.If), Each: r.selection(s.Each), Lines: r.selection(s.Lines), Pos: s.Pos}
	r.put(&step.Read, s.Read)
	r.put(&step.Write, s.Write)
	r.put(&step.As, s.As)
	step.Let, step.With = r.arguments(s.Let), r.arguments(s.With)
	switch kinds := []bool{s.Read.given(), s.Write.given(), s.Let != nil}; {
	case !slices.Contains(kinds, true):
		r.Hint(s.Pos, "read: Pattern, write: Pattern, or let: { name: value }", "the step has no action")
		return
	case s.Read.given() && (s.Write.given() || s.Let != nil), s.Write.given() && s.Let != nil:
		r.Hint(s.Pos, "make each a step of its own", "a step of a flow has exactly one of read, write and let")
		return
	}
	f.Steps = append(f.Steps, step)
}

func (r *resolver) arguments(list named[raw]) []*Argument {
	var out []*Argument
	for _, in := range list {
		v := r.expression(in.value.text)
		if !in.value.given() {
			r.Hint(in.pos, in.name+": \":"+in.name+"\"", "%s has no value", in.name)
		}
		if v != nil {
			out = append(out, &Argument{Name: in.name, Value: v, Pos: in.pos})
		}
	}
	return out
}

// expression parses an expression; nil if there is none, and after an error.
func (r *resolver) expression(t text) *Expression {
	if !t.given() {
		return nil
	}
	out, err := ParseExpression(t.value)
	if !r.Parsed(t.pos, err) {
		return nil
	}
	out.Pos = t.pos
	return out
}

// selection parses a selection; nil if there is none, and after an error.
func (r *resolver) selection(t text) *Selection {
	if !t.given() {
		return nil
	}
	out, err := ParseSelection(t.value)
	if !r.Parsed(t.pos, err) {
		return nil
	}
	out.Pos = t.pos
	return out
}

func (r *resolver) race(in namedEntry[raceShape]) {
	s := in.value
	out := &Race{
		Name: in.name, Doc: s.Doc, Run: []*RaceCall{}, Crash: s.Crash, Stale: s.Stale, Expire: s.Expire, Depth: s.Depth, States: s.States, Pos: in.pos,
	}
	r.design.Races = append(r.design.Races, out)
	for i := range s.Start {
		out.Start = append(out.Start, r.raceCall(&s.Start[i]))
	}
	for i := range s.Run {
		out.Run = append(out.Run, r.raceCall(&s.Run[i]))
	}
	if len(s.Run) == 0 {
		r.Hint(in.pos, "run: [ { write: Pattern, times: 2 } ]", "race %s runs nothing", in.name)
	}
}

func (r *resolver) raceCall(s *raceCallShape) *RaceCall {
	out := &RaceCall{Times: max(s.Times, 1), Pos: s.Pos}
	r.put(&out.Flow, s.Flow)
	r.put(&out.Write, s.Write)
	r.put(&out.Put, s.Put)
	for _, g := range s.Given {
		if out.Given == nil {
			out.Given = map[string]Literal{}
		}
		g.value.Pos = g.pos
		out.Given[g.name] = g.value
	}
	return out
}
