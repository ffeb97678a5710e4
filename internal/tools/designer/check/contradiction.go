package check

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// contradiction is ST214: the filter of a read and the condition of the sparse index that serves it. Where no item meets both,
// the read never finds anything; where all that are in the index pass, the filter does nothing.
//
// The two are tried on items made of the constants that stand in them and of what lies around those. Conditions that ask for
// more than comparisons of a few scalar fields are left alone.
func (c *checker) contradiction(r *design.Read, p *plan.Plan) {
	if p.Place.Where == nil || p.Filter == nil {
		return
	}
	w, ok := expression.Try(c.design, p.Place.Entity, p.Place.Where, p.Filter)
	if !ok {
		return
	}
	in, dropped, both := "", false, false
	where, err := expression.Bind(c.design, p.Place.Entity, p.Place.Where, nil)
	if err != nil {
		return
	}
	complete := w.EachParams(func(params expression.Values) bool {
		filter, err := expression.Bind(c.design, p.Place.Entity, p.Filter, func(name string) (types.AttributeValue, error) { return params[name], nil })
		if err != nil {
			return false
		}
		return w.EachItem(func(item expression.Values) bool {
			holds, err := where.Holds(item)
			if !holds || err != nil {
				return err == nil
			}
			if in == "" {
				in = w.Text(item)
			}
			passes, err := filter.Holds(item)
			both, dropped = both || passes, dropped || !passes
			return err == nil && (!both || !dropped)
		})
	})
	switch {
	case both && dropped || !complete || in == "":
	case !both:
		c.find("ST214", r.Name, r.Pos, "never finds anything: %s holds items for which \"%s\" holds, and of those \"%s\" drops all", p.Place, p.Place.Where.Text, p.Filter.Text).
			witness(in + " is in the index and is dropped; what the filter wants is not there").fix("another index, or the filter without what the index excludes").report()
	default:
		c.find("ST214", r.Name, r.Pos, "has a filter that drops nothing: whatever is in %s has \"%s\"", p.Place, p.Place.Where.Text).as(Info).
			fix("no filter").report()
	}
}

// instant is ST215: a read of a list knows a time whose period chooses the partition, and the sort key has the time itself: it
// asks for what happened at that very instant.
func (c *checker) instant(r *design.Read, p *plan.Plan) {
	if !r.Many || p.Operation != plan.Query {
		return
	}
	for _, s := range p.SK {
		for _, part := range s.Template.Parts[:s.Parts] {
			f := p.Place.Entity.Field(part.Field)
			if f == nil || f.Type.Kind != design.KindTime || cutsTime(part) {
				continue
			}
			for _, t := range p.Place.PK {
				i := slices.IndexFunc(t.Parts, func(x design.Part) bool { return x.Field == f.Name && cutsTime(x) })
				if i < 0 {
					continue
				}
				c.find("ST215", r.Name, r.Pos, "asks by %s, of which the partition key has the %s and the sort key all: it finds only what happened at that very instant",
					f.Name, periodOf(plan.Place{Entity: p.Place.Entity, PK: []*design.Template{{Parts: t.Parts[i : i+1]}}})).
					witness(fmt.Sprintf("what happened a millisecond later is in the same partition %q and is not found", t.Text)).
					fix("a field for the period, with its own part in the partition key: by: [… %sPeriod], range: %s", f.Name, f.Name).report()
			}
		}
	}
}

func cutsTime(p design.Part) bool {
	return slices.ContainsFunc(p.Funcs, func(f design.Func) bool { return f.Name == "date" })
}
