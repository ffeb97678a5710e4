package docs

import (
	"fmt"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/cost"
)

// guarantees lists what always holds because of how items are written.
func (p *page) guarantees() {
	d := p.design
	var list []string
	for _, e := range d.Entities {
		for _, m := range e.Unique {
			fields := append(m.Key.PK.Fields(), skFields(m.Key)...)
			list = append(list, fmt.Sprintf("No two %s items have the same %s: an item with the key %s is made in the same transaction, and must not exist.",
				code(e.Name), codes(fields), code(keyText(m.Key))))
		}
		for _, c := range e.Copies {
			what := "all fields"
			if !c.All {
				what = codes(c.Fields)
			}
			list = append(list, fmt.Sprintf("The copy %s of %s (%s) is equal in %s at every moment: each write changes both in one transaction.",
				code(c.Name), code(e.Name), code(keyText(c.Key)), what))
		}
		for _, c := range e.Counters {
			list = append(list, fmt.Sprintf("%s is %s, counted in the transactions that change them.", code(e.Name+"."+c.Field), counts(c)))
		}
		for _, s := range e.Snapshots {
			list = append(list, fmt.Sprintf("%s keeps what %s was when the item was made, and does not follow it.", code(e.Name+"."+s.Field), code(s.Entity+"."+s.From)))
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
			list = append(list, fmt.Sprintf("%s takes effect once, however often it is sent with one key of %s%s.", code(w.Name), code(w.Idempotent.With), while))
		}
	}
	for _, i := range d.Invariants {
		says := fmt.Sprintf("%s is declared to hold in whatever order writes come: %s.", code(i.Name), code(i.Text))
		if i.Doc != "" {
			says += " " + text(sentence(i.Doc))
		}
		list = append(list, says)
	}
	if len(list) == 0 {
		return
	}
	p.heading(2, "Guarantees")
	p.paragraph("They hold for items that are written by the writes of this page only.")
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
	return fmt.Sprintf("%s items expire %s. DynamoDB removes them within a few days of that; till then reads can still find them.", code(e.Name), when)
}

// month writes what the declared load costs; nothing where no rates are declared.
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
	p.heading(2, "What a month costs")
	if !known {
		p.paragraph("There is no price list for the region " + code(p.design.Workload.Region) + ".")
		return
	}
	p.paragraph(fmt.Sprintf("By the declared rates, sizes and numbers, at the on-demand prices of %s since %s.", prices.Region, prices.Since))
	t := table{head: []string{"Pattern", "Units a call", "of them for indexes", "Calls a second", "A month"}}
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
	total := fmt.Sprintf("Requests %s, storage %s after the %s GB that cost nothing: **%s a month**.", dollars(m.OnDemand), dollars(m.StorageCost),
		number(prices.FreeStorage), dollars(m.Total))
	total += fmt.Sprintf(" In provisioned mode the same steady load is %s of read and %s of write capacity at 70 %% use, %s a month.",
		number(m.Provisioned.ReadCapacity), number(m.Provisioned.WriteCapacity), dollars(m.Provisioned.Cost))
	if budget := p.design.Workload.Budget; budget > 0 {
		total += " The budget is " + dollars(budget) + "."
	}
	p.paragraph(total)
}

// findings writes what check finds: what is open by severity, then what is accepted.
func (p *page) findings() {
	all := check.Check(p.design)
	p.heading(2, "Findings")
	open := 0
	for _, severity := range []struct {
		is    check.Severity
		title string
	}{{check.Error, "Errors"}, {check.Warning, "Warnings"}, {check.Info, "Notes"}} {
		t := table{head: []string{"Rule", "Of", "Finding", "Shown by", "Fix"}}
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
		p.paragraph("Nothing is open.")
	}
	accepted := table{head: []string{"Rule", "Of", "Finding", "Accepted because"}}
	for _, f := range all {
		if f.Accepted != "" {
			accepted.row(f.Rule, code(f.Subject), text(f.Message), text(f.Accepted))
		}
	}
	if len(accepted.rows) > 0 {
		p.heading(3, "Accepted")
		p.table(accepted)
	}
	p.paragraph("The page of a rule: `monotable check --explain ST201`.")
}
