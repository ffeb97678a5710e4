package diff

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// weigh prices a change that writes once at each of the places, for every item of the entity. A place that is written twice is listed
// twice.
func (d *differ) weigh(c *Change, e *design.Entity, places []plan.Place) {
	d.more(c, cost.Items(d.now, e), places)
}

// more adds the cost of writing a number of items once at each of the places to the price of a change.
func (d *differ) more(c *Change, items float64, places []plan.Place) {
	c.Items += items
	c.WriteUnits += items * cost.WriteUnits(places)
	if prices, err := cost.PricesOf(d.now.Workload.Region); err == nil { // without prices, only the units are reported
		c.Cost = c.WriteUnits * prices.OnDemandWrite / 1e6
	}
}

// weighAll prices a change that writes all items of a table: once at each of the places that places returns for an entity.
func (d *differ) weighAll(c *Change, t *design.Table, places func(*design.Entity) []plan.Place) {
	for _, e := range d.now.Entities {
		if e.Table == t.Name {
			one := Change{}
			d.weigh(&one, e, places(e))
			c.Items, c.WriteUnits, c.Cost = c.Items+one.Items, c.WriteUnits+one.WriteUnits, c.Cost+one.Cost
		}
	}
}

// moveAll prices a change that moves all items of a table into another one, with their copies, markers and index entries. The
// old table is deleted as a whole, which is free. A table that moves for several reasons moves once: the first change has the
// price.
func (d *differ) moveAll(c *Change, t *design.Table) {
	if d.moves == nil {
		d.moves = map[string]bool{}
	}
	if !d.moves[t.Name] {
		d.weighAll(c, t, func(e *design.Entity) []plan.Place { return plan.Places(d.now, e) })
	}
	d.moves[t.Name] = true
}

// itemOf is an item of the entity with all its index entries, declared or not: everything that a put or delete of it writes.
// The item is the copy or marker with that name, or the entity's own.
func itemOf(in *design.Design, e *design.Entity, kind plan.Kind, name string) []plan.Place {
	places := plan.Places(in, e)
	i := slices.IndexFunc(places, func(p plan.Place) bool { return p.Kind == kind && p.Name == name })
	item := places[i]
	return slices.DeleteFunc(places, func(p plan.Place) bool { return !p.SameItem(item) })
}

// moved is the item under its new and its old key: a put and a delete.
func (d *differ) moved(o, n *design.Entity, kind plan.Kind, name string) []plan.Place {
	return slices.Concat(itemOf(d.now, n, kind, name), itemOf(d.old, o, kind, name))
}

// holding are the places that contain a field and are written when it changes. The item itself is always written.
func (d *differ) holding(e *design.Entity, field string) []plan.Place {
	return slices.DeleteFunc(plan.Places(d.now, e), func(p plan.Place) bool { return p.Kind != plan.KeyPlace && !p.Has(field) })
}

// typed are the places that contain the type attribute, which is in every projection except KEYS_ONLY. Markers do not have it.
func (d *differ) typed(e *design.Entity) []plan.Place {
	return slices.DeleteFunc(plan.Places(d.now, e), func(p plan.Place) bool {
		return p.Marker != nil || p.Index != nil && !p.Index.Project.All && len(p.Index.Project.Fields) == 0
	})
}

// enter prices adding an entry to a share of the items, or removing it: the item gains or loses the key attributes, and so do
// its entries in indexes that project all attributes; the entry is added or removed, or both if its key changes. Other items
// are not written, and no item has another entry in this index.
func (d *differ) enter(c *Change, e *design.Entity, entry plan.Place, part float64, moves bool) {
	entry.Share = 1 // of the items that have it
	written := []plan.Place{entry}
	if moves {
		written = append(written, entry)
	}
	for _, p := range plan.Places(d.now, e) {
		if p.SameItem(entry) && (p.Index == nil || p.Index != entry.Index && p.Index.Project.All) {
			written = append(written, p)
		}
	}
	d.more(c, part*cost.Items(d.now, e), written)
}

// placeOf is the place of an entry.
func placeOf(in *design.Design, e *design.Entity, x *design.Entry) plan.Place {
	places := plan.Places(in, e)
	return places[slices.IndexFunc(places, func(p plan.Place) bool {
		return p.Kind == plan.EntryPlace && !p.Undeclared && p.Name == x.Place() && p.Copy == e.Copy(x.Of)
	})]
}
