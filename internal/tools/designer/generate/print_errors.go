package generate

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design/table"
)

func (m *model) printErrors(s *source) {
	if len(m.errors) == 0 {
		return
	}
	s.comment("The errors that writes return, for errors.Is. A *table.Refusal wraps them, with the rejected step and the item that it found.")
	s.print("var (")
	for _, e := range m.errors {
		what := "declared by the design"
		if e.Wraps != "" {
			what = "a table." + e.Wraps
		}
		ends := "No write returns it."
		if writes := m.endIn(e.Err); len(writes) > 0 {
			ends = strings.Join(writes, ", ") + " can return it."
		}
		s.comment(e.Go + " is " + what + ". " + ends)
		message := m.name + ": " + e.Message
		if e.Wraps == "" {
			s.print("%s = errors.New(%q)", e.Go, message)
			continue
		}
		s.print("%s = fmt.Errorf(%q, table.%s)", e.Go, strings.ReplaceAll(message, "%", "%%")+": %w", e.Wraps)
	}
	s.print(")")
}

// endIn are the writes that can return an error.
func (m *model) endIn(err error) []string {
	var out []string
	for _, w := range m.writes {
		if slices.Contains(errorsOf(w), err) {
			out = append(out, w.Go)
		}
	}
	return out
}

// errorsOf are the errors of a write, in the order of its steps.
func errorsOf(w *writeModel) []error {
	var out []error
	add := func(err error) {
		if err != nil && !slices.Contains(out, err) {
			out = append(out, err)
		}
	}
	if i := w.Run.Idempotent; i != nil {
		add(i.Reused)
	}
	for _, s := range w.Run.Steps {
		for _, e := range stepErrors(s) {
			add(e)
		}
		for _, i := range w.Plan.Items {
			for _, c := range s.Entity.Counts {
				if i.Counter() && i.Step.Entity == s.Entity.Name && i.Place.Entity.Name == c.Entity.Name {
					add(c.Entity.NotFound)
				}
			}
		}
	}
	return out
}

// stepErrors are the errors that a step of a write can return.
func stepErrors(s table.Step) []error {
	var out []error
	for _, x := range s.Else {
		out = append(out, x.Err)
	}
	switch s.Action {
	case table.Create:
		out = append(out, s.Entity.Exists)
	case table.Update:
		out = append(out, s.Entity.NotFound)
	case table.Delete, table.Check:
		if s.When != nil && !slices.ContainsFunc(s.Else, func(x table.Else) bool { return x.When == nil }) {
			out = append(out, s.Entity.NotFound)
		}
		return out
	default:
	}
	for _, x := range s.Entity.Markers {
		out = append(out, x.Taken)
	}
	return out
}
