package docs

import (
	"fmt"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/cost"
)

// guarantees lists what always holds because of the way items are written.
func (p *page) guarantees() {
	d := p.design
	var list []string
	for _, e := range d.Entities {
		for _, m := range e.Unique {
			fields := append(m.Key.PK.Fields(), skFields(m.Key)...)
			list = append(list, fmt.Sprintf("No two %s items have the same %s: an item with the key %s, which must not exist yet, is created in the same transaction.",
				code(e.Name), codes(fields), code(keyText(m.Key))))
		}
		for _, c := range e.Copies {
			what := "all fields"
			if !c.All {
				what = codes(c.Fields)
			}
			list = append(list, fmt.Sprintf("The copy %s of %s (%s) always has the same %s: each write changes both in one transaction.",
				code(c.Name), code(e.Name), code(keyText(c.Key)), what))
		}
		for _, c := range e.Counters {
			list = append(list, fmt.Sprintf("%s is %s, maintained in the transactions that change them.", code(e.Name+"."+c.Field), counts(c)))
		}
		for _, s := range e.Snapshots {
			list = append(list, fmt.Sprintf("%s is a snapshot of %s when the item was created, and does not change with it.", code(e.Name+"."+s.Field), code(s.Entity+"."+s.From)))
		}
		if e.TTL != nil {
			list = append(list, expires(e))
		}
	}
	for _, w := range d.Writes {
		if w.Idempotent != nil {
			while := ""
			if e := d.Entity(w.Idempotent.With); e != nil && e.TTL != nil && e.TTL.After > 0 {
				while = ", for " + age(e.TTL) + " at least"
			}
			list = append(list, fmt.Sprintf("%s takes effect once, however often it is sent with the same key of %s%s.", code(w.Name), code(w.Idempotent.With), while))
		}
	}
	for _, i := range d.Invariants {
		says := fmt.Sprintf("%s is declared to hold for every interleaving of writes: %s.", code(i.Name), code(i.Text))
		if i.Doc != "" {
			says += " " + text(sentence(i.Doc))
		}
		list = append(list, says)
	}
	if len(list) == 0 {
		return
	}
	p.heading(2, "Guarantees")
	p.paragraph("These guarantees hold for items written only by the writes on this page.")
	p.list(list)
}

func keyText(k design.Key) string {
	if k.SK == nil {
		return k.PK.Text
	}
	return k.PK.Text + " / " + k.SK.Text
}

func expires(e *design.Entity) string {
	when := "at the time in " + code(e.TTL.Field)
	if e.TTL.After > 0 {
		when = age(e.TTL) + " after their creation"
	}
	return fmt.Sprintf("%s items expire %s. DynamoDB removes them within a few days; until then, reads can still return them.", code(e.Name), when)
}

// month writes the monthly cost of the declared load; nothing if no rates are declared.
func (p *page) month() {
	prices, known := p.region()
	declared := false
	m := cost.OfMonth(p.design, prices)
	for _, pattern := range m.Patterns {
		declared = declared || pattern.Rate > 0
	}
	if !declared {
		return
	}
	p.heading(2, "Monthly cost")
	if !known {
		p.paragraph("There is no price list for region " + code(p.design.Workload.Region) + ".")
		return
	}
	p.paragraph(fmt.Sprintf("Based on the declared rates, sizes and numbers, at the on-demand prices of %s since %s.", prices.Region, prices.Since))
	t := table{head: []string{"Pattern", "Units per call", "of which for indexes", "Calls per second", "Per month"}}
	for _, pattern := range m.Patterns {
		if pattern.Rate > 0 {
			t.row(code(pattern.Name), number(pattern.Units), given(pattern.IndexUnits), number(pattern.Rate), dollars(pattern.Cost))
		}
	}
	p.table(t)
	stored := table{head: []string{"Stored", "Items", "GB", "A month"}}
	for _, s := range m.Storage {
		if s.Items > 0 {
			stored.row(code(s.Place), number(s.Items), number(s.Bytes/(1<<30)), dollars(s.Cost))
		}
	}
	p.table(stored)
	total := fmt.Sprintf("Requests %s, storage %s after the free %s GB: **%s a month**.", dollars(m.OnDemand), dollars(m.StorageCost),
		number(prices.FreeStorage), dollars(m.Total))
	total += fmt.Sprintf(" In provisioned mode the same steady load is %s of read and %s of write capacity at 70 %% use, %s a month.",
		number(m.Provisioned.ReadCapacity), number(m.Provisioned.WriteCapacity), dollars(m.Provisioned.Cost))
	if budget := p.design.Workload.Budget; budget > 0 {
		total += " The budget is " + dollars(budget) + "."
	}
	p.paragraph(total)
}

// findings writes the findings of check: open ones by severity, then accepted ones.
func (p *page) findings() {
	all := check.Check(p.design)
	p.heading(2, "Findings")
	open := 0
	for _, severity := range []struct {
		is    check.Severity
		title string
	}{{check.Error, "Errors"}, {check.Warning, "Warnings"}, {check.Info, "Notes"}} {
		t := table{head: []string{"Rule", "Of", "Finding", "Counterexample", "Fix"}}
		for _, f := range all {
			if f.Severity == severity.is && f.Accepted == "" {
				t.row(f.Rule, code(f.Subject), text(f.Message), code(f.Witness), text(f.Fix))
			}
		}
		if open += len(t.rows); len(t.rows) > 0 {
			p.heading(3, severity.title)
			p.table(t)
		}
	}
	if open == 0 {
		p.paragraph("No open findings.")
	}
	accepted := table{head: []string{"Rule", "Of", "Finding", "Reason for accepting it"}}
	for _, f := range all {
		if f.Accepted != "" {
			accepted.row(f.Rule, code(f.Subject), text(f.Message), text(f.Accepted))
		}
	}
	if len(accepted.rows) > 0 {
		p.heading(3, "Accepted")
		p.table(accepted)
	}
	p.paragraph("To read about a rule, run `monotable check --explain ST201`.")
}
