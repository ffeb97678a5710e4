package check

import (
	"slices"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// erasureMonth is the deadline for erasure: Article 12(3) of the GDPR.
const erasureMonth = 31 * 24 * time.Hour

// persons checks the rules on personal data, ST9xx.
func (c *checker) persons() {
	p := plan.ForPerson(c.design)
	if p == nil {
		return
	}
	fates := map[*design.Entity][]*plan.PersonPart{}
	p.Each(func(part *plan.PersonPart) {
		fates[part.Entity] = append(fates[part.Entity], part)
		c.findable(part)
		c.checkDeadline(part)
	})
	for _, e := range c.design.Entities {
		c.checkMissingFate(p, e, fates[e])
	}
}

// checkMissingFate checks ST901: a field identifies a person, or is copied from the person's own item, and the design does not
// say what happens to it.
func (c *checker) checkMissingFate(p *plan.Person, e *design.Entity, fates []*plan.PersonPart) {
	const words = "personal: { %s: delete }, or expires, or { keep: \"why\", set: …, remove: … }"
	if f := e.Field(p.Field); f != nil && !settled(p, e, fates) {
		c.find("ST901", e.Name, f.Pos, "%s identifies a person, and the design does not say what happens to the item when that person is erased", f.Name).fix(words, f.Name).report()
		return
	}
	if len(fates) == 0 {
		for _, f := range e.Fields {
			if f.Type.Kind == design.KindEmail {
				c.find("ST901", e.Name, f.Pos, "%s is a person's e-mail address, and the design does not say what happens to the item when that person is erased", f.Name).fix(words, f.Name).report()
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
			c.find("ST901", e.Name, s.Pos, "%s is a snapshot of the person's %s, and stays when that person is erased", s.Field, s.From).
				fix("personal: { …: { keep: \"why\", set: { %s: … } } }", s.Field).report()
		}
	}
}

// settled reports whether the design says what happens to items with the person's field: by a fate for that field, or
// because they belong to the person's partition.
func settled(p *plan.Person, e *design.Entity, fates []*plan.PersonPart) bool {
	return slices.ContainsFunc(fates, func(part *plan.PersonPart) bool {
		return part.Field == p.Field || part.Field == "" && slices.Contains(e.Key.PK.Fields(), p.Field)
	})
}

// findable checks ST902: no key can serve the read that finds a person's items.
func (c *checker) findable(part *plan.PersonPart) {
	if part.Plan != nil {
		return
	}
	f := part.Entity.Field(part.Field)
	stays := part.Fate.Do == design.FateExpire || part.Fate.Do == design.FateKeep && !part.Fate.Changes()
	found := c.find("ST902", part.Entity.Name, part.Fate.Pos, "no read finds the items in which %s identifies a person: they cannot be exported, and erasing them would take a Scan", part.Field)
	switch {
	case stays:
		found.as(Info).fix("add an index by %s if they are to be exported", part.Field).report()
	case !f.Type.Scalar():
		found.fix("store one item per person in %s, or use expires", part.Field).report()
	default:
		found.fix("index: { …: { pk: \"PERSON#{%s}\", sk: … } }, or expires", part.Field).report()
	}
}

// checkDeadline checks ST903: items left to expire stay longer than the deadline for erasure.
func (c *checker) checkDeadline(part *plan.PersonPart) {
	if e := part.Entity; part.Fate.Do == design.FateExpire && part.Field != "" && e.TTL != nil && e.TTL.After > erasureMonth {
		c.find("ST903", e.Name, part.Fate.Pos, "its items stay for up to %d days after the person has been erased", int(e.TTL.After.Hours()/24)).
			fix("%s: delete, with an index to find them; or a shorter ttl", part.Field).report()
	}
}
