package design

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

// maxProcesses is the maximum number of concurrent flows and writes in a race: the orders of more cannot be
// explored.
const maxProcesses = 16

// flows checks flows, which share their names with reads, collections and writes.
func (c *checker) flows() {
	taken := set{}
	for _, name := range c.patternNames() {
		taken[name] = true
	}
	for _, w := range c.design.Writes {
		taken[w.Name] = true
	}
	for _, f := range c.design.Flows {
		c.name(taken, "a flow", f.Name, f.Pos)
		c.flow(f)
	}
}

func (c *checker) flow(f *Flow) {
	c.fields(f.Given)
	for _, given := range f.Given {
		if given.Name == "line" {
			c.Fault(given.Pos, "an input cannot be named line: that name is reserved for the line of a repeated step")
		}
	}
	if len(f.Steps) == 0 {
		c.missing(f.Pos, "flow %s has no steps", f.Name)
	}
	s := &flowScope{checker: c, flow: f, results: map[string]result{}, lets: map[string]class{}}
	for _, step := range f.Steps {
		s.step(step)
	}
	if f.Attempts > 0 && len(f.Retry) == 0 {
		c.Hint(f.Pos, "retry: [Conflict]", "flow %s has attempts, but no errors to retry", f.Name)
	}
	known := c.errorsOf(f)
	for i := range f.Retry {
		if !slices.Contains(known, f.Retry[i]) {
			c.Hint(c.At(&f.Retry[i], f.Pos), cmp.Or(syntax.Suggestion(f.Retry[i], known), "known: "+strings.Join(known, ", ")), "no write of %s fails with the error %q", f.Name, f.Retry[i])
		}
	}
}

// errorsOf are the errors that a flow's writes can return: those that they declare, and those common to every
// write.
func (c *checker) errorsOf(f *Flow) []string {
	var known []string
	for _, step := range f.Steps {
		w := c.design.Write(step.Write)
		if w == nil {
			continue
		}
		for _, s := range w.Steps {
			for _, x := range s.Else {
				if !slices.Contains(known, x.Error) {
					known = append(known, x.Error)
				}
			}
		}
	}
	return append(known, "NotFound", "Exists", "Conflict", "Reused")
}

// result is the result of a flow's step.
type result struct {
	entity *Entity // nil after an error
	many   bool
}

// flowScope is the scope of a flow's step: the inputs of the flow, and the results of earlier steps.
type flowScope struct {
	*checker
	flow    *Flow
	results map[string]result
	lets    map[string]class
	line    *Entity // the entity of the items for which the step is repeated; nil if it is not
	repeats bool
}

func (s *flowScope) step(step *FlowStep) {
	s.line, s.repeats = nil, step.Each != nil
	if step.Each != nil {
		s.line = s.selection(step.Each)
	}
	if step.If != nil {
		s.statement(step.If, s)
	}
	switch {
	case step.Read != "" && step.Write != "", (step.Read != "" || step.Write != "") == (len(step.Let) > 0):
		s.missing(step.Pos, "a step of a flow has exactly one of read, write and let")
	case step.Read != "":
		s.read(step)
	case step.Write != "":
		s.write(step)
	default:
		s.let(step)
	}
}

// let checks named values.
func (s *flowScope) let(step *FlowStep) {
	if step.Each != nil || len(step.With) > 0 || step.Lines != nil || step.As != "" {
		s.Fault(step.Pos, "a let step takes no lines, inputs or name")
	}
	for _, a := range step.Let {
		_, taken := s.lets[a.Name]
		switch {
		case !syntax.IsName(a.Name) || a.Name == "line":
			s.Fault(a.Pos, "%q is not a valid name for a value: use a letter, followed by letters, digits and _", a.Name)
		case taken || find(s.flow.Given, func(f *Field) bool { return f.Name == a.Name }) != nil:
			s.Fault(a.Pos, "the name %q is already used by another value", a.Name)
		}
		s.lets[a.Name] = unknownClass
		if a.Value == nil {
			s.missing(a.Pos, "%s has no value", a.Name)
			continue
		}
		s.lets[a.Name] = s.expression(a.Value, s)
	}
}

// values are the names of the flow's inputs and of its named values so far.
func (s *flowScope) values() []string {
	return append(namesIn(s.flow.Given, func(f *Field) string { return f.Name }), slices.Sorted(maps.Keys(s.lets))...)
}

func (s *flowScope) read(step *FlowStep) {
	p := s.At(&step.Read, step.Pos)
	r := s.design.Read(step.Read)
	switch {
	case r != nil:
	case s.design.Collection(step.Read) != nil:
		s.Hint(p, "read its entities one at a time", "%s is a collection: a flow reads one entity at a time", step.Read)
	default:
		s.Hint(p, syntax.Suggestion(step.Read, namesIn(s.design.Reads, func(r *Read) string { return r.Name })), "there is no read %q", step.Read)
	}
	found := result{}
	if r != nil && (r.Count || r.Each || r.Scan) {
		s.Hint(p, "use one: "+r.Entity+", or many: "+r.Entity, "%s is a read by %s, which a flow cannot use", r.Name, r.Keyword())
	}
	if r != nil {
		found = result{s.design.Entity(r.Entity), r.Many}
		inputs := slices.Concat(r.Given(), []string{r.Prefix, r.Owner}, r.Filter.Params())
		s.with(step, inputs, func(name string) (Type, bool) { return typeOfField(found.entity, name) })
		for _, name := range append(slices.Clone(r.Given()), r.Owner) {
			if name != "" && !s.has(step, name) {
				s.Hint(step.Pos, "with: { "+name+": … }", "%s needs %s, which is neither an input of the flow nor set by the step", r.Name, name)
			}
		}
	}
	if step.Lines != nil || step.Each != nil {
		s.Fault(step.Pos, "a read takes no lines and cannot be repeated")
	}
	if step.As == "" {
		return
	}
	if asPos := s.At(&step.As, step.Pos); !syntax.IsName(step.As) {
		s.Fault(asPos, "%q is not a valid name for a result: use a letter, followed by letters, digits and _", step.As)
	} else if _, taken := s.results[step.As]; taken {
		s.Fault(asPos, "the name %q is already used by the result of another step", step.As)
	}
	s.results[step.As] = found
}

// has reports whether a step passes a value to its pattern: explicitly, or because the flow has one with that
// name.
func (s *flowScope) has(step *FlowStep, name string) bool {
	return slices.ContainsFunc(step.With, func(a *Argument) bool { return a.Name == name }) || slices.Contains(s.values(), name)
}

func (s *flowScope) write(step *FlowStep) {
	w := s.design.Write(step.Write)
	if w == nil {
		s.Hint(s.At(&step.Write, step.Pos), syntax.Suggestion(step.Write, namesIn(s.design.Writes, func(w *Write) string { return w.Name })), "there is no write %q", step.Write)
	} else {
		s.with(step, s.inputsOf(w), func(name string) (Type, bool) { return s.inputType(w, name) })
	}
	if step.As != "" {
		s.Fault(s.At(&step.As, step.Pos), "a write has no result to name")
	}
	if step.Lines != nil {
		s.selection(step.Lines)
	}
	switch {
	case w == nil:
	case w.Lines == nil && step.Lines != nil:
		s.Fault(step.Lines.Pos, "%s takes no lines", w.Name)
	case w.Lines != nil && step.Lines == nil:
		s.Hint(step.Pos, "lines: …", "%s takes lines, but the step does not set them", w.Name)
	}
}

// inputsOf are the names of a write's possible inputs: its params, and the fields of what it writes.
func (c *checker) inputsOf(w *Write) []string {
	known := namesIn(w.Params, func(f *Field) string { return f.Name })
	of := namesIn(w.Steps, func(s *Step) string { return s.Entity })
	if w.Idempotent != nil {
		of = append(of, w.Idempotent.With)
	}
	for _, name := range of {
		if e := c.design.Entity(name); e != nil {
			known = append(known, namesIn(e.Fields, func(f *Field) string { return f.Name })...)
		}
	}
	for _, s := range w.Steps {
		conditions := []*Condition{s.When}
		for _, x := range s.Else {
			conditions = append(conditions, x.When)
		}
		for _, cond := range conditions {
			known = append(known, cond.Params()...)
		}
		known = append(known, s.MapKeys()...)
		for _, a := range slices.Concat(s.By, s.Assignments()) {
			for _, t := range a.Value.terms() {
				if t.Kind == ParamTerm {
					known = append(known, t.Name)
				}
			}
		}
	}
	return known
}

// terms are the terms of a value, which may be nil.
func (v *ValueExpr) terms() []Term {
	if v == nil {
		return nil
	}
	return v.Terms
}

// inputType is the type of a write's input, if its declaration or a field with its name determines it.
func (c *checker) inputType(w *Write, name string) (Type, bool) {
	if f := find(w.Params, func(f *Field) bool { return f.Name == name }); f != nil {
		return f.Type, true
	}
	for _, s := range w.Steps {
		if t, known := typeOfField(c.design.Entity(s.Entity), name); known {
			return t, true
		}
	}
	return Type{}, false
}

func typeOfField(e *Entity, name string) (Type, bool) {
	if f := e.fieldNamed(name); f != nil {
		return f.Type, true
	}
	return Type{}, false
}

// with checks what a step passes to its pattern.
func (s *flowScope) with(step *FlowStep, inputs []string, typed func(name string) (Type, bool)) {
	met := set{}
	for _, a := range step.With {
		if a.Value == nil {
			s.missing(a.Pos, "%s has no value", a.Name)
			continue
		}
		if !slices.Contains(inputs, a.Name) {
			s.Hint(a.Pos, syntax.Suggestion(a.Name, inputs), "%q is not an input of %s", a.Name, cmp.Or(step.Read, step.Write))
		}
		if met[a.Name] {
			s.Fault(a.Pos, "%q is set twice", a.Name)
		}
		met[a.Name] = true
		got := s.expression(a.Value, s)
		t, known := typed(a.Name)
		if want := classOf(t); known && got != unknownClass && got != want {
			s.Fault(a.Value.Pos, "%s is %s, but %q is %s", a.Name, want, a.Value.Text, got)
		}
	}
}
