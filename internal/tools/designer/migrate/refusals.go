package migrate

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/expression"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// refusals are the changes for which no design can serve the programs of both designs at once.
func refusals(before, after *design.Design) []Refusal {
	m := &merger{first: before, other: after}
	for _, n := range after.Tables {
		if o := before.Table(n.Name); o != nil {
			m.refuseTable(o, n)
		}
	}
	for _, n := range after.Entities {
		if o := before.Entity(n.Name); o != nil {
			m.refuseEntity(o, n)
		}
	}
	for _, n := range after.Structs {
		if o := before.Struct(n.Name); o != nil {
			m.refuseFields(n.Name, o.Fields, n.Fields)
		}
	}
	return m.refusals
}

const newTable = "create the new table under another name, write to both from the application, copy with `monotable export` and `monotable import`, then move the reads"

func (m *merger) refuseTable(o, n *design.Table) {
	switch {
	case o.Physical != n.Physical:
		m.refuse(n.Name, n.Pos, fmt.Sprintf("the table is now called %q instead of %q: generated code cannot keep items of two tables in sync in one transaction", n.Physical, o.Physical),
			"name the table with --table; or "+newTable)
	case o.PK != n.PK || !sameAttribute(o.SK, n.SK):
		m.refuse(n.Name, n.Pos, "the primary key has different attributes, which needs a new table", newTable)
	case o.TypeAttr != n.TypeAttr && o.TypeAttr != "" && n.TypeAttr != "":
		m.refuse(n.Name, n.Pos, fmt.Sprintf("the type attribute is now %q instead of %q: an item has only one", n.TypeAttr, o.TypeAttr), "keep its name: type_attr: "+o.TypeAttr)
	case o.TTLAttr != n.TTLAttr && o.TTLAttr != "" && n.TTLAttr != "":
		m.refuse(n.Name, n.Pos, fmt.Sprintf("items now expire by %q instead of %q: TTL must be off for an hour in between", n.TTLAttr, o.TTLAttr), "keep its name: ttl_attr: "+o.TTLAttr)
	}
	for _, x := range n.Indexes {
		was := o.Index(x.Name)
		switch {
		case was == nil && x.Local:
			m.refuse(n.Name+"."+x.Name, x.Pos, "a local index can only be created with its table", "make it a global index; or "+newTable)
		case was != nil && (!slices.Equal(was.PK, x.PK) || !slices.Equal(was.SK, x.SK) || was.Local != x.Local):
			m.refuse(n.Name+"."+x.Name, x.Pos, "the key of an index cannot change", "give the new index another name and move the reads to it: the old one is deleted at the end")
		case was != nil && (was.Project.All != x.Project.All || !slices.Equal(align.Projected(m.first, o.Name, was), align.Projected(m.other, n.Name, x))):
			m.refuse(n.Name+"."+x.Name, x.Pos, "the projection of an index cannot change", "give the new index another name and move the reads to it: the old one is deleted at the end")
		}
	}
	for _, x := range o.Indexes {
		if x.Local && n.Index(x.Name) == nil {
			m.refuse(n.Name+"."+x.Name, design.Pos{}, "a local index can only be deleted with its table", "keep it in the design")
		}
	}
}

func sameAttribute(a, b *design.KeyAttribute) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func (m *merger) refuseEntity(o, n *design.Entity) {
	if o.Table != n.Table {
		m.refuse(n.Name, n.Pos, fmt.Sprintf("it moved to table %s from %s: a copy must be in its item's table", n.Table, o.Table),
			"create an entity with another name there, write both from the application, and remove this one when the other is complete")
		return
	}
	if o.TypeValue != n.TypeValue && o.TypeValue != "" && n.TypeValue != "" {
		m.refuse(n.Name, n.Pos, fmt.Sprintf("its type is now %q instead of %q: programs with either design ignore the other's items", n.TypeValue, o.TypeValue), "keep what is stored: type: "+o.TypeValue)
	}
	m.refuseFields(n.Name, o.Fields, n.Fields)
	m.refuseEntries(o, n)
	m.refuseCounters(o, n)
	if !align.SameKey(o.Key, n.Key) && !sameSet(plan.KeyFields(o), plan.KeyFields(n)) {
		switch {
		case len(o.Unique)+len(n.Unique) > 0:
			m.refuse(n.Name, n.Pos, "its key uses other fields, but its markers identify the item by its key fields", "keep the key fields, or remove the markers first and add them again afterwards")
		case len(o.Counters)+len(n.Counters) > 0:
			m.refuse(n.Name, n.Pos, "its key uses other fields, but counted items refer to it by its key fields", "keep the key fields, or remove the counters first")
		}
	}
	if !alike(ttlOf(o), ttlOf(n)) && o.TTL != nil && n.TTL != nil && o.TTL.Field != n.TTL.Field {
		m.refuse(n.Name, n.Pos, "its items expire by another field", "keep the field")
	}
}

func ttlOf(e *design.Entity) design.TTL {
	if e.TTL == nil {
		return design.TTL{}
	}
	return *e.TTL
}

func (m *merger) refuseFields(of string, before, after []*design.Field) {
	for _, n := range after {
		i := slices.IndexFunc(before, func(f *design.Field) bool { return f.Name == n.Name })
		if i < 0 {
			continue
		}
		o := before[i]
		subject := of + "." + n.Name
		switch {
		case o.Type.String() != n.Type.String():
			m.refuse(subject, n.Pos, fmt.Sprintf("it is now %s instead of %s: both kinds of programs need the same type", n.Type, o.Type),
				"add a field with another name and the new type, fill it with --fill, move the programs to it, and remove this one in a separate migration")
		case !slices.Equal(o.Path, n.Path):
			m.refuse(subject, n.Pos, fmt.Sprintf("it is now stored at %v instead of %v: a field is written to one place", n.Path, o.Path), fmt.Sprintf("keep the stored attribute: attr: %s", o.Attribute()))
		}
	}
}

// refuseEntries rejects entries that differ within the same index, where an item has only one place. Items with an
// additional key are exempt: each has its own place.
func (m *merger) refuseEntries(o, n *design.Entity) {
	if !align.SameKey(o.Key, n.Key) {
		return
	}
	for _, e := range o.Entries {
		same := func(x *design.Entry) bool { return x.Index == e.Index && x.Of == e.Of }
		if e.Of != "" && slices.ContainsFunc(n.Entries, same) && !slices.ContainsFunc(n.Entries, func(x *design.Entry) bool { return same(x) && x.Name == e.Name }) {
			m.refuse(n.Name+"."+e.Place(), design.Pos{}, "the entry of the copy "+e.Of+" was removed, but others in the index stay", "give the copy another name and key, so that it is created first, and move the reads to it")
		}
	}
	for _, x := range n.Entries {
		c, was := n.Copy(x.Of), o.Copy(x.Of)
		if x.Of != "" && (was == nil || !align.SameKey(c.Key, was.Key)) {
			continue
		}
		const another = "an item has only one entry in an index"
		i := slices.IndexFunc(o.Entries, func(e *design.Entry) bool { return e.Place() == x.Place() && e.Of == x.Of })
		if i < 0 {
			m.refuseOverlappingEntries(o, n, x)
			continue
		}
		switch e := o.Entries[i]; {
		case !align.SameTemplates(e.PK, x.PK) || !align.SameTemplates(e.SK, x.SK):
			m.refuse(n.Name+"."+x.Place(), x.Pos, "the entry has a different key, and "+another, "put the new entry in another index, which is built first, and move the reads to it")
		case !align.SameCondition(e.Where, x.Where):
			m.refuse(n.Name+"."+x.Place(), x.Pos, "the entry has a different condition, and "+another, "put the new entry in another index, which is built first, and move the reads to it")
		}
	}
}

// refuseOverlappingEntries rejects a new entry in an index where items have others, unless it is for other items: the conditions of
// both never hold together.
func (m *merger) refuseOverlappingEntries(o, n *design.Entity, x *design.Entry) {
	for _, e := range o.Entries {
		if e.Index != x.Index || e.Of != x.Of {
			continue
		}
		if item, decided := expression.Overlap(m.other, n, e.Where, x.Where); item != "" || !decided || x.Of != "" {
			m.refuse(n.Name+"."+x.Place(), x.Pos, "items have the entry "+e.Place()+" in the index, and an item has only one entry in an index",
				"give the two entries conditions that exclude each other; or put the entry in another index, which is built first, and move the reads to it")
			return
		}
	}
}

// refuseCounters rejects new counters. Existing items would have to be counted while programs count what they add and
// remove, and a request that reads many items does not see a single moment: it would miss a creation and deletion in
// between, and nothing would show the error.
func (m *merger) refuseCounters(o, n *design.Entity) {
	for _, c := range n.Counters {
		i := slices.IndexFunc(o.Counters, func(x *design.Counter) bool { return x.Field == c.Field })
		if i >= 0 && alike(*o.Counters[i], *c) {
			continue
		}
		m.refuse(n.Name+"."+c.Field, c.Pos, "the counter is new, and existing items cannot be counted exactly while "+c.Of+" items are created and deleted",
			"stop the programs that write "+c.Of+", load the counts, and start the programs with the new design")
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}
