package diff

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// patterns compares the patterns that programs call.
func (d *differ) patterns() {
	pairs(d.old.Reads, d.now.Reads, func(r *design.Read) string { return r.Name }, d.read,
		func(r *design.Read) { d.add(Free, r.Name, r.Pos, "the read is new") },
		func(r *design.Read) { d.add(Breaking, r.Name, design.Pos{}, "the read was removed") })
	pairs(d.old.Collections, d.now.Collections, func(c *design.Collection) string { return c.Name },
		func(o, n *design.Collection) {
			if !slices.Equal(o.Of, n.Of) || !sameSet(o.By, n.By) || o.Root != n.Root {
				d.add(Breaking, n.Name, n.Pos, "the collection now reads %v by %v instead of %v by %v", n.Of, n.By, o.Of, o.By)
			}
		},
		func(c *design.Collection) { d.add(Free, c.Name, c.Pos, "the collection is new") },
		func(c *design.Collection) { d.add(Breaking, c.Name, design.Pos{}, "the collection was removed") })
	pairs(d.old.Writes, d.now.Writes, func(w *design.Write) string { return w.Name }, d.write,
		func(w *design.Write) { d.add(Free, w.Name, w.Pos, "the write is new") },
		func(w *design.Write) { d.add(Breaking, w.Name, design.Pos{}, "the write was removed") })
}

func (d *differ) read(o, n *design.Read) {
	switch {
	case o.Entity != n.Entity || o.Keyword() != n.Keyword() && (o.Keyword() != "many" || n.Keyword() != "scan") && (o.Keyword() != "scan" || n.Keyword() != "many"):
		d.add(Breaking, n.Name, n.Pos, "it now returns %s", n.Entity)
	case !sameSet(o.By, n.By) || o.Prefix != n.Prefix || o.Bucket != n.Bucket || o.Over != n.Over || o.Range != n.Range || o.Owner != n.Owner:
		d.add(Breaking, n.Name, n.Pos, "its parameters have changed: by %v instead of %v", n.By, o.By)
	case !slices.Equal(o.Order, n.Order):
		d.add(Breaking, n.Name, n.Pos, "its order has changed: existing cursors become invalid")
	case o.Via != n.Via && o.Via != "" && n.Via != "":
		d.add(Breaking, n.Name, n.Pos, "it now reads %s instead of %s: existing cursors become invalid", n.Via, o.Via)
	}
}

func (d *differ) write(o, n *design.Write) {
	pairs(o.Params, n.Params, func(f *design.Field) string { return f.Name },
		func(of, nf *design.Field) {
			if of.Type.String() != nf.Type.String() || of.Optional && !nf.Optional {
				d.add(Breaking, n.Name, nf.Pos, "its parameter %s has changed", nf.Name)
			}
		},
		func(f *design.Field) {
			class := Free
			if !f.Optional {
				class = Breaking
			}
			d.add(class, n.Name, f.Pos, "the parameter %s is new", f.Name)
		},
		func(f *design.Field) { d.add(Breaking, n.Name, design.Pos{}, "the parameter %s was removed", f.Name) })
	if o.Idempotent != nil && n.Idempotent == nil {
		d.add(Breaking, n.Name, n.Pos, "it is no longer idempotent: a retry repeats its effect")
	}
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
