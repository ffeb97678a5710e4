package races

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// rule is the rule of all findings of an exploration.
const rule = "ST513"

// report is the result of an exploration.
func (x *exploration) report(s scenario) *Scenario {
	out := &Scenario{
		Name: s.race.Name, Doc: s.race.Doc, Default: s.byDefault, Crash: s.race.Crash, Stale: s.race.Stale, Expire: s.race.Expire,
		States: len(x.states), Bound: x.bounded, Findings: []*Finding{},
	}
	for _, p := range x.processes {
		out.Processes = append(out.Processes, Process{Name: letter(p.number), Call: p.words(x.values), Ends: p.ends})
	}
	if x.bounded == "" && !x.done() {
		out.Orders = x.orders().String()
	}
	for _, i := range x.invariants {
		b := x.found[i]
		switch {
		case b == nil:
		case s.byDefault && len(b.schedule) == 0:
			out.Unheld = append(out.Unheld, i.Name)
		default:
			f := x.finding(s, b, i.Pos)
			f.Invariant = i.Name
			f.Message = fmt.Sprintf("%s does not hold: %s", i.Name, i.Text)
			if len(b.schedule) == 0 {
				f.Message = fmt.Sprintf("%s does not hold in the initial state: %s", i.Name, i.Text)
			}
			f.Items = x.concerned(i, b)
			out.Findings = append(out.Findings, f)
		}
	}
	if b := x.violation; b != nil {
		f := x.finding(s, b, s.race.Pos)
		f.Message, f.Items = b.words, []string{}
		out.Findings = append(out.Findings, f)
	}
	return out
}

func skipped(s scenario, faults design.Errors) *Scenario {
	return &Scenario{Name: s.race.Name, Default: s.byDefault, Processes: []Process{}, Skipped: faults[0].Message, Findings: []*Finding{}}
}

// finding describes a breach.
func (x *exploration) finding(s scenario, b *breach, p design.Pos) *Finding {
	f := &Finding{Schedule: []string{}, Steps: []Step{}}
	f.Rule, f.Severity, f.Pos = rule, check.Error, p
	var writes []string
	for _, a := range b.schedule {
		step := x.step(a)
		f.Schedule, f.Steps = append(f.Schedule, step.String()), append(f.Steps, step)
		if a.request != nil && a.request.touched != nil && a.response.err == nil && !slices.Contains(writes, a.request.pattern) {
			writes = append(writes, a.request.pattern)
		}
	}
	slices.Sort(writes)
	f.Subject = strings.Join(writes, "+")
	if f.Subject == "" {
		f.Subject = s.race.Name
	}
	f.Witness = strings.Join(f.Schedule, "; ")
	return f
}

// step describes an action.
func (x *exploration) step(a action) Step {
	var s Step
	if a.process >= 0 {
		s.Process = letter(a.process)
	}
	switch a.kind {
	case crashed:
		s.Kind = StepCrash
		return s
	case expired:
		s.Kind, s.Item = StepExpire, x.itemName(a.removed)
		return s
	case lost:
		s.Kind = StepLost
	default:
		s.Kind = StepRequest
	}
	s.Operation, s.Pattern, s.Response, s.Behind = a.request.operation, a.request.pattern, cmp.Or(a.node.read, a.response.words), a.behind
	if n := a.node; n.again != nil || n.next == nil {
		s.Ends, s.Again = n.outcome, n.again != nil
	}
	return s
}

// String formats the step as a line of a schedule.
func (s Step) String() string {
	who := cmp.Or(s.Process, "DynamoDB")
	switch s.Kind {
	case StepCrash:
		return who + ": crashes"
	case StepExpire:
		return who + ": removes " + s.Item + ", which has expired"
	default:
	}
	text := fmt.Sprintf("%s: %s %s → %s", who, s.Operation, s.Pattern, s.Response)
	switch {
	case s.Behind == 1:
		text += ", 1 write behind"
	case s.Behind > 1:
		text += fmt.Sprintf(", %d writes behind", s.Behind)
	}
	switch {
	case s.Again:
		text += fmt.Sprintf(" (%s, retries)", s.Ends)
	case s.Ends != "":
		text += fmt.Sprintf(" (ends with %s)", s.Ends)
	}
	return text
}

func (x *exploration) itemName(s *stored) string {
	if s.entity == nil {
		return "an item"
	}
	if s.decoded == nil {
		return x.keeper.placeName(s)
	}
	return x.keeper.name(s)
}

// concerned are the items of an invariant where it is violated: those for which it does not hold, and the items counted for
// them.
func (x *exploration) concerned(i *expression.Invariant, b *breach) []string {
	out := []string{}
	for _, it := range append(slices.Clone(b.items), i.Counted(b.content.state, b.items)...) {
		if text := x.itemWords(i, it, b.before.Get(it.Key)); !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// itemWords describes an item with the values of its key and those that an invariant uses, and their previous values if
// relevant.
func (x *exploration) itemWords(i *expression.Invariant, it, was *expression.Item) string {
	names := append(plan.KeyFields(it.Entity), i.Fields(it.Entity)...)
	var fields []string
	for _, f := range it.Entity.Fields {
		v := it.Values[f.Name]
		if v == nil || !slices.Contains(names, f.Name) {
			continue
		}
		text := x.values.show(v)
		if was != nil && was.Values[f.Name] != nil {
			if before := x.values.show(was.Values[f.Name]); before != text {
				text = before + " → " + text
			}
		}
		fields = append(fields, f.Name+": "+text)
	}
	return it.Entity.Name + " { " + strings.Join(fields, ", ") + " }"
}

// accept marks the findings that are accepted on one of the writes that lead to them, and finds the acceptances that match
// nothing, provided everything was explored.
func (r *Report) accept(d *design.Design, whole bool) {
	used := map[string]bool{}
	for _, s := range r.Scenarios {
		whole = whole && s.Bound == ""
		for _, f := range s.Findings {
			for write := range strings.SplitSeq(f.Subject, "+") {
				if a := acceptance(d.Write(write)); a != nil {
					used[write] = true
					f.Accepted = a.Reason
				}
			}
		}
	}
	for _, w := range d.Writes {
		if a := acceptance(w); a != nil && whole && !used[w.Name] {
			r.Findings = append(r.Findings, check.Finding{
				Rule: "ST001", Severity: check.Error, Subject: w.Name, Pos: a.Pos,
				Message: "accepts ST513, but the races no longer find it here", Fix: "remove the acceptance",
			})
		}
	}
}

func acceptance(w *design.Write) *design.Acceptance {
	if w == nil {
		return nil
	}
	for i := range w.Accept {
		if w.Accept[i].Rule == rule {
			return &w.Accept[i]
		}
	}
	return nil
}
