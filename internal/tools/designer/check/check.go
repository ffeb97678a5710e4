// Package check finds defects in a design: keys that collide, reads that DynamoDB rejects or that return too much, hot
// partitions, indexes that leak data, and writes that lose or duplicate it.
//
// # Model
//
// A rule (rules.go) has an ID, a severity and a page of documentation. A finding is one violation: the rule, the object,
// the position in the text and, where possible, a counterexample such as a key. Authors can accept a finding on the
// object, with a reason. An acceptance that matches no finding is itself a finding, so acceptances do not outlive their
// cause.
//
// # Invariants
//
//	I1  Findings are a pure function of the design, ordered as in its text.
//	I2  The keys that templates can render are decided exactly (package keylang) or, where it says so, over-approximated: a
//	    collision that may be spurious is a warning instead of an error. No collision is missed, except of values that the design
//	    means to be equal (lower, fold, slug, date), of hashes of 16 digits, and of generated identifiers (identity.go).
//	I3  A violation that DynamoDB itself would reject cannot be accepted.
package check

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
)

// Severity is the severity of a finding.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Info    Severity = "info"
)

// Finding is one violation of a rule.
type Finding struct {
	Rule     string   `json:"rule"`
	Severity Severity `json:"severity"`
	// Subject is the object of the finding: an entity, one of its places (Order.GSI1), a read or a write.
	Subject string     `json:"subject"`
	Message string     `json:"message"`
	Pos     design.Pos `json:"pos"`
	// Witness is a counterexample, such as a key or a pair of keys that shows the defect; "" if there is none.
	Witness string `json:"witness,omitempty"`
	// Fix says how to fix it; "" if the rule's page is enough.
	Fix string `json:"fix,omitempty"`
	// Accepted is the authors' reason for accepting the finding; "" if they have not.
	Accepted string `json:"accepted,omitempty"`
	// Unidentified says that a key does not identify its item, in a finding of a rule that is otherwise about two keys.
	Unidentified bool `json:"-"`
}

// Within reports whether the finding is about the object or part of it: a finding on Order.GSI1 is within Order.
func (f *Finding) Within(object string) bool { return within(f.Subject, object) }

// Findings are what Check returns.
type Findings []Finding

// Worst returns the highest severity among findings that are not accepted; "" if there are none.
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
	c.constants()
	c.samples()
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
	places   []keyed // cached result of languages
}

// found is a finding under construction: report adds it.
type found struct {
	Finding
	c *checker
}

// find starts a finding with the rule's severity.
func (c *checker) find(rule, subject string, p design.Pos, format string, args ...any) *found {
	return &found{c: c, Finding: Finding{
		Rule: rule, Severity: ruleOf(rule).Severity, Subject: subject, Message: fmt.Sprintf(format, args...), Pos: p,
	}}
}

func (f *found) as(s Severity) *found       { f.Severity = s; return f }
func (f *found) witness(text string) *found { f.Witness = text; return f }

// unless downgrades an error to a warning if the answer is not certain because it was over-approximated.
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
