package check

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// tenantRead is what a read, or a collection, says of whose items it returns.
type tenantRead struct {
	name          string
	pos           design.Pos
	by            []string
	owner, shared string
	many          bool
}

// tenant is ST304 and ST305.
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
	c.find("ST305", r.name, r.pos, "reads %s by its id, whosever it is", article(e.Name)).
		fix("owner: %s, which makes another's item as good as absent", tenant).report()
}

// owned reports whether items of an entity are a tenant's: it has the tenant's field, or belongs to an entity that does.
func (c *checker) owned(e *design.Entity) bool {
	has := func(o *design.Entity) bool { return o.Field(c.design.Tenant) != nil }
	return has(e) || slices.ContainsFunc(c.design.Entities, func(o *design.Entity) bool { return has(o) && belongs(c.design, e, o) })
}

const (
	// conflictSeconds is about how long an item is busy with a transaction.
	conflictSeconds = 0.01
	// conflictsMany is how many transactions a second on one item are many.
	conflictsMany = 10
)

// hotItem is ST306 and ST512: one item that takes many writes.
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
			c.find("ST306", w.Name, i.Step.Pos, "writes each %s %.0f times a second, which is %.0f write units: an item takes %d", name, perItem, perItem*units, partitionWriteUnits).
				fix("spread what is counted over several items, and add them up").report()
		}
		switch popular := w.Rate * conflictSeconds; {
		case !p.Transaction() && !hot && adds(i) && (items == 0 || items > fewValues) && times*units > ample*partitionWriteUnits:
			c.find("ST306", w.Name, i.Step.Pos, "adds to %s %.0f times a second: if all want the same one, that is %.0f write units, and an item takes %d",
				article(name), times, times*units, partitionWriteUnits).as(Info).
				fix("spread what is counted over several items, and add them up").report()
		case !p.Transaction():
		case perItem > conflictsMany:
			c.find("ST512", w.Name, i.Step.Pos, "has each %s in %.0f transactions a second: DynamoDB cancels one of two that meet", name, perItem).
				fix("write it apart from the transaction, or spread it over several items").report()
		case !hot && popular >= 0.01 && adds(i) && !isKey(i.Place.Entity, c.design.Tenant):
			c.find("ST306", w.Name, i.Step.Pos, "changes %s in each transaction: if all want the same one, that is %g a second, of which about %.0f%% meet another and are cancelled",
				article(name), w.Rate, min(100, 100*popular)).as(Info).fix("repeat what is cancelled; for more, spread what is counted over several items").report()
		}
	}
}

// different is how many items there are at a place: as many as the design says, and no more than there are keys. 0 is not told.
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

// adds reports whether an item is changed by adding to it, as counters and stocks are, and so by many callers.
func adds(i plan.ItemWrite) bool {
	counts := slices.ContainsFunc(i.Place.Entity.Counters, func(c *design.Counter) bool { return slices.Contains(i.Changed, c.Field) })
	return len(i.Step.Add) > 0 && i.Step.Entity == i.Place.Entity.Name || counts
}
