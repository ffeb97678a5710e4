package plan

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// scan plans a read of all of a table, or of the place that the read names.
func scan(d *design.Design, r *design.Read) Result {
	places := Places(d, d.Entity(r.Entity))
	i := max(0, slices.IndexFunc(places, func(p Place) bool { return p.Name == r.Via }))
	m := matcher{design: d, place: places[i], read: r, plan: &Plan{
		Operation: Scan, Wanted: true, Place: places[i], Fanout: max(1, r.Segments), Consistent: r.Consistent, Filter: r.Filter,
		OwnerField: r.Owner, Limit: max(r.Limit, r.Page),
	}}
	m.rest()
	lacks := slices.DeleteFunc(m.lacks, func(l Shortfall) bool { return l.Reason == FilterNeeded || l.Reason == NotEveryItem })
	return Result{Read: r, Plan: m.plan, Lacks: lacks}
}

// selects reports whether a Query finds exactly the items to be counted, so that DynamoDB can count them without anyone
// looking at the items. It is true only if the literals and types of the templates prove it.
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

// filtersKeys reports whether the filter uses key attributes, which DynamoDB does not allow.
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

// separated reports whether parts with known fields make a text that is neither made by other values nor a prefix of theirs,
// judging by their types: each field must be followed by something that it cannot contain, or by the end, unless the end is
// open.
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

// fixed reports whether all texts of a type have the same length.
func fixed(k design.Kind) bool {
	switch k {
	case design.KindUUID, design.KindULID, design.KindKSUID, design.KindTime, design.KindDate:
		return true
	default:
		return false
	}
}

// bounded reports whether the texts of a type contain only letters, digits and a few other characters.
func bounded(k design.Kind) bool {
	switch k {
	case design.KindText, design.KindEmail, design.KindSecret, design.KindBytes, design.KindEnum:
		return false
	default:
		return true
	}
}

// alone reports whether the range of the Query contains nothing else of the design, judging by the literal prefixes of the
// keys.
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

// apart reports whether the range of the Query contains no item of another place.
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

// differ reports whether no text can begin with both.
func differ(a, b string) bool { return !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) }
