package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// reads checks the rules on reads and collections, ST2xx.
func (c *checker) reads() {
	used := map[string]bool{}
	for _, r := range c.design.Reads {
		result := plan.ForRead(c.design, r)
		if result.Plan.Unserved() {
			c.scan(result)
			continue
		}
		used[result.Plan.Place.String()] = true
		c.lacks(result)
		c.bounds(result)
		c.sorting(result)
		c.leak(r.Name, r.Pos, result.Plan)
		c.contradiction(r, result.Plan)
		c.instant(r, result.Plan)
	}
	for _, x := range c.design.Collections {
		p := plan.ForCollection(c.design, x)
		for _, m := range p.Members {
			used[m.String()] = true
		}
		c.collection(p)
	}
	c.unused(used)
}

// scan reports ST201.
func (c *checker) scan(r plan.Result) {
	var near []string
	for _, miss := range r.Others {
		if miss.Place.Kind != plan.MarkerPlace && len(miss.Lacks) > 0 {
			near = append(near, miss.Place.Name+": "+miss.Lacks[0].String())
		}
	}
	c.find("ST201", r.Read.Name, r.Read.Pos, "no key can serve it, so it would scan the whole table (%s)", strings.Join(near, "; ")).
		fix("add an index whose partition key the read knows (a literal is enough for few items), in the order that the read needs").report()
}

// lacks reports ST203, ST204, ST205, ST207 and ST211: what the chosen place lacks.
func (c *checker) lacks(result plan.Result) {
	r, p := result.Read, result.Plan
	for _, l := range result.Lacks {
		switch l.Reason {
		case plan.FilterNeeded:
			if !r.Many || onlyExpiry(p, l.Fields) {
				continue // filtering one item costs nothing extra, and few items are expired but not yet removed
			}
			f := c.find("ST203", r.Name, r.Pos, "%s is filtered after the read: discarded items are paid for, and pages come back short", strings.Join(l.Fields, ", "))
			if p.Filter != nil && len(p.Filter.Params()) == 0 {
				f.fix("add a sparse index with only those items: where: \"%s\"", p.Filter.Text)
			} else {
				f.fix("add an index with %s in its key", strings.Join(l.Fields, ", "))
			}
			f.report()
		case plan.BandRead:
			c.find("ST203", r.Name, r.Pos, "reads by %s, but %s only has its band: the rest of the band is read, paid for and discarded", strings.Join(l.Fields, ", "), p.Place).
				fix("bucket: %s, to read the whole band; or add the value to the key after its band", l.Fields[0]).report()
		case plan.PartRead:
			c.find("ST203", r.Name, r.Pos, "reads by %s, but %s only has a part of it: other items with the same part are read, paid for and discarded", strings.Join(l.Fields, ", "), p.Place).
				fix("use the whole value in the key; or add it to the key after that part").report()
		case plan.WrongOrder:
			c.find("ST204", r.Name, r.Pos, "asks for the order [%s], but %s is sorted differently", orderText(r.Order), p.Place).
				fix("put %s into the sort key, after the fields that the read knows", strings.Join(l.Fields, ", ")).report()
		case plan.NotConsistent:
			c.find("ST205", r.Name, r.Pos, "asks for a strongly consistent read from the global index %s, which DynamoDB rejects", p.Place.Name).
				fix("read from the table, or from a copy or marker in it").report()
		case plan.NotFresh:
			c.late(r.Name, r.Pos, r.FreshMillis, p.Place)
		case plan.FieldsMissing:
			if p.Place.Kind == plan.MarkerPlace { // it only leads to its item
				if lacking := p.Place.Missing(p.Filter.Fields()); p.Filter != nil && len(lacking) > 0 {
					c.find("ST207", r.Name, r.Pos, "filters by %s, which the marker %s does not include: the read cannot be generated", strings.Join(lacking, ", "), p.Place).
						fix("read without the filter, and look at the item").report()
				}
				continue
			}
			f := c.find("ST207", r.Name, r.Pos, "needs %s, which %s does not include", strings.Join(l.Fields, ", "), p.Place).
				fix("project: [… %s]; otherwise each item costs another read from the table", strings.Join(l.Fields, ", "))
			filtered := func(field string) bool {
				return slices.Contains(p.FilterBy, field) || slices.Contains(p.Filter.Fields(), field)
			}
			if p.Place.Index != nil && p.Place.Index.Local && !slices.ContainsFunc(l.Fields, filtered) {
				f.as(Warning) // DynamoDB fetches them from the table by itself, but only to return them
			}
			f.report()
		case plan.FansOut:
			c.find("ST211", r.Name, r.Pos, "queries %d partitions each time and merges the results", p.Fanout).as(Info).
				fix("use no more shards than the writes need").report()
		default:
		}
	}
}

// late reports ST205 for an index that can lag further behind than the read allows.
func (c *checker) late(subject string, at design.Pos, millis int, p plan.Place) {
	length := func(millis int) string { return (time.Duration(millis) * time.Millisecond).String() }
	c.find("ST205", subject, at, "asks for results at most %s old, but reads %s, whose lag is up to %s", length(millis), p.Index.Name, length(p.Index.Lag())).
		fix("read from the table, or from a copy in it; or declare the index's actual lag, such as lag: 200ms").report()
}

// onlyExpiry reports whether the TTL attribute is the only field.
func onlyExpiry(p *plan.Plan, fields []string) bool {
	ttl := p.Place.Entity.TTL
	return ttl != nil && !slices.ContainsFunc(fields, func(f string) bool { return f != ttl.Field })
}

func orderText(order []design.Order) string {
	parts := make([]string, len(order))
	for i, o := range order {
		parts[i] = o.Field
		if o.Desc {
			parts[i] += " desc"
		}
	}
	return strings.Join(parts, ", ")
}

// bounds checks ST208 and ST209. A read of one item with an order wants the first of several, so it is exempt from ST208.
func (c *checker) bounds(result plan.Result) {
	r, p := result.Read, result.Plan
	if !r.Many && len(r.Order) == 0 && p.Operation == plan.Query {
		what := "reads one item from " + p.Place.String() + ", which may have several with the same key"
		if p.Place.Global() {
			what += " and lags behind the table"
		}
		c.find("ST208", r.Name, r.Pos, "%s", what).fix("unique: a marker item in the table; or order: [… desc], to read the latest of several").report()
	}
	if r.Keyword() == "many" && r.Page == 0 && r.Limit == 0 {
		c.find("ST209", r.Name, r.Pos, "has no page and no limit").fix("page: 20").report()
	}
}

// leak checks ST202: items of other entities in the range that a Query reads.
func (c *checker) leak(subject string, at design.Pos, p *plan.Plan) {
	if p.Operation != plan.Query {
		return
	}
	own, ok := c.languagesOf(p.Place)
	if !ok {
		return
	}
	for _, other := range c.languages() {
		if other.Table != own.Table || other.Index != own.Index || other.String() == own.String() && other.Copy == own.Copy {
			continue
		}
		key, found := c.inRange(p, own, other)
		if !found {
			continue
		}
		c.find("ST202", subject, at, "also returns items of %s: both are in partition %q", other.Entity.Name, own.PK[0].Text).
			witness(fmt.Sprintf("%s with the key %s", article(other.Entity.Name), quoted(key))).
			fix("start each sort key with a literal of its own, which the read then uses as a prefix").report()
	}
}

// inRange returns a key of another place in the range that a plan reads, with "" for parts that the search left open. It
// covers as much of the sort key as the plan does.
func (c *checker) inRange(p *plan.Plan, own, other keyed) ([]string, bool) {
	var key []string
	for i := range own.pk {
		w, found := keylang.Intersect(own.pk[i].Language(), other.pk[i].Language())
		if !found {
			return nil, false
		}
		key = append(key, w.Text)
	}
	_, attributes := p.Place.Attributes()
	for i, s := range p.SK {
		if i >= len(other.sk) {
			break
		}
		parts := s.Template.Parts[:s.Parts]
		known := &design.Template{Text: s.Template.Text, Parts: parts}
		l, err := keylang.OfTemplate(c.design, p.Place.Entity, known, attributes[i].Type)
		if err != nil {
			continue
		}
		if s.Comparison == plan.SortEqual {
			w, found := keylang.Intersect(l.Language(), other.sk[i].Language())
			if !found {
				return nil, false
			}
			key = append(key, w.Text)
			continue
		}
		x, found := keylang.IntersectPrefix(l.Language(), other.sk[i].Language())
		if !found {
			return nil, false
		}
		key = append(key, x.Longer)
	}
	return key, true
}

// unused checks ST212.
func (c *checker) unused(used map[string]bool) {
	plan.ForPerson(c.design).Each(func(part *plan.PersonPart) {
		if part.Plan != nil {
			used[part.Plan.Place.String()] = true
		}
	})
	for _, e := range c.design.Entities {
		for _, p := range plan.Places(c.design, e) {
			switch {
			case used[p.String()] || p.Kind == plan.KeyPlace || p.Kind == plan.MarkerPlace || p.Undeclared:
			case p.Kind == plan.CopyPlace:
				c.find("ST212", p.String(), p.Pos, "no read uses the copy, but every write pays for it").report()
			default:
				c.find("ST212", p.String(), p.Pos, "no read uses the entry, but every write pays for it").report()
			}
		}
	}
}
