package diff

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/align"
)

func (d *differ) tables() {
	pairs(d.old.Tables, d.now.Tables, func(t *design.Table) string { return t.Name }, d.table,
		func(t *design.Table) { d.add(Free, t.Name, t.Pos, "the table is new") },
		func(t *design.Table) { d.add(Breaking, d.called(t, t.Name), design.Pos{}, "the table was removed") })
}

func (d *differ) table(o, n *design.Table) {
	if was := d.names.Was(o); was != "" {
		d.add(Breaking, was, n.Pos, "the table is now called %s in the design: its items stay in %q, but programs and commands must use the new name", n.Name, n.Physical)
	}
	if o.Physical != n.Physical {
		d.moveAll(d.add(Rewrite, n.Name, n.Pos, "the table is now called %q instead of %q: all items move to another table", n.Physical, o.Physical), n)
	}
	if o.PK != n.PK || !sameAttribute(o.SK, n.SK) {
		d.moveAll(d.add(Rewrite, n.Name, n.Pos, "the primary key has different attributes: this needs a new table, to which all items move"), n)
	}
	if o.TypeAttr != n.TypeAttr && n.TypeAttr != "" {
		d.weighAll(d.add(Backfill, n.Name, n.Pos, "the type attribute is now %q, which must be added to every item", n.TypeAttr), n, d.typed)
	}
	if o.TypeAttr != "" && n.TypeAttr == "" {
		d.add(Free, n.Name, n.Pos, "there is no type attribute any more: entities are told apart by their keys")
	}
	switch {
	case o.TTLAttr == n.TTLAttr:
	case o.TTLAttr == "":
		d.add(Setting, n.Name, n.Pos, "items now expire by %q", n.TTLAttr)
	case n.TTLAttr == "":
		d.add(Setting, n.Name, n.Pos, "items no longer expire")
	default:
		d.add(Setting, n.Name, n.Pos, "items now expire by %q instead of %q: TTL must be off for an hour in between", n.TTLAttr, o.TTLAttr)
	}
	if o.Billing != n.Billing {
		d.add(Setting, n.Name, n.Pos, "billing is now %s instead of %s", n.Billing, o.Billing)
	}
	if o.Stream != n.Stream {
		d.add(Setting, n.Name, n.Pos, "the stream is now %q instead of %q: a different view type requires a new stream", n.Stream, o.Stream)
	}
	pairs(o.Indexes, n.Indexes, func(x *design.Index) string { return x.Name },
		func(ox, nx *design.Index) { d.index(n, ox, nx) },
		func(x *design.Index) { d.newIndex(n, x) },
		func(x *design.Index) {
			d.add(Breaking, n.Name+"."+x.Name, design.Pos{}, "the index was removed, but programs with the old design may read it")
		})
}

func sameAttribute(a, b *design.KeyAttribute) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func (d *differ) newIndex(t *design.Table, x *design.Index) {
	if x.Local {
		d.moveAll(d.add(Rewrite, t.Name+"."+x.Name, x.Pos, "the local index is new: it can only be created with its table, so all items move to a new table"), t)
		return
	}
	d.add(IndexBuild, t.Name+"."+x.Name, x.Pos, "the index is new: DynamoDB builds it from existing attributes")
}

func (d *differ) index(t *design.Table, o, n *design.Index) {
	subject := t.Name + "." + n.Name
	if !slices.Equal(o.PK, n.PK) || !slices.Equal(o.SK, n.SK) {
		d.add(Breaking, subject, n.Pos, "the key has different attributes, and the key of an index cannot change: give the new index another name, "+
			"move the reads, then delete the old one")
		return
	}
	is, was := d.projection(d.now, t, n), d.projection(d.old, t, o)
	switch {
	case lacks(is, was):
		d.add(Breaking, subject, n.Pos, "it projects less: programs with the old design may read the removed attributes")
	case lacks(was, is):
		d.add(IndexBuild, subject, n.Pos, "it projects more, and a projection cannot change: create another index, move the reads, then delete this one")
	}
}

// projection is an index's projection by the attributes where fields are stored.
func (d *differ) projection(in *design.Design, t *design.Table, x *design.Index) design.Projection {
	return design.Projection{All: x.Project.All, Fields: align.Projected(in, t.Name, x)}
}

// lacks reports whether a projection does not have everything that another one has.
func lacks(p, other design.Projection) bool {
	return !p.All && (other.All || slices.ContainsFunc(other.Fields, func(f string) bool { return !slices.Contains(p.Fields, f) }))
}
