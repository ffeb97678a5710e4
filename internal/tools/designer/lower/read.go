package lower

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

func (l *lowerer) read(r *design.Read) {
	d := l.program.Design
	e := d.Entity(r.Entity)
	p := plan.ForRead(d, r).Plan
	if p.Unserved() {
		l.fault(r.Name, r.Pos, "cannot be served by any key and would be a Scan; monotable explain shows what each place lacks")
		return
	}
	out := &Read{Design: r, Plan: p}
	out.Inputs = l.readInputs(r, e)
	for _, in := range out.Inputs {
		if in.Type.Kind == "" {
			l.fault(r.Name, r.Pos, "uses :%s, whose type is unknown", in.Name)
			return
		}
	}
	if lacking := p.Place.Missing(slices.Concat(p.Filter.Fields(), p.FilterBy)); len(lacking) > 0 && (p.Filter != nil || len(p.FilterBy) > 0) {
		l.fault(r.Name, r.Pos, "filters by %s, which %s does not include", strings.Join(lacking, ", "), p.Place)
		return
	}
	if lacking := p.Place.Missing(plan.KeyFields(e)); len(p.Hydrate) > 0 && p.Place.Copy != nil && len(lacking) > 0 {
		l.fault(r.Name, r.Pos, "reads the original item of %s, which does not include %s of its key: add it to the copy's fields, or return less",
			p.Place, strings.Join(lacking, ", "))
		return
	}
	out.Range = e.Field(r.Range)
	out.Fields, out.Whole = fieldsAt(p.Place, r.Returns, len(p.Hydrate) > 0 || p.Place.Kind == plan.MarkerPlace)
	out.Run = &table.Read{
		Pattern: r.Name, Entity: l.entities[e.Name], Many: r.Many, Count: r.Count, Each: r.Each, Place: place(p.Place), Reverse: p.Reverse,
		Consistent: p.Consistent && !p.Place.Global(), FilterBy: p.FilterBy, By: r.Given(), Prefix: r.Prefix, Range: r.Range, Page: r.Page, Limit: r.Limit,
		Hydrate: len(p.Hydrate) > 0, Fields: names(out.Fields, out.Whole),
		Filter: l.condition(e, p.Filter, func(param string) design.Type { return l.typeOfParam(e, p.Filter, out.Inputs, param) }),
	}
	if r.Owner != "" && !p.OwnerInKey {
		out.Run.Owner = r.Owner
	}
	if r.Keys != nil {
		out.Run.MaxKeys = r.Keys.Max
	}
	if banded(p.Place, r.Bucket) {
		out.Run.Bucket = r.Bucket
	}
	pk, sk := p.Place.Attributes()
	if p.Operation == plan.GetItem || p.Operation == plan.BatchGetItem {
		out.Run.Key = slices.Concat(keyAttributes(e, pk, p.Place.PK), keyAttributes(e, sk, p.Place.SK))
		l.program.Reads = append(l.program.Reads, out)
		return
	}
	if out.Run.Scan, out.Run.Segments = p.Wanted, r.Segments; p.Wanted {
		l.program.Reads = append(l.program.Reads, out)
		return
	}
	if out.Run.Select, out.Run.Over = p.Select, p.Over; p.Over != "" {
		out.Run.MaxBuckets = r.MostBuckets()
		if at, back, err := r.Floor(); err == nil { // the design was checked
			if out.Run.Back = back; !at.IsZero() {
				out.Run.Since = at.Format("2006-01-02T15:04:05.000Z")
			}
		}
	}
	out.Run.PK = keyAttributes(e, pk, p.Place.PK)
	out.Run.SK = sortConditions(sk, p.SK)
	out.Run.Sort = attributes(sk)
	l.program.Reads = append(l.program.Reads, out)
}

// banded reports whether a place has a field's |band in its partition key.
func banded(p plan.Place, field string) bool {
	return slices.ContainsFunc(p.PK, func(t *design.Template) bool {
		return slices.ContainsFunc(t.Parts, func(part design.Part) bool {
			return part.Field == field && slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name == "band" })
		})
	})
}

func place(p plan.Place) table.Place {
	out := table.Place{}
	if p.Copy != nil {
		out.Copy = p.Copy.Name
	}
	switch p.Kind {
	case plan.KeyPlace:
		out.Kind = table.KeyPlace
	case plan.CopyPlace:
		out.Kind = table.CopyPlace
	case plan.EntryPlace:
		out.Kind, out.Index, out.Entry = table.EntryPlace, p.Index.Name, p.Entry
	case plan.MarkerPlace:
		out.Kind, out.Marker = table.MarkerPlace, p.Name
	}
	return out
}

func attributes(list []design.KeyAttribute) []table.Attribute {
	var out []table.Attribute
	for _, k := range list {
		out = append(out, attribute(k))
	}
	return out
}

func sortConditions(attributes []design.KeyAttribute, list []plan.SortCondition) []table.SortCondition {
	var out []table.SortCondition
	for i, c := range list {
		s := table.SortCondition{Attribute: attribute(attributes[i]), Known: parts(c.Template.Parts[:c.Parts])}
		rest := c.Template.Parts[c.Parts:]
		switch c.Comparison {
		case plan.SortEqual:
			s.Comparison = table.Equal
		case plan.SortBeginsWith:
			s.Comparison = table.BeginsWith
		case plan.SortBetween:
			s.Comparison = table.Between
		}
		if cmp.Or(c.Prefix, c.Range) != "" {
			s.Next, rest = part(rest[0]), rest[1:]
		}
		s.Open = len(rest) > 0
		out = append(out, s)
	}
	return out
}

// fieldsAt are the fields of what is found at a place, and whether those are all of the entity's. An item that is read
// again by its key has all of them.
func fieldsAt(p plan.Place, returns []string, again bool) ([]*design.Field, bool) {
	var out []*design.Field
	for _, f := range p.Entity.Fields {
		if len(returns) > 0 && !slices.Contains(returns, f.Name) || !again && !p.Has(f.Name) {
			continue
		}
		out = append(out, f)
	}
	return out, len(out) == len(p.Entity.Fields)
}

func names(fields []*design.Field, whole bool) []string {
	if whole {
		return nil
	}
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return out
}

// readInputs are the inputs of a read. An input whose type cannot be determined has none.
func (l *lowerer) readInputs(r *design.Read, e *design.Entity) []Input {
	var out []Input
	add := func(in Input) {
		if !slices.ContainsFunc(out, func(known Input) bool { return known.Name == in.Name }) {
			out = append(out, in)
		}
	}
	for _, name := range append(slices.Clone(r.Given()), r.Owner) {
		if f := e.Field(name); f != nil {
			add(fieldInput(e, f))
		}
	}
	if f := e.Field(r.Prefix); f != nil {
		add(Input{Name: f.Name, Doc: f.Doc, Type: design.Type{Kind: design.KindText}, Of: e.Name + "." + f.Name, Optional: true})
	}
	for _, param := range r.Filter.Params() {
		t, known := compared(l.program.Design, e, r.Filter, param)
		switch {
		case param == "now" && (!known || t.Kind == design.KindTTL || t.Kind == design.KindTime):
			// the time of the call
		default:
			add(Input{Name: param, Type: t, Of: r.Name + "'s filter"})
		}
	}
	return out
}

func fieldInput(e *design.Entity, f *design.Field) Input {
	return Input{Name: f.Name, Doc: f.Doc, Type: f.Type, MaxBytes: f.MaxBytes, MinBytes: f.MinBytes, Of: e.Name + "." + f.Name}
}

// typeOfParam is the type of a condition's parameter: that of the input, or for the time of the call that of what it
// is compared with.
func (l *lowerer) typeOfParam(e *design.Entity, c *design.Condition, inputs []Input, name string) design.Type {
	for _, in := range inputs {
		if in.Name == name {
			return in.Type
		}
	}
	if t, known := compared(l.program.Design, e, c, name); known {
		return t
	}
	return design.Type{Kind: design.KindTTL}
}

func (l *lowerer) collection(c *design.Collection) {
	d := l.program.Design
	p := plan.ForCollection(d, c)
	if len(p.Members) == 0 {
		l.fault(c.Name, c.Pos, "cannot be served: no partition holds all of %s", strings.Join(c.Of, ", "))
		return
	}
	out := &Collection{Design: c, Plan: p}
	run := &table.Collection{
		Pattern: c.Name, Table: l.tables[p.Members[0].Table.Name], Root: -1, By: c.By, Reverse: p.Reverse,
		Consistent: p.Consistent, Page: c.Page,
	}
	if x := p.Members[0].Index; x != nil {
		run.Index = x.Name
	}
	for i, m := range p.Members {
		fields, whole := fieldsAt(m, nil, false)
		out.Members = append(out.Members, Member{Entity: m.Entity, Fields: fields, Whole: whole})
		run.Members = append(run.Members, table.Member{Entity: l.entities[m.Entity.Name], Place: place(m), Fields: names(fields, whole)})
		if m.Entity.Name == c.Root {
			run.Root = i
		}
	}
	first := p.Members[0].Entity
	for _, name := range c.By {
		out.Inputs = append(out.Inputs, fieldInput(first, first.Field(name)))
	}
	if c.Owner != "" && !p.OwnerInKey {
		owned := first
		if run.Root >= 0 {
			owned = p.Members[run.Root].Entity
		}
		run.Owner = c.Owner
		if !slices.Contains(c.By, c.Owner) {
			out.Inputs = append(out.Inputs, fieldInput(owned, owned.Field(c.Owner)))
		}
	}
	pk, sk := p.Members[0].Attributes()
	run.PK, run.Sort = keyAttributes(first, pk, p.Members[0].PK), attributes(sk)
	if p.SK != nil {
		bound := table.SortCondition{Attribute: attribute(sk[0]), Comparison: table.BeginsWith, Known: parts(p.SK.From)}
		if !p.SK.Prefix() {
			bound.Comparison, bound.To, bound.Open = table.Within, parts(p.SK.To), p.SK.Open
		}
		run.SK = []table.SortCondition{bound}
	}
	if run.RootApart = p.RootApart; run.RootApart {
		run.RootSK = sortConditions(sk, p.RootSK())
	}
	out.Run = run
	l.program.Collections = append(l.program.Collections, out)
}
