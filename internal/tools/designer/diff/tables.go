package diff

import (
	"slices"

	"github.com/monotable/monotable/design"
)

func (d *differ) tables() {
	pairs(d.old.Tables, d.now.Tables, func(t *design.Table) string { return t.Name }, d.table,
		func(t *design.Table) { d.add(Free, t.Name, t.Pos, "the table is new") },
		func(t *design.Table) { d.add(Breaking, t.Name, design.Pos{}, "the table is gone") })
}

func (d *differ) table(o, n *design.Table) {
	if o.Physical != n.Physical {
		d.moveAll(d.add(Rewrite, n.Name, n.Pos, "the table is called %q, and was %q: all items move to another table", n.Physical, o.Physical), n)
	}
	if o.PK != n.PK || !sameAttribute(o.SK, n.SK) {
		d.moveAll(d.add(Rewrite, n.Name, n.Pos, "the primary key has other attributes: only a new table can have it, and all items move"), n)
	}
	if o.TypeAttr != n.TypeAttr && n.TypeAttr != "" {
		d.weighAll(d.add(Backfill, n.Name, n.Pos, "the type attribute is %q, which every item must get", n.TypeAttr), n, d.typed)
	}
	switch {
	case o.TTLAttr == n.TTLAttr:
	case o.TTLAttr == "":
		d.add(Setting, n.Name, n.Pos, "items expire by %q", n.TTLAttr)
	case n.TTLAttr == "":
		d.add(Setting, n.Name, n.Pos, "items no longer expire")
	default:
		d.add(Setting, n.Name, n.Pos, "items expire by %q, and did by %q: TTL must be off for an hour in between", n.TTLAttr, o.TTLAttr)
	}
	if o.Billing != n.Billing {
		d.add(Setting, n.Name, n.Pos, "billing is %s, and was %s", n.Billing, o.Billing)
	}
	if o.Stream != n.Stream {
		d.add(Setting, n.Name, n.Pos, "the stream is %q, and was %q: another view needs another stream", n.Stream, o.Stream)
	}
	pairs(o.Indexes, n.Indexes, func(x *design.Index) string { return x.Name },
		func(ox, nx *design.Index) { d.index(n, ox, nx) },
		func(x *design.Index) { d.newIndex(n, x) },
		func(x *design.Index) {
			d.add(Breaking, n.Name+"."+x.Name, design.Pos{}, "the index is gone, and programs of the old design may read it")
		})
}

func sameAttribute(a, b *design.KeyAttribute) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

func (d *differ) newIndex(t *design.Table, x *design.Index) {
	if x.Local {
		d.moveAll(d.add(Rewrite, t.Name+"."+x.Name, x.Pos, "the local index is new: it can only be made with its table, and all items move to a new one"), t)
		return
	}
	d.add(IndexBuild, t.Name+"."+x.Name, x.Pos, "the index is new: DynamoDB builds it from the attributes that items have")
}

func (d *differ) index(t *design.Table, o, n *design.Index) {
	subject := t.Name + "." + n.Name
	if !slices.Equal(o.PK, n.PK) || !slices.Equal(o.SK, n.SK) {
		d.add(Breaking, subject, n.Pos, "the key has other attributes, and an index cannot change its key: give the new one another name, "+
			"move the reads, then drop the old one")
		return
	}
	if o.Project.All == n.Project.All && slices.Equal(o.Project.Fields, n.Project.Fields) {
		return
	}
	more := n.Project.All || slices.ContainsFunc(n.Project.Fields, func(f string) bool { return !slices.Contains(o.Project.Fields, f) })
	if more && !o.Project.All {
		d.add(IndexBuild, subject, n.Pos, "it projects more, and a projection cannot change: build another index, move the reads, then drop this one")
		return
	}
	d.add(Breaking, subject, n.Pos, "it projects less: programs of the old design may read what is gone")
}
