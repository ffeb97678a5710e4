package check

import (
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// manyItems is how many unrelated items a collection may read without harm: about a megabyte, the most that one Query
// returns.
const manyItems = 1000

// collection is ST201, ST210 and ST213.
func (c *checker) collection(p plan.CollectionPlan) {
	x := p.Collection
	if len(p.Members) == 0 {
		c.find("ST201", x.Name, x.Pos, "no partition holds %s together for a given %s", strings.Join(x.Of, ", "), strings.Join(x.By, ", ")).
			fix("give them all the same partition key").report()
		return
	}
	switch {
	case !p.Late:
	case x.Consistent:
		c.find("ST205", x.Name, x.Pos, "asks for a strongly consistent read from the global index %s, which DynamoDB rejects", p.Members[0].Name).
			fix("read from the table, or from copies in it").report()
	default:
		c.late(x.Name, x.Pos, x.FreshMillis, p.Members[0])
	}
	if p.RootLast && x.Order == "" {
		c.find("ST210", x.Name, x.Pos, "the root %s sorts after the other items, so the collection is read in descending order to return it first", x.Root).report()
	}
	var met []string // an entity's item, copies and markers can share one partition
	for _, other := range c.languages() {
		e := other.Entity
		if slices.Contains(x.Of, e.Name) || slices.Contains(met, e.Name) || e.Volume.Per == "" || e.Volume.Max > 0 && e.Volume.Max <= manyItems {
			continue
		}
		if c.between(p, other) {
			met = append(met, e.Name)
			c.find("ST213", x.Name, x.Pos, "has to page through the items of %s, which share its partition %q: there can be %s for each %s",
				e.Name, other.PK[0].Text, most(e.Volume.Max), e.Volume.Per).fix("move %s to a partition of its own", e.Name).report()
		}
	}
}

// between reports whether items of a place are in the key range that a collection reads.
func (c *checker) between(p plan.CollectionPlan, other keyed) bool {
	own, ok := c.languagesOf(p.Members[0])
	if !ok || other.Table != own.Table || other.Index != own.Index {
		return false
	}
	for i := range own.pk {
		if _, found := keylang.Intersect(own.pk[i].Language(), other.pk[i].Language()); !found {
			return false
		}
	}
	return p.SK == nil || len(other.SK) == 0 || !p.SK.Outside(other.SK[0])
}

// most formats a volume's bound.
func most(n float64) string {
	if n == 0 {
		return "any number"
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}
