package check

import (
	"slices"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// erasureMonth is how long what is to be erased may stay: Article 12(3) of the GDPR.
const erasureMonth = 31 * 24 * time.Hour

// persons are the rules about whose items are whose.
func (c *checker) persons() {
	p := plan.ForPerson(c.design)
	if p == nil {
		return
	}
	fates := map[*design.Entity][]*plan.PersonPart{}
	p.Each(func(part *plan.PersonPart) {
		fates[part.Entity] = append(fates[part.Entity], part)
		c.findable(part)
		c.outlives(part)
	})
	for _, e := range c.design.Entities {
		c.fateless(p, e, fates[e])
	}
}

// fateless is ST901: a field names a person, or is copied from the person's own item, and nothing says what becomes of it.
func (c *checker) fateless(p *plan.Person, e *design.Entity, fates []*plan.PersonPart) {
	const words = "personal: { %s: delete }, or expires, or { keep: \"why\", set: …, remove: … }"
	if f := e.Field(p.Field); f != nil && !settled(p, e, fates) {
		c.find("ST901", e.Name, f.Pos, "%s names a person, and nothing says what becomes of it when they are erased", f.Name).fix(words, f.Name).report()
		return
	}
	if len(fates) == 0 {
		for _, f := range e.Fields {
			if f.Type.Kind == design.KindEmail {
				c.find("ST901", e.Name, f.Pos, "%s is an address of a person, and nothing says what becomes of it when they are erased", f.Name).fix(words, f.Name).report()
				return
			}
		}
	}
	for _, s := range e.Snapshots {
		stays := len(fates) == 0 || slices.ContainsFunc(fates, func(part *plan.PersonPart) bool {
			changed := slices.Contains(part.Fate.Remove, s.Field) || slices.ContainsFunc(part.Fate.Set, func(a *design.Assignment) bool { return a.Field == s.Field })
			return part.Fate.Do == design.FateKeep && !changed
		})
		if p.Own != nil && s.Entity == p.Own.Name && stays {
			c.find("ST901", e.Name, s.Pos, "%s keeps the person's own %s, and stays when they are erased", s.Field, s.From).
				fix("personal: { …: { keep: \"why\", set: { %s: … } } }", s.Field).report()
		}
	}
}

// settled reports whether something says what becomes of items with the person's field: a fate of that field, or the item to which they
// belong by it.
func settled(p *plan.Person, e *design.Entity, fates []*plan.PersonPart) bool {
	return slices.ContainsFunc(fates, func(part *plan.PersonPart) bool {
		return part.Field == p.Field || part.Field == "" && slices.Contains(e.Key.PK.Fields(), p.Field)
	})
}

// findable is ST902: no key serves the read that finds a person's items.
func (c *checker) findable(part *plan.PersonPart) {
	if part.Plan != nil {
		return
	}
	f := part.Entity.Field(part.Field)
	stays := part.Fate.Do == design.FateExpire || part.Fate.Do == design.FateKeep && !part.Fate.Changes()
	found := c.find("ST902", part.Entity.Name, part.Fate.Pos, "nothing finds the items in which %s names a person: they are not exported, and would need a Scan to be erased", part.Field)
	switch {
	case stays:
		found.as(Info).fix("an index by %s, if they are to be exported", part.Field).report()
	case !f.Type.Scalar():
		found.fix("an item for each person in %s, or expires", part.Field).report()
	default:
		found.fix("index: { …: { pk: \"PERSON#{%s}\", sk: … } }, or expires", part.Field).report()
	}
}

// outlives is ST903: what is left to expire stays for longer than erasure may take.
func (c *checker) outlives(part *plan.PersonPart) {
	if e := part.Entity; part.Fate.Do == design.FateExpire && part.Field != "" && e.TTL != nil && e.TTL.After > erasureMonth {
		c.find("ST903", e.Name, part.Fate.Pos, "its items stay for %d days after their person was erased", int(e.TTL.After.Hours()/24)).
			fix("%s: delete, with an index that finds them; or a shorter ttl", part.Field).report()
	}
}
