package trial

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// rules are the rules of monotable check that predict a kind of mismatch. Accepting one of them on the tried object, with a
// reason, also accepts the mismatch.
var rules = map[Kind][]string{ //nolint:gochecknoglobals // a table
	WrongOrder:  {"ST105", "ST204"},
	WrongFields: {"ST207", "ST403"},
	Ambiguous:   {"ST208", "ST501"},
	Overread:    {"ST202", "ST203", "ST206", "ST401"},
	Refused:     {"ST201"},
	Collision:   {"ST101", "ST102"},
	Mistaken:    {"ST110"},
}

// Accepted is a kind of mismatch that the design accepts.
type Accepted struct {
	Kind   Kind   `json:"kind"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"`
}

// accept removes the failures that the design accepts from a result. A case without other mismatches no longer fails.
func (t *Trial) accept(out *Result) {
	list := t.acceptances(out.Subject)
	out.Failures = slices.DeleteFunc(out.Failures, func(f Failure) bool {
		i := slices.IndexFunc(list, func(a design.Acceptance) bool { return slices.Contains(rules[f.Kind], a.Rule) })
		if i >= 0 {
			out.Accepted = append(out.Accepted, Accepted{f.Kind, list[i].Rule, list[i].Reason})
		}
		return i >= 0
	})
	if len(out.Failures) == 0 {
		out.Failed = 0
	}
}

// acceptances are those declared on a subject, on its entities and on the place where it is read.
func (t *Trial) acceptances(s Subject) []design.Acceptance {
	d := t.design
	var out []design.Acceptance
	of := func(e *design.Entity) {
		out = append(slices.Concat(out, e.Accept), d.TableOf(e).Accept...)
	}
	switch s.Kind {
	case EntitySubject:
		of(d.Entity(s.Name))
	case ReadSubject:
		r := d.Read(s.Name)
		out = slices.Clone(r.Accept)
		of(d.Entity(r.Entity))
		if x := plan.ForRead(d, r).Plan.Place.Index; x != nil {
			out = append(out, x.Accept...)
		}
	case CollectionSubject:
		c := d.Collection(s.Name)
		out = slices.Clone(c.Accept)
		for _, name := range c.Of {
			of(d.Entity(name))
		}
	case WriteSubject:
		out = d.Write(s.Name).Accept
	}
	return out
}
