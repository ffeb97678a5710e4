package check

import (
	"strings"

	"github.com/monotable/monotable/design"
)

// acceptance is one `accept` in the design, with the object it is declared on.
type acceptance struct {
	subject string
	design.Acceptance
	used bool
}

// accept marks accepted findings and reports acceptances that match none.
func (c *checker) accept() {
	all := acceptances(c.design)
	for i := range c.findings {
		f := &c.findings[i]
		for j := range all {
			a := &all[j]
			if a.Rule != f.Rule || !within(f.Subject, a.subject) {
				continue
			}
			a.used = true
			if ruleOf(f.Rule).Refused {
				continue // DynamoDB rejects it all the same
			}
			f.Accepted = a.Reason
		}
	}
	for _, a := range all {
		switch {
		case ruleOf(a.Rule).ID == "":
			c.find("ST001", a.subject, a.Pos, "accepts %s, which is not a rule", a.Rule).report()
		case ruleOf(a.Rule).Refused:
			c.find("ST001", a.subject, a.Pos, "accepts %s, but DynamoDB itself rejects violations of that rule", a.Rule).
				fix("fix the design").report()
		case !a.used && ruleOf(a.Rule).Command == "": // another command reports this rule's findings
			c.find("ST001", a.subject, a.Pos, "accepts %s, but that rule no longer finds anything here", a.Rule).
				fix("remove the acceptance").report()
		}
	}
}

// within reports whether a finding's subject is the object or part of it: Order.GSI1 is within Order.
func within(subject, object string) bool {
	for part := range strings.SplitSeq(subject, "+") {
		if part == object || strings.HasPrefix(part, object+".") {
			return true
		}
	}
	return false
}

func acceptances(d *design.Design) []acceptance {
	var all []acceptance
	add := func(subject string, list []design.Acceptance) {
		for _, a := range list {
			all = append(all, acceptance{subject: subject, Acceptance: a})
		}
	}
	for _, t := range d.Tables {
		add(t.Name, t.Accept)
		for _, x := range t.Indexes {
			add(t.Name+"."+x.Name, x.Accept)
		}
	}
	for _, e := range d.Entities {
		add(e.Name, e.Accept)
	}
	for _, c := range d.Collections {
		add(c.Name, c.Accept)
	}
	for _, r := range d.Reads {
		add(r.Name, r.Accept)
	}
	for _, w := range d.Writes {
		add(w.Name, w.Accept)
	}
	return all
}
