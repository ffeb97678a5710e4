// Package check finds what is wrong with a design: keys that collide, reads that DynamoDB refuses or that return
// more than they should, partitions that are too hot, indexes that leak, writes that lose or double data.
//
// # Model
//
// A rule (rules.go) has an id, a severity and a page of documentation. A finding is one violation: which rule, of what
// object, where in the text, with a witness where there is one: a key that shows it. An author who knows better
// accepts a finding at the object, with a reason; acceptances that accept nothing are findings themselves, so that
// they do not outlive their cause.
//
// # Invariants
//
//	I1  The findings are a pure function of the design, in the order of its text.
//	I2  What key templates can render is decided exactly (package keylang) or, where that says so, over-approximated: a
//	    collision is never missed. One that may be none is a warning, not an error.
//	I3  A rule whose violation DynamoDB itself would refuse cannot be accepted.
package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
)

// Severity is how bad a finding is.
type Severity string

// The severities, from the worst.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one violation of a rule.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Subject is what the finding is about: an entity, a place of it (Order.GSI1), a read or a write.
	Subject string     `json:"subject"`
	Message string     `json:"message"`
	Pos     design.Pos `json:"pos"`
	// Witness is a key, or a pair of them, that shows the defect; "" where there is none to show.
	Witness string `json:"witness,omitempty"`
	// Fix is what to do; "" where the rule's page says all.
	Fix string `json:"fix,omitempty"`
	// Accepted is the reason for which the authors accept it; "" where they do not.
	Accepted string `json:"accepted,omitempty"`
}

// Within reports whether the finding is about the object or a part of it: one of Order.GSI1 is within Order.
func (f *Finding) Within(object string) bool { return within(f.Subject, object) }

// Findings are what Check returns.
type Findings []Finding

// Worst is the highest severity of what is not accepted; "" where there is nothing.
func (f Findings) Worst() Severity {
	for _, s := range []Severity{Error, Warning, Info} {
		if slices.ContainsFunc(f, func(one Finding) bool { return one.Severity == s && one.Accepted == "" }) {
			return s
		}
	}
	return ""
}

// Check runs all rules.
func Check(d *design.Design) Findings {
	c := &checker{design: d, findings: Findings{}}
	c.keys()
	c.reads()
	c.partitions()
	c.indexes()
	c.writes()
	c.sizes()
	c.expiry()
	c.persons()
	c.spending()
	c.accept()
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(a.Pos.Line-b.Pos.Line, cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject), a.Pos.Column-b.Pos.Column)
	})
	return c.findings
}

// checker collects the findings of one design.
type checker struct {
	design   *design.Design
	findings Findings
	places   []keyed // of languages, once made
}

// found is a finding under way: report adds it.
type found struct {
	Finding
	c *checker
}

// find begins a finding of a rule, with the severity that the rule has.
func (c *checker) find(rule, subject string, p design.Pos, format string, args ...any) *found {
	return &found{c: c, Finding: Finding{
		Rule: rule, Severity: ruleOf(rule).Severity, Subject: subject, Message: fmt.Sprintf(format, args...), Pos: p,
	}}
}

func (f *found) as(s Severity) *found       { f.Severity = s; return f }
func (f *found) witness(text string) *found { f.Witness = text; return f }

// unless makes an error a warning where it may not be one: the question was answered by an over-approximation.
func (f *found) unless(certain bool) *found {
	if !certain && f.Severity == Error {
		f.Severity = Warning
	}
	return f
}

func (f *found) fix(format string, args ...any) *found {
	f.Fix = fmt.Sprintf(format, args...)
	return f
}
func (f *found) report() { f.c.findings = append(f.c.findings, f.Finding) }
