package plan

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// scan plans a read of all of a table, or of the place that it names.
func scan(d *design.Design, r *design.Read) Result {
	places := Places(d, d.Entity(r.Entity))
	i := max(0, slices.IndexFunc(places, func(p Place) bool { return p.Name == r.Via }))
	m := matcher{design: d, place: places[i], read: r, plan: &Plan{
		Operation: Scan, Wanted: true, Place: places[i], Fanout: max(1, r.Segments), Consistent: r.Consistent, Filter: r.Filter,
		OwnerField: r.Owner, Limit: max(r.Limit, r.Page),
	}}
	m.rest()
	lacks := slices.DeleteFunc(m.lacks, func(l Lack) bool { return l.Reason == FilterNeeded || l.Reason == NotEveryItem })
	return Result{Read: r, Plan: m.plan, Lacks: lacks}
}

// selects reports whether a Query finds just what is to be counted, so that DynamoDB can count it: no item has to be looked at.
// It is true only where the templates show it by their literals and types.
func (p *Plan) selects(d *design.Design) bool {
	if p.Operation != Query || p.loose || p.Over != "" || len(p.Hydrate) > 0 || p.Filter != nil && p.filtersKeys() {
		return false
	}
	for _, t := range p.Place.PK {
		if !p.separated(t.Parts, false) {
			return false
		}
	}
	for _, c := range p.SK {
		open := c.Comparison == SortBeginsWith && c.Prefix == ""
		if !p.separated(c.Template.Parts[:c.Parts], open) || c.Prefix+c.Range != "" && !plain(c.Template.Parts[c.Parts]) {
			return false
		}
	}
	return p.alone(d)
}

// filtersKeys reports whether the filter is about attributes of keys, where DynamoDB takes none.
func (p *Plan) filtersKeys() bool {
	return slices.ContainsFunc(p.Filter.Fields(), func(name string) bool {
		f := p.Place.Entity.Field(name)
		pk, sk := p.Place.Attributes()
		table := Place{Table: p.Place.Table}
		tablePK, tableSK := table.Attributes()
		return f != nil && slices.ContainsFunc(slices.Concat(pk, sk, tablePK, tableSK), func(k design.KeyAttribute) bool { return k.Name == f.Path[0] })
	})
}

// plain reports whether bounds of a part are bounds of its values.
func plain(part design.Part) bool {
	return !slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name != "pad" && f.Name != "desc" && f.String() != "ts(ms)" })
}

// separated reports whether parts whose fields are known make a text that no other values begin with, or make, as far as their
// types tell it: each field is followed by what it cannot hold, or by the end, which where more can follow is none.
func (p *Plan) separated(parts []design.Part, open bool) bool {
	for i, part := range parts {
		f := p.Place.Entity.Field(part.Field)
		switch {
		case f == nil:
			continue
		case fixed(f.Type.Kind) && len(part.Funcs) == 0:
			continue
		case i == len(parts)-1:
			if open {
				return false
			}
			continue
		}
		next := parts[i+1]
		if next.Literal == "" || !bounded(f.Type.Kind) || strings.ContainsAny(next.Literal[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@- ") {
			return false
		}
	}
	return true
}

// fixed are the types whose texts all have one length.
func fixed(k design.Kind) bool {
	switch k {
	case design.KindUUID, design.KindULID, design.KindKSUID, design.KindTime, design.KindDate:
		return true
	default:
		return false
	}
}

// bounded are the types whose texts have letters, digits and few marks only.
func bounded(k design.Kind) bool {
	switch k {
	case design.KindText, design.KindEmail, design.KindSecret, design.KindBytes, design.KindEnum:
		return false
	default:
		return true
	}
}

// alone reports whether nothing else that the design has is in what the Query reads, by the literals that the keys begin with.
func (p *Plan) alone(d *design.Design) bool {
	for _, e := range d.Entities {
		for _, q := range Places(d, e) {
			if q.Table != p.Place.Table || q.Index != p.Place.Index || q.String() == p.Place.String() && q.Copy == p.Place.Copy {
				continue
			}
			if !p.apart(q) {
				return false
			}
		}
	}
	return true
}

// apart reports whether no item of another place is in what the Query reads.
func (p *Plan) apart(q Place) bool {
	for i, t := range p.Place.PK {
		if i < len(q.PK) && differ(t.Prefix(), q.PK[i].Prefix()) {
			return true
		}
	}
	for i, c := range p.SK {
		if i < len(q.SK) && differ((&design.Template{Parts: c.Template.Parts[:c.Parts]}).Prefix(), q.SK[i].Prefix()) {
			return true
		}
	}
	return false
}

// differ reports whether no text begins with both.
func differ(a, b string) bool { return !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) }
