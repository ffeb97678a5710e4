package docs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// patterns writes an overview of the reads, collections and writes, then each of them.
func (p *page) patterns() {
	d := p.design
	if len(d.Reads)+len(d.Collections)+len(d.Writes) == 0 {
		return
	}
	p.heading(2, "Access patterns")
	t := table{head: []string{"#", "Pattern", "Description", "Request", "Served by", "Units", "Per second"}}
	for i, e := range explain.All(d) {
		units := e.ReadUnits + e.WriteUnits
		t.row(fmt.Sprint(i+1), code(e.Name), text(sentence(e.Summary)), operation(e), code(e.Place), given(units), given(p.rate(e.Name)))
	}
	p.table(t)
	p.paragraph("Units are read request units per call of a read, or write request units per call of a write, based on the declared sizes.")
	for _, r := range d.Reads {
		p.read(r)
	}
	for _, c := range d.Collections {
		p.collection(c)
	}
	for _, w := range d.Writes {
		p.write(w)
	}
}

// operation names the request of a pattern.
func operation(e explain.Pattern) string {
	switch {
	case e.Batch:
		return "BatchWriteItem"
	case e.Kind == "write" && e.Transaction:
		return "TransactWriteItems"
	case e.Kind == "write" && len(e.Items) > 0:
		return single(e.Items[0].Action)
	case e.Request == nil:
		return "none"
	case e.Request.Then != nil:
		return string(e.Request.Operation) + ", then " + string(e.Request.Then.Operation)
	default:
		return string(e.Request.Operation)
	}
}

// single is the request of a write that touches one item.
func single(action string) string {
	switch design.Action(action) {
	case design.Update, design.Upsert:
		return "UpdateItem"
	case design.Delete:
		return "DeleteItem"
	case design.Check:
		return "TransactWriteItems" // only a transaction can check a condition without changing anything
	default:
		return "PutItem"
	}
}

func (p *page) rate(name string) float64 {
	d := p.design
	if r := d.Read(name); r != nil {
		return r.Rate
	}
	if c := d.Collection(name); c != nil {
		return c.Rate
	}
	if w := d.Write(name); w != nil {
		return w.Rate
	}
	return 0
}

// read writes one read.
func (p *page) read(r *design.Read) {
	e := explain.Read(p.design, r)
	chosen := plan.ForRead(p.design, r).Plan
	p.heading(3, "Read "+r.Name)
	p.paragraph(text(r.Doc))
	t := table{head: []string{text(sentence(e.Summary)), ""}}
	p.request(&t, e)
	if where := chosen.Place.Where; where != nil {
		t.row("Contains only", "items where "+code(where.Text))
	}
	if len(r.Returns) > 0 {
		t.row("Returns", codes(r.Returns))
	}
	switch {
	case r.Shared != "":
		t.row("Whose", "other tenants' items too: "+text(r.Shared))
	case r.Owner != "" && chosen.OwnerInKey:
		t.row("Whose", "the caller's own: "+code(r.Owner)+" is in the key")
	case r.Owner != "":
		t.row("Whose", "the caller's own: "+code(r.Owner)+" is compared after the read, and another owner's item counts as not found")
	case p.design.Tenant != "" && slices.Contains(r.By, p.design.Tenant):
		t.row("Whose", "items of the given "+code(p.design.Tenant))
	}
	for _, l := range e.Lacks {
		t.row("But", text(l))
	}
	p.table(t)
}

// collection writes one collection.
func (p *page) collection(c *design.Collection) {
	e := explain.Collection(p.design, c)
	p.heading(3, "Collection "+c.Name)
	p.paragraph(text(c.Doc))
	t := table{head: []string{text(sentence(e.Summary)), ""}}
	p.request(&t, e)
	if c.Root != "" {
		t.row("Root", code(c.Root))
	}
	switch {
	case c.Shared != "":
		t.row("Whose", "other tenants' items too: "+text(c.Shared))
	case c.Owner != "" && slices.Contains(c.By, c.Owner):
		t.row("Whose", "the caller's own: "+code(c.Owner)+" is in the key")
	case c.Owner != "":
		t.row("Whose", "the caller's own: "+code(c.Owner)+" is compared after the read")
	}
	if e.Request == nil {
		for _, n := range e.Near {
			t.row("But", text(n.Place+" "+strings.Join(n.Lacks, "; ")))
		}
	}
	p.table(t)
}

// request adds the request, the place it reads, its freshness and its cost.
func (p *page) request(t *table, e explain.Pattern) {
	if e.Request == nil {
		t.row("Request", "none: no request can serve it")
		return
	}
	requestRows(t, "Request", e.Request)
	t.row("Place", code(e.Place))
	t.row("Freshness", text(e.Freshness))
	cost := units(e.ReadUnits, "read unit") + " per call"
	switch {
	case e.UnitsPerKey > 0:
		cost += fmt.Sprintf(" with %s (%s for each)", units(e.Keys, "key"), number(e.UnitsPerKey))
	case e.WholeUnits > e.ReadUnits:
		cost += " for a page; " + units(e.WholeUnits, "read unit") + " for all"
	}
	if rate := p.rate(e.Name); rate > 0 {
		cost += ", " + units(rate, "call") + " a second"
	}
	t.row("Cost", cost)
}

func requestRows(t *table, name string, r *plan.Request) {
	what := string(r.Operation) + " on " + code(r.Table)
	if r.Index != "" {
		what += ", index " + code(r.Index)
	}
	if r.Times > 1 {
		what += fmt.Sprintf(", %d times, once per shard, and merged", r.Times)
	}
	if r.Over != "" {
		what += ", " + r.Walk()
	}
	if r.Segments > 1 {
		what += fmt.Sprintf(", in %d segments at once", r.Segments)
	}
	if r.Operation == plan.BatchGetItem {
		what += ", 100 keys at a time"
	}
	if r.Select != "" {
		what += ", Select " + r.Select
	}
	if r.Consistent {
		what += ", ConsistentRead"
	}
	if r.First != nil {
		requestRows(t, "First, for the root", r.First)
	}
	t.row(name, what)
	for _, k := range r.Key {
		t.row("Key", code(k.Name)+" = "+code(k.Value))
	}
	if r.KeyCondition != "" {
		t.row("Key condition", code(r.KeyCondition))
	}
	if r.Filter != "" {
		t.row("Filter", code(r.Filter)+", after the read; discarded items are paid for")
	}
	for _, v := range r.Values {
		t.row("", code(v.Name)+" = "+code(v.Value))
	}
	if r.Operation == plan.Query {
		direction := "ascending"
		if !r.Forward {
			direction = "descending, ScanIndexForward false"
		}
		t.row("Direction", direction)
	}
	if r.Limit > 0 {
		t.row("Limit", number(float64(r.Limit)))
	}
	if r.Then != nil {
		requestRows(t, "Then, for each item", r.Then)
	}
}

// write writes one write: its input, the items it affects, and its errors.
func (p *page) write(w *design.Write) {
	e := explain.Write(p.design, w)
	p.heading(3, "Write "+w.Name)
	p.paragraph(text(w.Doc))
	fixed, perLine := plan.ForWrite(p.design, w).Actions()
	says := []string{"one " + operation(e) + " of " + plural.Of(fixed, "item")}
	if perLine > 0 {
		says[0] += fmt.Sprintf(" and %d for each line", perLine)
	}
	cost := units(e.WriteUnits, "write unit")
	if e.UnitsPerLine > 0 {
		cost += fmt.Sprintf(" with %s (%s for each)", units(e.Lines, "line"), number(e.UnitsPerLine))
	}
	says = append(says, cost)
	if w.Rate > 0 {
		says = append(says, units(w.Rate, "call")+" a second")
	}
	p.paragraph(sentence(strings.Join(says, "; ")))
	p.callerGives(w)
	items := table{head: []string{"Action", "Item", "Key", "If", "Changes", "Index entries", "Units"}}
	for i, item := range e.Items {
		action := item.Action
		if item.Each {
			action += ", each line"
		}
		of := plan.ForWrite(p.design, w).Items[i]
		items.row(text(action), code(item.Place), code(item.Key), condition(item, of), changes(of), text(strings.Join(item.Entries, ", ")), number(item.Units))
	}
	p.table(items)
	p.refusals(w)
}

// condition is the condition for writing an item. A copy or marker is written in the transaction of the item with the
// condition.
func condition(item explain.Item, of plan.ItemWrite) string {
	switch {
	case item.When == "":
		return ""
	case of.Step != nil && of.Step.When != nil && (of.Place.Kind != plan.KeyPlace || of.Place.Entity.Name != of.Step.Entity):
		return ""
	case of.Step != nil && of.Step.When != nil:
		return code(item.When)
	default:
		return text(item.When)
	}
}

// changes are the changes of fields in a step.
func changes(of plan.ItemWrite) string {
	s := of.Step
	switch {
	case s == nil:
		return ""
	case of.Place.Kind != plan.KeyPlace && of.Changed == nil, of.Place.Kind == plan.MarkerPlace:
		return ""
	case of.Place.Entity.Name != s.Entity:
		return "counter " + codes(of.Changed)
	}
	var out []string
	counters := slices.Clone(of.Changed)
	for _, list := range []struct {
		assignments []*design.Assignment
		how         string
	}{{s.Set, "%s = %s"}, {s.Add, "%s += %s"}, {s.Init, "%s = %s if it was absent"}, {s.Drop, "%s without %s"}, {s.Append, "%s with %s appended"}, {s.Prepend, "%s with %s prepended"}} {
		for _, a := range list.assignments {
			root := design.Root(a.Field)
			counters = slices.DeleteFunc(counters, func(f string) bool { return f == root })
			if of.Place.Has(root) {
				out = append(out, fmt.Sprintf(list.how, code(a.Field), code(a.Value.Text)))
			}
		}
	}
	for _, name := range s.Patch {
		counters = slices.DeleteFunc(counters, func(f string) bool { return f == name })
		if of.Place.Has(name) {
			out = append(out, fmt.Sprintf("%s = %s if it is given", code(name), code(":"+name)))
		}
	}
	for _, path := range s.Remove {
		root := design.Root(path)
		counters = slices.DeleteFunc(counters, func(f string) bool { return f == root })
		if of.Place.Has(root) {
			out = append(out, code(path)+" removed")
		}
	}
	if len(counters) > 0 && of.Place.Kind == plan.KeyPlace {
		out = append(out, "counter "+codes(counters)) // which other steps change
	}
	return strings.Join(out, ", ")
}

// callerGives describes a write's inputs other than the items' fields.
func (p *page) callerGives(w *design.Write) {
	var says []string
	for _, f := range w.Params {
		param := code(f.Name) + " (" + text(f.Type.String()) + ")"
		if f.Optional {
			param += ", which may be absent"
		}
		if f.Doc != "" {
			param += ": " + text(f.Doc)
		}
		says = append(says, "Parameter "+param+".")
	}
	if l := w.Lines; l != nil {
		bound := "A list of lines, without a bound."
		if l.Max > 0 {
			bound = fmt.Sprintf("A list of at most %d lines.", l.Max)
		}
		says = append(says, bound)
	}
	if i := w.Idempotent; i != nil {
		says = append(says, "Retries are recognised by "+code(i.With)+p.idempotency(i))
	}
	p.list(says)
}

func (p *page) idempotency(i *design.Idempotent) string {
	out := ""
	if e := p.design.Entity(i.With); e != nil {
		out += ", key " + code(strings.Join(slices.DeleteFunc([]string{e.Key.PK.Text, skText(e.Key)}, func(s string) bool { return s == "" }), " / "))
		if e.TTL != nil && e.TTL.After > 0 {
			out += ", for " + age(e.TTL)
		}
	}
	if len(i.Request) > 0 {
		out += "; a retry must have the same " + codes(i.Request)
	}
	if i.Replay != "" {
		out += "; it returns the result of " + code(i.Replay)
	}
	return out + "."
}

func skText(k design.Key) string {
	if k.SK == nil {
		return ""
	}
	return k.SK.Text
}

// refusals are the errors that a write declares.
func (p *page) refusals(w *design.Write) {
	t := table{head: []string{"Error", "Failing step", "When"}}
	for _, s := range w.Steps {
		for _, r := range s.Else {
			when := "any other failure"
			switch {
			case r.When != nil:
				when = code(r.When.Text)
			case len(s.Else) == 1 && s.When != nil:
				when = "not " + code(s.When.Text)
			case len(s.Else) == 1:
				when = "any failure"
			}
			t.row(code(r.Error), string(s.Action)+" "+code(s.Entity), when)
		}
	}
	p.table(t)
}
