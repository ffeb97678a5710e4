package plan

import (
	"cmp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// CollectionPlan is how a collection is served: one Query over a partition that holds all of its entities.
type CollectionPlan struct {
	Collection *design.Collection
	// Members are the places of the collection's entities, in the order of Collection.Of; empty if no partition
	// holds all of them.
	Members []Place
	// Fanout is the number of partitions that are queried.
	Fanout int
	// SK bounds the first sort key attribute, so that the request reads as little as possible of the rest of the partition;
	// nil if nothing is known.
	SK *Bounds
	// Reverse reads in descending order, so that the root comes first. RootLast means that it would come last otherwise.
	Reverse, RootLast bool
	// RootApart means that the root need not come first and is therefore read before the rest.
	RootApart  bool
	OwnerInKey bool
	// Consistent asks for a strongly consistent read. Late means that the place cannot be as fresh as required, and no other
	// place serves.
	Consistent, Late bool
	// Misses say for each location why it does not serve; empty for the chosen one.
	Misses []CollectionMiss
}

// CollectionMiss is a table or index that does not serve a collection.
type CollectionMiss struct {
	Index *design.Index // nil for the table
	// Without are the entities that have no place in a partition that By determines.
	Without []string
	// Apart are entities that have one, but in a different partition from the first entity's.
	Apart []string
	// ByTurns are entities that have several alternative entries in the partition, of which an item has one at a time: a
	// collection would contain only those of one entry.
	ByTurns []string
}

// ForCollection plans a collection: in the table or, where that cannot serve it, in an index.
func ForCollection(d *design.Design, c *design.Collection) CollectionPlan {
	out := CollectionPlan{Collection: c, Fanout: 1}
	table := d.TableOf(d.Entity(c.Of[0]))
	locations := append([]*design.Index{nil}, table.Indexes...)
	for _, x := range locations {
		if c.Via != "" && c.Via != nameOf(x) {
			continue
		}
		members, miss := membersAt(d, c, x)
		if members == nil {
			out.Misses = append(out.Misses, miss)
			continue
		}
		global := x != nil && !x.Local
		late := global && c.Consistent || late(x, c.FreshMillis)
		if out.Members == nil || out.Late && !late {
			out.Members, out.Late = members, late
			out.Consistent = !global && (c.Consistent || strict(c.FreshMillis))
		}
	}
	if out.Members == nil {
		return out
	}
	for _, t := range out.Members[0].PK {
		for _, part := range t.Parts {
			if n := shards(part); n > 0 && !slices.Contains(c.By, part.Field) {
				out.Fanout *= n
			}
		}
	}
	out.SK = boundsOf(c, out.Members)
	out.RootLast = rootLast(out.Members, c.Root)
	out.Reverse = c.Order == "desc" || c.Order == "" && out.RootLast
	if root := out.root(); root >= 0 {
		out.RootApart = !rootFirst(c, out.Members, root, out.Reverse)
	}
	out.OwnerInKey = c.Owner != "" && slices.Contains(c.By, c.Owner) && !slices.ContainsFunc(out.Members, func(p Place) bool { return !p.contains(c.Owner) })
	return out
}

// contains reports whether the partition key contains a field's exact value.
func (p Place) contains(field string) bool {
	var parts []design.Part
	for _, t := range p.PK {
		parts = append(parts, t.Parts...)
	}
	return exactly(parts, field)
}

func nameOf(x *design.Index) string {
	if x == nil {
		return "key"
	}
	return x.Name
}

// membersAt finds for each entity a place in a table (nil) or index, all in the partition that By determines.
func membersAt(d *design.Design, c *design.Collection, x *design.Index) ([]Place, CollectionMiss) {
	miss := CollectionMiss{Index: x}
	var members []Place
	for _, name := range c.Of {
		var found []Place
		other := false
		for _, p := range Places(d, d.Entity(name)) {
			switch {
			case p.Marker != nil || p.Index != x || !bound(p, c.By):
			case len(members) > 0 && !samePartition(members[0], p):
				other = true
			case len(found) == 0 || p.Entry != "" && p.SameItem(found[0]) && samePartition(found[0], p):
				found = append(found, p)
			}
		}
		switch {
		case len(found) == 1:
			members = append(members, found[0])
		case len(found) > 1:
			miss.ByTurns = append(miss.ByTurns, name)
		case other:
			miss.Apart = append(miss.Apart, name)
		default:
			miss.Without = append(miss.Without, name)
		}
	}
	if len(members) < len(c.Of) {
		return nil, miss
	}
	return members, miss
}

// bound reports whether the place's partition key is known except for shards.
func bound(p Place, by []string) bool {
	for _, t := range p.PK {
		for _, part := range t.Parts {
			if part.Field != "" && !slices.Contains(by, part.Field) && shards(part) == 0 {
				return false
			}
		}
	}
	return true
}

// samePartition reports whether two places have the same partition key for the same fields.
func samePartition(a, b Place) bool {
	return slices.EqualFunc(a.PK, b.PK, func(x, y *design.Template) bool {
		return slices.EqualFunc(x.Parts, y.Parts, func(p, q design.Part) bool {
			return p.Literal == q.Literal && p.Field == q.Field && slices.Equal(p.Funcs, q.Funcs)
		})
	})
}

// root is the position of the root among the members, -1 if there is none.
func (p CollectionPlan) root() int {
	return slices.IndexFunc(p.Members, func(m Place) bool { return m.Entity.Name == p.Collection.Root })
}

// RootSK bounds the Query that reads the root apart, as far as its sort key is known.
func (p CollectionPlan) RootSK() []SortCondition {
	var out []SortCondition
	for _, t := range p.Members[p.root()].SK {
		b := beginningOf(t, p.Collection.By)
		if len(b.parts) == 0 {
			break
		}
		c := SortCondition{Comparison: SortEqual, Template: t, Parts: len(b.parts)}
		if b.open {
			c.Comparison = SortBeginsWith
		}
		out = append(out, c)
		if b.open {
			break
		}
	}
	return out
}

// rootLast reports whether the root sorts after every other member, judging by the prefixes of the sort keys.
func rootLast(members []Place, root string) bool {
	var own string
	var others []string
	for _, p := range members {
		if len(p.SK) == 0 {
			return false
		}
		if p.Entity.Name == root {
			own = p.SK[0].Prefix()
		} else {
			others = append(others, p.SK[0].Prefix())
		}
	}
	return own != "" && len(others) > 0 && own > slices.MaxFunc(others, cmp.Compare) && !strings.HasPrefix(own, slices.Max(others))
}
