package migrate

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/monotable/monotable/internal/plural"
)

// WriteText writes a plan as text: the numbered steps with cost and duration, or the reasons why it cannot be carried
// out.
func WriteText(w io.Writer, p *Plan) error {
	t := &writer{w: w}
	for _, r := range p.Refusals {
		t.line("%s: %s", r.Subject, r.Problem)
		t.line("  %s", r.Remedy)
	}
	if len(p.Refusals) > 0 {
		t.line("no migration: %s", plural.Of(len(p.Refusals), "change")+" cannot be carried out while programs of both designs are in use")
		return t.err
	}
	var total Step
	for i, s := range p.Steps {
		who := ""
		if s.Kind == Deploy {
			who = "you: "
		}
		t.line("%d. %s%s%s", i+1, who, s.Title, price(s, p))
		for _, d := range s.Details {
			t.line("     %s", d)
		}
		total.ReadUnits, total.WriteUnits, total.Cost, total.Seconds = total.ReadUnits+s.ReadUnits, total.WriteUnits+s.WriteUnits, total.Cost+s.Cost, total.Seconds+s.Seconds
	}
	if sum := price(total, p); sum != "" {
		t.line("total%s", sum)
	}
	return t.err
}

func price(s Step, p *Plan) string {
	if s.ReadUnits+s.WriteUnits == 0 {
		return ""
	}
	out := fmt.Sprintf(" (%.0f read units, %.0f write units, ", s.ReadUnits, s.WriteUnits)
	if p.prices.OnDemandWrite == 0 {
		out += "no known price"
	} else {
		out += fmt.Sprintf("$%.2f", s.Cost)
	}
	if s.Seconds > 0 {
		out += fmt.Sprintf(", %s at %g units a second", duration(s.Seconds), p.units)
	}
	return out + ")"
}

// duration formats a time in readable units.
func duration(seconds float64) string {
	switch d := time.Duration(seconds * float64(time.Second)); {
	case d < time.Minute:
		return strconv.Itoa(int(seconds)+1) + " s"
	case d < 2*time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min"
	default:
		return strconv.FormatFloat(d.Hours(), 'f', 1, 64) + " h"
	}
}

// WriteStatus writes the progress of a migration, and the next step.
func (m *Migration) WriteStatus(w io.Writer, s State, holder string) error {
	t := &writer{w: w}
	for _, name := range tableNames(m.o.Tables) {
		t.line("%s: table %s", name, m.o.Tables[name])
	}
	mark := func(done bool, what string) {
		state := "to do"
		if done {
			state = "done"
		}
		t.line("%-6s %s", state, what)
	}
	mark(s.Prepared, "tables and indexes")
	for _, step := range m.plan.Steps {
		switch step.Kind {
		case Deploy:
			mark(s.Deployed.order() >= step.Milestone.order(), "deployed: "+string(step.Milestone))
		case Backfill:
			mark(s.Filled, "items written")
		case Finish:
			mark(s.Finished, "cleaned up")
		default:
		}
	}
	if p := s.Pass; p != nil {
		t.line("%s, pass %d: %d items seen, %d written, %d left", p.Kind, p.Number, p.Seen, p.Written, p.Skipped)
	}
	t.line("used: %.0f read units, %.0f write units", s.ReadUnits, s.WriteUnits)
	if holder != "" {
		t.line("it runs on %s", holder)
	}
	t.line("next: %s", m.Next(s))
	return t.err
}

// Next describes the next thing to do.
func (m *Migration) Next(s State) string {
	next := m.plan.following(s.Deployed)
	switch {
	case s.Finished:
		return "nothing, the migration is complete"
	case !s.Prepared, m.plan.DualWrites != nil && s.Deployed == DualWrites && !s.Filled:
		return "monotable migrate run"
	case s.Deployed == NewOnly:
		return "monotable migrate finish --yes"
	case next == NewOnly:
		return "deploy programs with the new design; when no other program is left, monotable migrate finish --yes"
	default:
		return fmt.Sprintf("deploy programs with %s.design.json; when no earlier program is left, monotable migrate run --deployed %s", next, next)
	}
}

// writer remembers the first error.
type writer struct {
	w   io.Writer
	err error
}

func (t *writer) line(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format+"\n", args...)
	}
}
