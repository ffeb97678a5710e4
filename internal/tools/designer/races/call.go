package races

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// call is a flow, or a single write, with its arguments.
type call struct {
	name     string // of the flow or write
	pos      design.Pos
	steps    []*callStep
	retry    []string
	attempts int
	given    table.Values
	// lists are the arguments that are lists of structures, as lines.
	lists map[string][]table.Values
}

// callStep is a step of a call.
type callStep struct {
	*design.FlowStep
	read  *lower.Read
	write *lower.Write
	// lines is the name of the lines of a step that is the race's own write.
	lines string
}

// words describes the call and its arguments.
func (c *call) words(v *values) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c.given)) {
		if _, list := c.lists[name]; !list {
			out = append(out, name+": "+v.show(c.given[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.lists)) {
		for _, line := range c.lists[name] {
			var fields []string
			for _, field := range slices.Sorted(maps.Keys(line)) {
				fields = append(fields, field+": "+v.show(line[field]))
			}
			out = append(out, name+": { "+strings.Join(fields, ", ")+" }")
		}
	}
	if len(out) == 0 {
		return c.name
	}
	return c.name + " { " + strings.Join(out, ", ") + " }"
}

// caller prepares the calls of a design's races.
type caller struct {
	program *lower.Program
	values  *values
	// unrunnable are the patterns that cannot be run, with the reason.
	unrunnable map[string]string
}

func newCaller(p *lower.Program, err error, v *values) *caller {
	c := &caller{program: p, values: v, unrunnable: map[string]string{}}
	for _, one := range faultsIn(err) {
		c.unrunnable[one.Pattern] = one.Message
	}
	return c
}

// faultsIn are the faults joined in an error of Lower.
func faultsIn(err error) []*lower.FaultError {
	if joined, is := err.(interface{ Unwrap() []error }); is {
		var out []*lower.FaultError
		for _, one := range joined.Unwrap() {
			out = append(out, faultsIn(one)...)
		}
		return out
	}
	if f, is := errors.AsType[*lower.FaultError](err); is {
		return []*lower.FaultError{f}
	}
	return nil
}

// at is an error at a position of the design.
func (c *caller) at(p design.Pos, format string, args ...any) error {
	return design.Errors{{Source: c.program.Design.Source, Pos: p, Message: fmt.Sprintf(format, args...)}}
}

func (c *caller) missing(pattern string, p design.Pos) error {
	if why := c.unrunnable[pattern]; why != "" {
		return c.at(p, "%s cannot be run: it %s", pattern, why)
	}
	return c.at(p, "%s cannot be run", pattern)
}

// call prepares a call of a race.
func (c *caller) call(x *design.RaceCall) (*call, error) {
	if x.Flow != "" {
		return c.flow(x, c.program.Design.Flow(x.Flow))
	}
	w := c.program.Write(x.Write)
	if w == nil {
		return nil, c.missing(x.Write, x.Pos)
	}
	out := &call{name: x.Write, pos: x.Pos, given: table.Values{}, lists: map[string][]table.Values{}, attempts: 1}
	step := &callStep{FlowStep: &design.FlowStep{Write: x.Write, Pos: x.Pos}, write: w}
	if err := c.give(out.given, w.Inputs, x); err != nil {
		return nil, err
	}
	if w.Design.Lines != nil {
		lines, err := c.lines(w, x)
		if err != nil {
			return nil, err
		}
		step.lines, out.lists["lines"] = "lines", lines
	}
	out.steps = []*callStep{step}
	return out, nil
}

// give sets the inputs' values from the arguments; missing required values are made up.
func (c *caller) give(values table.Values, inputs []lower.Input, x *design.RaceCall) error {
	for _, in := range inputs {
		l, given := x.Given[in.Name]
		switch {
		case given:
			v, err := c.values.of(in.Type, l)
			if err != nil {
				return c.at(l.Pos, "%s: %v", in.Name, err)
			}
			if v != nil {
				values[in.Name] = v
			}
		case !in.Optional:
			values[in.Name] = c.values.inventedValue(in.Name, in.Type)
		}
	}
	return nil
}

// lines are the lines that a race passes to a write; one if it passes none.
func (c *caller) lines(w *lower.Write, x *design.RaceCall) ([]table.Values, error) {
	given, is := x.Given["lines"]
	if !is { // one line, from the other arguments
		values := table.Values{}
		return []table.Values{values}, c.give(values, w.Lines, x)
	}
	if given.List == nil {
		given = design.Literal{List: []design.Literal{given}}
	}
	var out []table.Values
	for _, line := range given.List {
		values := table.Values{}
		for name := range line.Map {
			if !slices.ContainsFunc(w.Lines, func(in lower.Input) bool { return in.Name == name }) {
				return nil, c.at(x.Pos, "a line of %s has no %s", w.Design.Name, name)
			}
		}
		if err := c.give(values, w.Lines, &design.RaceCall{Given: line.Map, Pos: x.Pos}); err != nil {
			return nil, err
		}
		out = append(out, values)
	}
	return out, nil
}

func (c *caller) flow(x *design.RaceCall, f *design.Flow) (*call, error) {
	out := &call{
		name: f.Name, pos: x.Pos, retry: f.Retry, attempts: max(f.Attempts, 1), given: table.Values{}, lists: map[string][]table.Values{},
	}
	if len(f.Retry) > 0 && f.Attempts == 0 {
		out.attempts = design.DefaultAttempts
	}
	var inputs []lower.Input
	for _, g := range f.Given {
		inputs = append(inputs, lower.Input{Name: g.Name, Type: g.Type, Optional: g.Optional})
	}
	if err := c.give(out.given, inputs, x); err != nil {
		return nil, err
	}
	for _, g := range f.Given {
		if g.Type.Kind == design.KindList && g.Type.Elem.Kind == design.KindStruct {
			out.lists[g.Name] = c.linesOf(c.program.Design.Struct(g.Type.Elem.Name), out.given[g.Name])
		}
	}
	known := slices.Sorted(maps.Keys(out.given))
	for _, s := range f.Steps {
		step := &callStep{FlowStep: s, read: c.program.Read(s.Read), write: c.program.Write(s.Write)}
		if step.read == nil && step.write == nil && s.Let == nil {
			return nil, c.missing(s.Read+s.Write, s.Pos)
		}
		if err := c.complete(step, known); err != nil {
			return nil, err
		}
		for _, a := range s.Let {
			known = append(known, a.Name)
		}
		out.steps = append(out.steps, step)
	}
	return out, nil
}

// linesOf are the members of a list of structures by their fields.
func (c *caller) linesOf(s *design.Struct, v types.AttributeValue) []table.Values {
	list, _ := v.(*types.AttributeValueMemberL)
	if list == nil {
		return nil
	}
	var out []table.Values
	for _, member := range list.Value {
		line := table.Values{}
		m, _ := member.(*types.AttributeValueMemberM)
		for _, f := range s.Fields {
			if value := expression.At(m.Value, f.Path); value != nil {
				line[f.Name] = value
			}
		}
		out = append(out, line)
	}
	return out
}

// complete rejects a step that does not pass everything its pattern needs. known are the names available in its
// flow.
func (c *caller) complete(s *callStep, known []string) error {
	for _, in := range s.inputs() {
		given := slices.Contains(known, in.Name) || slices.ContainsFunc(s.With, func(a *design.Argument) bool { return a.Name == in.Name })
		if !given && !in.Optional {
			return c.at(s.Pos, "%s needs %s (%s), which neither the flow nor the step provides", s.pattern(), in.Name, in.Type)
		}
	}
	return nil
}

// asked are the fields of a result that the flow depends on, or passes on.
func (c *call) asked(result string) []string {
	var out []string
	for _, s := range c.steps {
		list := []*design.Expression{s.If}
		for _, a := range slices.Concat(s.Let, s.With) {
			list = append(list, a.Value)
		}
		for _, e := range list {
			for _, o := range e.Operands() {
				n, is := o.(*design.NameOperand)
				if !is {
					continue
				}
				if of, field, _ := strings.Cut(n.Path, "."); of == result && result != "" && !slices.Contains(out, field) {
					out = append(out, field)
				}
			}
		}
	}
	return out
}

func (s *callStep) pattern() string { return s.Read + s.Write }

// inputs are the inputs of the step's pattern.
func (s *callStep) inputs() []lower.Input {
	switch {
	case s.read != nil:
		return s.read.Inputs
	case s.write != nil:
		return s.write.Inputs
	default:
		return nil
	}
}
