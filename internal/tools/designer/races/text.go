package races

import (
	"fmt"
	"io"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
)

// WriteText writes a report as text: for each race the processes, the number of states, and the violated invariants
// with a shortest schedule. Accepted findings take one line.
func (r *Report) WriteText(w io.Writer) error {
	out := &writer{w: w}
	open, accepted := 0, 0
	for _, s := range r.Scenarios {
		out.printf("%s%s\n", s.Name, s.conditions())
		if s.Doc != "" {
			out.printf("  %s\n", strings.TrimSpace(s.Doc))
		}
		for _, p := range s.Processes {
			out.printf("    %s: %s → %s\n", p.Name, p.Call, strings.Join(p.Ends, ", "))
		}
		out.printf("  %s\n", s.extent(r.Invariants))
		for _, f := range s.Findings {
			if f.Accepted != "" {
				accepted++
				out.printf("  accepted %s %s: %s\n    because: %s\n", f.Rule, f.Subject, f.Message, f.Accepted)
				continue
			}
			open++
			r.finding(out, f)
		}
		out.printf("\n")
	}
	for _, f := range r.Findings {
		open++
		out.printf("%s%s %s %s: %s\n  fix: %s\n\n", r.place(f.Pos), f.Severity, f.Rule, f.Subject, f.Message, f.Fix)
	}
	out.printf("%s: %s\n", r.Design, r.total(open, accepted))
	return out.err
}

func (r *Report) finding(out *writer, f *Finding) {
	out.printf("  %s%s %s %s: %s\n", r.place(f.Pos), f.Severity, f.Rule, f.Subject, f.Message)
	for i, line := range f.Schedule {
		out.printf("    %2d  %s\n", i+1, line)
	}
	for i, line := range f.Items {
		label := "        "
		if i == 0 {
			label = "  then: "
		}
		out.printf("    %s%s\n", label, line)
	}
}

// conditions describes what may go wrong in a race.
func (s *Scenario) conditions() string {
	var with []string
	for _, c := range []struct {
		is   bool
		name string
	}{{s.Crash, "crashes"}, {s.Stale, "stale reads"}, {s.Expire, "expired items"}} {
		if c.is {
			with = append(with, c.name)
		}
	}
	if len(with) == 0 {
		return ""
	}
	return ", with " + strings.Join(with, " and ")
}

// extent says what was explored, and what holds.
func (s *Scenario) extent(invariants int) string {
	if s.Skipped != "" {
		return "not run: " + s.Skipped
	}
	text := plural.Of(s.States, "state")
	if s.Orders != "" {
		text += ", " + s.Orders + " order"
		if s.Orders != "1" {
			text += "s"
		}
	}
	switch {
	case len(s.Findings) > 0:
		text += ": " + plural.Of(len(s.Findings), "violation")
	case s.Bound != "":
		text = "no violation in " + text
	case invariants == 0:
		text += ": copies, markers and counters hold"
	default:
		text += ": all holds"
	}
	if s.Bound != "" {
		text += "; " + s.Bound + " was reached"
	}
	if len(s.Unheld) > 0 {
		text += "; in the generated initial state, these do not hold: " + strings.Join(s.Unheld, ", ")
	}
	return text
}

func (r *Report) total(open, accepted int) string {
	text := plural.Of(len(r.Scenarios), "race")
	if len(r.Scenarios) > 0 && r.Scenarios[0].Default {
		text += " between its writes, since the design declares none"
	}
	if r.Invariants == 0 {
		text += ", no invariants: "
	} else {
		text += ", " + plural.Of(r.Invariants, "invariant") + ": "
	}
	switch {
	case open > 0:
		text += plural.Of(open, "error")
	case len(r.Scenarios) == 0:
		text += "not exercised: the design has no writes and no races"
	case !r.Exercised():
		text += "not exercised: none of the races could be run"
	default:
		text += "no findings"
	}
	if accepted > 0 {
		text += fmt.Sprintf(", %d accepted", accepted)
	}
	return text
}

func (r *Report) place(p design.Pos) string {
	if r.File == "" || p.Line == 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d: ", r.File, p.Line, p.Column)
}

// writer remembers the first error of a series of writes.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}
