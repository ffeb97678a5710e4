package check

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// tenantRead describes whose items a read or collection returns.
type tenantRead struct {
	name          string
	pos           design.Pos
	by            []string
	owner, shared string
	many          bool
}

// tenant checks ST304 and ST305.
func (c *checker) tenant(r tenantRead, e *design.Entity) {
	tenant := c.design.Tenant
	if tenant == "" || r.shared != "" || slices.Contains(r.by, tenant) || r.owner == tenant || !c.owned(e) {
		return
	}
	if r.many {
		c.find("ST304", r.name, r.pos, "returns items of every %s", tenant).
			fix("by: [%s], with it in the partition key; or shared: \"why everyone may see them\"", tenant).report()
		return
	}
	c.find("ST305", r.name, r.pos, "reads %s by ID without checking who owns it", article(e.Name)).
		fix("owner: %s, so that other owners' items count as not found", tenant).report()
}

// owned reports whether items of an entity belong to a tenant: it has the tenant field, or belongs to an entity that does.
func (c *checker) owned(e *design.Entity) bool {
	has := func(o *design.Entity) bool { return o.Field(c.design.Tenant) != nil }
	return has(e) || slices.ContainsFunc(c.design.Entities, func(o *design.Entity) bool { return has(o) && plan.Belongs(c.design, e, o) })
}

const (
	// conflictSeconds is roughly how long a transaction occupies an item.
	conflictSeconds = 0.01
	// conflictsMany is the number of transactions per second on one item above which conflicts are reported.
	conflictsMany = 10
)

// hotItem checks ST306 and ST512: one item that takes many writes.
func (c *checker) hotItem(w *design.Write) {
	p := plan.ForWrite(c.design, w)
	lines := cost.OfWrite(p).Lines
	for _, i := range p.Items {
		if i.Step == nil || i.Action == design.Create {
			continue
		}
		name := i.Place.Entity.Name
		times := w.Rate
		if i.Each {
			times *= lines
		}
		perItem := 0.0
		items := c.different(i.Place)
		if items > 0 {
			perItem = times / items
		}
		if v := i.Place.Entity.Volume; v.Per == "" { // or the busiest is one of several
			perItem = max(perItem, times*v.Hottest)
		}
		units := float64((cost.SizeAt(i.Place) + 1023) / 1024)
		if p.Transaction() {
			units *= 2
		}
		hot := perItem*units > ample*partitionWriteUnits
		if hot {
			c.find("ST306", w.Name, i.Step.Pos, "writes each %s %.0f times a second, which takes %.0f write units; the limit for an item is %d", name, perItem, perItem*units, partitionWriteUnits).
				fix("spread the count over several items and add them up when reading").report()
		}
		switch popular := w.Rate * conflictSeconds; {
		case !p.Transaction() && !hot && adds(i) && (items == 0 || items > fewValues) && times*units > ample*partitionWriteUnits:
			c.find("ST306", w.Name, i.Step.Pos, "adds to %s %.0f times a second: if all calls hit the same one, that takes %.0f write units; the limit for an item is %d",
				article(name), times, times*units, partitionWriteUnits).as(Info).
				fix("spread the count over several items and add them up when reading").report()
		case !p.Transaction():
		case perItem > conflictsMany:
			c.find("ST512", w.Name, i.Step.Pos, "uses each %s in %.0f transactions a second: of two that conflict, DynamoDB cancels one", name, perItem).
				fix("write it outside the transaction, or spread it over several items").report()
		case !hot && popular >= 0.01 && adds(i) && !isKey(i.Place.Entity, c.design.Tenant):
			c.find("ST306", w.Name, i.Step.Pos, "changes %s in every transaction: if all calls hit the same one, there are %g a second, and about %.0f%% of them conflict and are cancelled",
				article(name), w.Rate, min(100, 100*popular)).as(Info).fix("retry cancelled transactions; for higher rates, spread the count over several items").report()
		}
	}
}

// different returns the number of items at a place: what the design declares, but at most the number of possible keys. 0
// means unknown.
func (c *checker) different(p plan.Place) float64 {
	items := cost.Items(c.design, p.Entity)
	k, ok := c.languagesOf(p)
	if !ok {
		return items
	}
	keys := 1.0
	for _, t := range k.key() {
		n, finite := t.Language().Count()
		if !finite {
			return items
		}
		keys *= n
	}
	if items == 0 {
		return keys
	}
	return min(items, keys)
}

// adds reports whether a write adds to an item, as to a counter or stock, so that many callers may change it. Its copies, which are
// written with it, need no finding of their own.
func adds(i plan.ItemWrite) bool {
	if i.Place.Kind != plan.KeyPlace {
		return false
	}
	counts := slices.ContainsFunc(i.Place.Entity.Counters, func(c *design.Counter) bool { return slices.Contains(i.Changed, c.Field) })
	return len(i.Step.Add) > 0 && i.Step.Entity == i.Place.Entity.Name || counts
}
