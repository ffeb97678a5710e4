package design

import (
	"maps"
	"slices"

	"github.com/monotable/monotable/design/internal/syntax"
)

func (c *checker) races() {
	taken := set{}
	for _, r := range c.design.Races {
		c.name(taken, "a race", r.Name, r.Pos)
		if len(r.Run) == 0 {
			c.missing(r.Pos, "race %s runs nothing", r.Name)
		}
		processes := 0
		for _, call := range r.Start {
			c.raceCall(call)
			if call.Times > 1 {
				c.Hint(call.Pos, "remove times", "the calls of start run once, one after another")
			}
		}
		for _, call := range r.Run {
			c.raceCall(call)
			processes += call.Times
			if call.Put != "" {
				c.Hint(c.At(&call.Put, call.Pos), "start: [ { put: … } ]", "put belongs in start: run takes flows and writes")
			}
		}
		if processes > maxProcesses {
			c.Fault(r.Pos, "%d calls run concurrently in race %s: the maximum is %d", processes, r.Name, maxProcesses)
		}
	}
}

// raceCall checks that a call's target exists, and that it accepts the values.
func (c *checker) raceCall(x *RaceCall) {
	d := c.design
	var known []string
	what := ""
	named := 0
	for _, name := range []string{x.Flow, x.Write, x.Put} {
		if name != "" {
			what, named = name, named+1
		}
	}
	switch {
	case named != 1:
		c.Hint(x.Pos, "flow: Name, write: Name, or put: Entity", "it must have exactly one of flow, write and put")
		return
	case x.Times < 1:
		c.Fault(x.Pos, "times must be at least 1")
	}
	switch {
	case x.Flow != "":
		f := d.Flow(x.Flow)
		if f == nil {
			c.Hint(c.At(&x.Flow, x.Pos), syntax.Suggestion(x.Flow, namesIn(d.Flows, func(f *Flow) string { return f.Name })), "there is no flow %q", x.Flow)
			return
		}
		known = namesIn(f.Given, func(f *Field) string { return f.Name })
	case x.Write != "":
		w := d.Write(x.Write)
		if w == nil {
			c.Hint(c.At(&x.Write, x.Pos), syntax.Suggestion(x.Write, namesIn(d.Writes, func(w *Write) string { return w.Name })), "there is no write %q", x.Write)
			return
		}
		known = c.inputsOf(w)
		if w.Lines != nil {
			known = append(known, "lines")
		}
	default:
		e := c.entity(&x.Put, x.Pos)
		if e == nil {
			return
		}
		known = namesIn(e.Fields, func(f *Field) string { return f.Name })
	}
	for _, name := range slices.Sorted(maps.Keys(x.Given)) {
		if !slices.Contains(known, name) {
			c.Hint(x.Given[name].Pos, syntax.Suggestion(name, known), "%q is not an input of %s", name, what)
		}
	}
}
