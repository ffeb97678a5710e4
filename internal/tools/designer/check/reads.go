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

// reads are the rules on reads and collections, ST2xx.
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

// scan is ST201.
func (c *checker) scan(r plan.Result) {
	var near []string
	for _, miss := range r.Others {
		if miss.Place.Kind != plan.MarkerPlace && len(miss.Lacks) > 0 {
			near = append(near, miss.Place.Name+": "+miss.Lacks[0].String())
		}
	}
	c.find("ST201", r.Read.Name, r.Read.Pos, "no key serves it, it would be a Scan of the whole table (%s)", strings.Join(near, "; ")).
		fix("an index whose partition key is known (a literal will do for few items), sorted as the read wants").report()
}

// lacks is ST203, ST204, ST205, ST207 and ST211: what the chosen place lacks.
func (c *checker) lacks(result plan.Result) {
	r, p := result.Read, result.Plan
	for _, l := range result.Lacks {
		switch l.Reason {
		case plan.FilterNeeded:
			if !r.Many || onlyExpiry(p, l.Fields) {
				continue // a filter of one item costs nothing more, and few have expired and are still there
			}
			f := c.find("ST203", r.Name, r.Pos, "%s is filtered after the read: what is dropped is paid for, and pages come back short", strings.Join(l.Fields, ", "))
			if p.Filter != nil && len(p.Filter.Params()) == 0 {
				f.fix("a sparse index, which holds just those items: where: \"%s\"", p.Filter.Text)
			} else {
				f.fix("an index with %s in its key", strings.Join(l.Fields, ", "))
			}
			f.report()
		case plan.BandRead:
			c.find("ST203", r.Name, r.Pos, "asks by %s, of which %s has only a band in its key: the rest of the band is read, paid for and dropped", strings.Join(l.Fields, ", "), p.Place).
				fix("bucket: %s, which is all of the band; or the value itself in the key, behind its band", l.Fields[0]).report()
		case plan.WrongOrder:
			c.find("ST204", r.Name, r.Pos, "wants the order [%s], which is not the order of %s's sort key", orderText(r.Order), p.Place).
				fix("put %s into the sort key, after what is known", strings.Join(l.Fields, ", ")).report()
		case plan.NotConsistent:
			c.find("ST205", r.Name, r.Pos, "wants a strongly consistent read of the global index %s, which DynamoDB refuses", p.Place.Name).
				fix("read the table, or a copy or marker in it").report()
		case plan.NotFresh:
			c.late(r.Name, r.Pos, r.FreshMillis, p.Place)
		case plan.FieldsMissing:
			if p.Place.Kind == plan.MarkerPlace {
				continue // a marker leads to its item: that is its use
			}
			f := c.find("ST207", r.Name, r.Pos, "needs %s, which %s does not have", strings.Join(l.Fields, ", "), p.Place).
				fix("project: [… %s]; reading each item from the table costs one more read for each", strings.Join(l.Fields, ", "))
			if p.Place.Index != nil && p.Place.Index.Local {
				f.as(Warning) // DynamoDB reads them from the table by itself
			}
			f.report()
		case plan.FansOut:
			c.find("ST211", r.Name, r.Pos, "asks %d partitions each time and merges their answers", p.Fanout).as(Info).
				fix("as few shards as the writes need").report()
		default:
		}
	}
}

// late is ST205 of an index that can be further behind than is allowed.
func (c *checker) late(subject string, at design.Pos, millis int, p plan.Place) {
	length := func(millis int) string { return (time.Duration(millis) * time.Millisecond).String() }
	c.find("ST205", subject, at, "wants answers that are at most %s behind, and reads %s, which is taken to be up to %s behind", length(millis), p.Index.Name, length(p.Index.Lag())).
		fix("read the table, or a copy in it; or say the lag that the index really has, lag: 200ms").report()
}

// onlyExpiry reports whether fields are no more than the one by which the place's items expire.
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

// bounds is ST208 and ST209. One item in an order is the first of several, and is not meant to be the only one.
func (c *checker) bounds(result plan.Result) {
	r, p := result.Read, result.Plan
	if !r.Many && len(r.Order) == 0 && p.Operation == plan.Query {
		what := "takes one item of " + p.Place.String() + ", which may have several of that key"
		if p.Place.Global() {
			what += " and is behind the table"
		}
		c.find("ST208", r.Name, r.Pos, "%s", what).fix("unique: a marker item in the table; or order: [… desc], if the last one is meant").report()
	}
	if r.Way() == "many" && r.Page == 0 && r.Limit == 0 {
		c.find("ST209", r.Name, r.Pos, "has no page and no limit").fix("page: 20").report()
	}
}

// leak is ST202: other items in the range that a Query reads.
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
		c.find("ST202", subject, at, "also returns items of %s: both are in the partition %q", other.Entity.Name, own.PK[0].Text).
			witness(fmt.Sprintf("%s with the key %s", article(other.Entity.Name), quoted(key))).
			fix("begin the sort key of each with a literal of its own, and ask for that").report()
	}
}

// inRange returns a key of another place in the range that a plan reads, with "" for parts that the search did not tell.
// Of the sort key it tells as much as the plan says.
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

// unused is ST212.
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
				c.find("ST212", p.String(), p.Pos, "no read uses the copy: each write of it is paid for nothing").report()
			default:
				c.find("ST212", p.String(), p.Pos, "no read uses the entry: each write of it is paid for nothing").report()
			}
		}
	}
}
