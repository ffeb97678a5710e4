package diff

import (
	"encoding/json"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// patterns compares the patterns that programs call.
func (d *differ) patterns() {
	pairs(d.before.Reads, d.now.Reads, func(r *design.Read) string { return r.Name }, d.read,
		func(r *design.Read) { d.add(Free, r.Name, r.Pos, "the read is new") },
		func(r *design.Read) { d.add(Breaking, r.Name, design.Pos{}, "the read was removed") })
	pairs(d.before.Collections, d.now.Collections, func(c *design.Collection) string { return c.Name },
		d.collection,
		func(c *design.Collection) { d.add(Free, c.Name, c.Pos, "the collection is new") },
		func(c *design.Collection) { d.add(Breaking, c.Name, design.Pos{}, "the collection was removed") })
	pairs(d.before.Writes, d.now.Writes, func(w *design.Write) string { return w.Name }, d.write,
		func(w *design.Write) { d.add(Free, w.Name, w.Pos, "the write is new") },
		func(w *design.Write) { d.add(Breaking, w.Name, design.Pos{}, "the write was removed") })
	pairs(d.ran.Errors, d.runs.Errors, func(e *lower.Error) string { return e.Name }, func(*lower.Error, *lower.Error) {},
		func(*lower.Error) {},
		func(e *lower.Error) {
			if e.Wraps != "" {
				return // an error of an entity or a marker, which is reported
			}
			d.add(Breaking, e.Name, design.Pos{}, "no write has the error any more, but programs with the old design may test for it")
		})
}

func (d *differ) read(o, n *design.Read) {
	before, same := len(d.changes), d.names.Read(o)
	switch {
	case o.Entity != n.Entity || o.Keyword() != n.Keyword() && (o.Keyword() != "many" || n.Keyword() != "scan") && (o.Keyword() != "scan" || n.Keyword() != "many"):
		d.add(Breaking, n.Name, n.Pos, "it now returns %s", n.Entity)
	case !sameSet(o.By, n.By) || o.Prefix != n.Prefix || o.Bucket != n.Bucket || o.Over != n.Over || o.Range != n.Range || o.Owner != n.Owner:
		d.add(Breaking, n.Name, n.Pos, "its parameters have changed: by %v instead of %v", n.By, o.By)
	case !slices.Equal(same.Order, n.Order):
		d.add(Breaking, n.Name, n.Pos, "its order has changed: existing cursors become invalid")
	case same.Via != n.Via && o.Via != "" && n.Via != "":
		d.add(Breaking, n.Name, n.Pos, "it now reads %s instead of %s: existing cursors become invalid", n.Via, o.Via)
	}
	if len(d.changes) > before {
		return
	}
	d.readCalls(o, n)
	if len(d.changes) == before && !sameApart(*same, *n, func(r *design.Read) {
		r.Doc, r.Rate, r.Accept, r.Shared, r.Via, r.Page, r.Segments = "", 0, nil, "", "", 0, 0
		r.Keys, r.Buckets = nil, nil
	}) {
		d.add(Free, n.Name, n.Pos, "it reads differently")
	}
}

// readCalls compares what a program passes to a read and gets from it.
func (d *differ) readCalls(o, n *design.Read) {
	was, is := find(d.ran.Reads, func(r *lower.Read) bool { return r.Design == o }), find(d.runs.Reads, func(r *lower.Read) bool { return r.Design == n })
	if was != nil && is != nil {
		d.inputs(n.Name, "parameter", n.Pos, was.Inputs, is.Inputs)
		d.returned(n.Name, d.now.Entity(n.Entity), n.Pos, was.Fields, is.Fields)
	}
	if n.Many && !n.Count && (o.Limit == 0) != (n.Limit == 0) {
		d.add(Breaking, n.Name, n.Pos, "it returns pages in one design and a list in the other: its methods differ")
	}
	d.fewer(n.Name, "keys", n.Pos, o.Keys, n.Keys)
	d.fewer(n.Name, "partitions", n.Pos, o.Buckets, n.Buckets)
	d.fresher(n.Name, n.Pos, o.Consistent, n.Consistent)
}

func (d *differ) collection(o, n *design.Collection) {
	before := len(d.changes)
	switch {
	case !sameSet(o.Of, n.Of) || !sameSet(o.By, n.By):
		d.add(Breaking, n.Name, n.Pos, "the collection now reads %v by %v instead of %v by %v", n.Of, n.By, o.Of, o.By)
		return
	case o.Root != n.Root || o.Owner != n.Owner:
		d.add(Breaking, n.Name, n.Pos, "its root or its owner has changed")
	case (o.Page == 0) != (n.Page == 0):
		d.add(Breaking, n.Name, n.Pos, "it returns pages in one design and everything in the other: its methods differ")
	case o.Order != n.Order || o.Via != n.Via && o.Via != "" && n.Via != "":
		d.add(Breaking, n.Name, n.Pos, "its order has changed, or what it reads: existing cursors become invalid")
	}
	d.fresher(n.Name, n.Pos, o.Consistent, n.Consistent)
	was, is := find(d.ran.Collections, func(c *lower.Collection) bool { return c.Design == o }), find(d.runs.Collections, func(c *lower.Collection) bool { return c.Design == n })
	if was != nil && is != nil {
		for _, m := range is.Members {
			if x := slices.IndexFunc(was.Members, func(x lower.Member) bool { return x.Entity.Name == m.Entity.Name }); x >= 0 {
				d.returned(n.Name, m.Entity, n.Pos, was.Members[x].Fields, m.Fields)
			}
		}
	}
	if len(d.changes) == before && !sameApart(*o, *n, func(c *design.Collection) {
		c.Doc, c.Rate, c.Accept, c.Shared, c.Via, c.Page, c.Of = "", 0, nil, "", "", 0, nil
	}) {
		d.add(Free, n.Name, n.Pos, "it reads differently")
	}
}

func (d *differ) write(o, n *design.Write) {
	before := len(d.changes)
	was, is := find(d.ran.Writes, func(w *lower.Write) bool { return w.Design == o }), find(d.runs.Writes, func(w *lower.Write) bool { return w.Design == n })
	if was != nil && is != nil {
		d.inputs(n.Name, "parameter", n.Pos, was.Inputs, is.Inputs)
	}
	switch {
	case (o.Lines == nil) != (n.Lines == nil):
		d.add(Breaking, n.Name, n.Pos, "it takes lines in one design and none in the other")
	case was != nil && is != nil:
		d.inputs(n.Name, "parameter of lines", n.Pos, was.Lines, is.Lines)
	}
	d.fewer(n.Name, "lines", n.Pos, o.Lines, n.Lines)
	if !o.Batch && n.Batch {
		d.add(Breaking, n.Name, n.Pos, "it is now a batch, which is not atomic")
	}
	if o.Idempotent != nil && n.Idempotent == nil {
		d.add(Breaking, n.Name, n.Pos, "it is no longer idempotent: a retry repeats its effect")
	}
	if len(d.changes) == before && !sameApart(*d.names.Write(o), *n, func(w *design.Write) { w.Doc, w.Rate, w.Accept, w.Lines, w.Params = "", 0, nil, nil, nil }) {
		d.add(Free, n.Name, n.Pos, "it writes differently")
	}
}

// inputs compares what programs pass to a pattern.
func (d *differ) inputs(pattern, what string, at design.Pos, o, n []lower.Input) {
	pairs(pointers(o), pointers(n), func(in *lower.Input) string { return in.Name },
		func(oi, ni *lower.Input) {
			if oi.Type.String() != ni.Type.String() || oi.Optional && !ni.Optional || oi.Removable && !ni.Removable {
				d.add(Breaking, pattern, at, "its %s %s has changed", what, ni.Name)
			}
		},
		func(in *lower.Input) {
			class := Free
			if !in.Optional && in.Type.Kind != design.KindList && in.Type.Kind != design.KindSet && in.Type.Kind != design.KindMap {
				class = Breaking
			}
			d.add(class, pattern, at, "the %s %s is new", what, in.Name)
		},
		func(in *lower.Input) { d.add(Breaking, pattern, at, "the %s %s was removed", what, in.Name) })
}

// returned compares the fields of a result. Fields that the entity no longer has are reported with it.
func (d *differ) returned(pattern string, e *design.Entity, at design.Pos, o, n []*design.Field) {
	for _, f := range o {
		if e != nil && e.Field(f.Name) != nil && !slices.ContainsFunc(n, func(x *design.Field) bool { return x.Name == f.Name }) {
			d.add(Breaking, pattern, at, "it no longer returns %s", f.Name)
		}
	}
}

// fewer compares how many lines or keys a call can have. Without a maximum there may be any number.
func (d *differ) fewer(pattern, what string, at design.Pos, o, n *design.Lines) {
	if o != nil && n != nil && n.Max > 0 && (o.Max == 0 || n.Max < o.Max) {
		d.add(Breaking, pattern, at, "it now takes at most %d %s", n.Max, what)
	}
}

func (d *differ) fresher(pattern string, at design.Pos, o, n bool) {
	if o && !n {
		d.add(Breaking, pattern, at, "it may now miss the latest writes, but programs with the old design rely on them")
	}
}

// sameApart reports whether two patterns are equal after some of their parts have been removed.
func sameApart[T any](o, n T, remove func(*T)) bool {
	remove(&o)
	remove(&n)
	a, _ := json.Marshal(o) // the parts of a design can be marshaled
	b, _ := json.Marshal(n)
	return string(a) == string(b)
}

func find[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}

func pointers[T any](list []T) []*T {
	out := make([]*T, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
