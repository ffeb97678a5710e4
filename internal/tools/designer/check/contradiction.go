package check

import (
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// contradiction checks ST214: a read's filter against the condition of the sparse index that serves it. If no item
// satisfies both, the read never finds anything; if every item in the index passes, the filter is redundant. Both are
// evaluated on items built from the constants in them and neighbouring values. Conditions that go beyond comparisons of a
// few scalar fields are skipped.
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
		c.find("ST214", r.Name, r.Pos, "never finds anything: %s only holds items with \"%s\", and the filter \"%s\" drops all of those", p.Place, p.Place.Where.Text, p.Filter.Text).
			witness(in + " is in the index, but the filter drops it; items that would pass the filter are not in the index").fix("use another index, or remove the part of the filter that the index excludes").report()
	default:
		c.find("ST214", r.Name, r.Pos, "has a redundant filter: every item in %s satisfies \"%s\"", p.Place, p.Place.Where.Text).as(Info).
			fix("remove the filter").report()
	}
}

// instant checks ST215: a read of a list is given a time whose period selects the partition, while the sort key has the
// time itself, so it matches that one instant.
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
				c.find("ST215", r.Name, r.Pos, "reads by %s, whose %s is in the partition key while the sort key has the full time: it only finds items of that one instant",
					f.Name, periodOf(plan.Place{Entity: p.Place.Entity, PK: []*design.Template{{Parts: t.Parts[i : i+1]}}})).
					witness(fmt.Sprintf("an item one millisecond later is in the same partition %q but is not found", t.Text)).
					fix("store the period in a field of its own and use it in the partition key: by: [… %sPeriod], range: %s", f.Name, f.Name).report()
			}
		}
	}
}

func cutsTime(p design.Part) bool {
	return slices.ContainsFunc(p.Funcs, func(f design.Func) bool { return f.Name == "date" })
}
