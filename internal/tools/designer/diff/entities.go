package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

func (d *differ) entities() {
	pairs(d.old.Entities, d.now.Entities, func(e *design.Entity) string { return e.Name }, d.entity,
		func(e *design.Entity) { d.add(Free, e.Name, e.Pos, "the entity is new") },
		func(e *design.Entity) {
			d.add(Breaking, e.Name, design.Pos{}, "the entity was removed, but its items remain in the table")
		})
}

func (d *differ) entity(o, n *design.Entity) {
	if o.Table != n.Table {
		d.weigh(d.add(Rewrite, n.Name, n.Pos, "it moved to table %s from %s", n.Table, o.Table), n,
			slices.Concat(plan.Places(d.now, n), plan.Places(d.old, o)))
	} else if !sameKey(o.Key, n.Key) {
		d.weigh(d.add(Rewrite, n.Name, n.Pos, "its key is now %s instead of %s: every item is written under the new key and deleted under the old one",
			keyText(n.Key), keyText(o.Key)), n, d.moved(o, n, plan.KeyPlace, "key"))
	}
	if o.TypeValue != n.TypeValue && o.TypeValue != "" && n.TypeValue != "" { // otherwise the table has no type attribute any more, or a new one
		d.weigh(d.add(Backfill, n.Name, n.Pos, "the type attribute is now %q instead of %q", n.TypeValue, o.TypeValue), n, d.typed(n))
	}
	d.fields(o, n)
	d.expiry(o, n)
	pairs(o.Copies, n.Copies, func(c *design.Copy) string { return c.Name },
		func(oc, nc *design.Copy) {
			if !sameKey(oc.Key, nc.Key) {
				d.weigh(d.add(Backfill, n.Name+"."+nc.Name, nc.Pos, "the copy's key is now %s instead of %s", keyText(nc.Key), keyText(oc.Key)), n,
					d.moved(o, n, plan.CopyPlace, nc.Name))
			} else if oc.All != nc.All || !sameSet(oc.Fields, nc.Fields) {
				d.weigh(d.add(Backfill, n.Name+"."+nc.Name, nc.Pos, "the copy has different fields"), n, itemOf(d.now, n, plan.CopyPlace, nc.Name))
			}
		},
		func(c *design.Copy) {
			d.weigh(d.add(Backfill, n.Name+"."+c.Name, c.Pos, "the copy is new: every item gets one"), n, itemOf(d.now, n, plan.CopyPlace, c.Name))
		},
		func(c *design.Copy) {
			d.add(Breaking, n.Name+"."+c.Name, design.Pos{}, "the copy was removed, but programs with the old design may read it")
		})
	pairs(o.Unique, n.Unique, func(m *design.Marker) string { return m.Name },
		func(om, nm *design.Marker) {
			if !sameKey(om.Key, nm.Key) {
				d.weigh(d.add(Backfill, n.Name+"."+nm.Name, nm.Pos, "the marker's key is now %s instead of %s", keyText(nm.Key), keyText(om.Key)), n,
					d.moved(o, n, plan.MarkerPlace, nm.Name))
			}
		},
		func(m *design.Marker) {
			d.weigh(d.add(Backfill, n.Name+"."+m.Name, m.Pos, "the marker is new: every item gets one; resolve duplicates first"), n,
				itemOf(d.now, n, plan.MarkerPlace, m.Name))
		},
		func(m *design.Marker) {
			d.add(Free, n.Name+"."+m.Name, design.Pos{}, "the marker was removed: uniqueness is no longer enforced, and its items can be deleted")
		})
	d.entries(o, n)
	d.counters(o, n)
}

// counters compares counters. A count is stored nowhere else: if a counter counts differently, the existing items must be
// counted again.
func (d *differ) counters(o, n *design.Entity) {
	anew := func(c *design.Counter, what string) {
		d.weigh(d.add(Backfill, n.Name+"."+c.Field, c.Pos, "%s: all %s items must be counted", what, c.Of), n, d.holding(n, c.Field))
	}
	pairs(o.Counters, n.Counters, func(c *design.Counter) string { return c.Field },
		func(oc, nc *design.Counter) {
			if oc.Of != nc.Of || oc.Sum != nc.Sum || oc.By != nc.By || conditionText(oc.Where) != conditionText(nc.Where) {
				anew(nc, "the counter counts differently")
			}
		},
		func(c *design.Counter) { anew(c, "the counter is new") },
		func(c *design.Counter) {
			if n.Field(c.Field) != nil { // otherwise the field was removed
				d.add(Breaking, n.Name+"."+c.Field, design.Pos{}, "it is no longer maintained, but programs with the old design rely on it")
			}
		})
}

// entries compares index entries. An entry whose keys are plain fields requires no backfill, because the attributes exist. A
// composed key requires an attribute that no item has yet.
func (d *differ) entries(o, n *design.Entity) {
	name := func(x *design.Entry) string { return x.Place() + " " + x.Of }
	backfill := func(x *design.Entry, what string, before float64, moves bool) {
		subject := n.Name + "." + x.Place()
		if composed(x) {
			entry := placeOf(d.now, n, x)
			d.enter(d.add(Backfill, subject, x.Pos, "%s: every item with the entry gets its key attributes", what), n, entry, min(1, entry.Part()+before), moves)
			return
		}
		d.add(IndexBuild, subject, x.Pos, "%s, built from existing attributes", what)
	}
	pairs(d.renamed(o, n), n.Entries, name,
		func(ox, nx *design.Entry) {
			if !sameTemplates(ox.PK, nx.PK) || !sameTemplates(ox.SK, nx.SK) {
				backfill(nx, "the entry's key is different", 0, true)
			} else if conditionText(ox.Where) != conditionText(nx.Where) {
				backfill(nx, "the entry has a different condition", placeOf(d.old, o, ox).Part(), false) // items that may no longer have the entry
			}
		},
		func(x *design.Entry) { backfill(x, "the entry is new", 0, false) },
		func(x *design.Entry) {
			d.add(Breaking, n.Name+"."+x.Place(), design.Pos{}, "the entry was removed, but programs with the old design may read it")
		})
}

// renamed returns the old entries; those that only changed their name have the new one, because names are not stored.
func (d *differ) renamed(o, n *design.Entity) []*design.Entry {
	has := func(list []*design.Entry, x *design.Entry, same func(*design.Entry) bool) int {
		return slices.IndexFunc(list, func(y *design.Entry) bool { return y.Index == x.Index && y.Of == x.Of && same(y) })
	}
	out := slices.Clone(o.Entries)
	for i, x := range out {
		now := has(n.Entries, x, func(y *design.Entry) bool {
			return sameTemplates(x.PK, y.PK) && sameTemplates(x.SK, y.SK) && conditionText(x.Where) == conditionText(y.Where)
		})
		called := func(y *design.Entry) bool { return y.Name == x.Name }
		if now < 0 || has(n.Entries, x, called) >= 0 {
			continue
		}
		y := n.Entries[now]
		d.add(Free, n.Name+"."+y.Place(), y.Pos, "the entry was called %s: stored data does not change, but programs must be compiled with the new name", x.Place())
		same := *x
		same.Name = y.Name
		out[i] = &same
	}
	return out
}

// composed reports whether some key of the entry is more than a single plain field.
func composed(x *design.Entry) bool {
	return slices.ContainsFunc(slices.Concat(x.PK, x.SK), func(t *design.Template) bool {
		return len(t.Parts) != 1 || t.Parts[0].Field == "" || len(t.Parts[0].Funcs) > 0
	})
}

// absent reports whether a field may be absent: a set is when it is empty.
func absent(f *design.Field) bool { return f.Optional || f.Type.Kind == design.KindSet }

// expiry compares when items expire. The expiry of an item is stored with it.
func (d *differ) expiry(o, n *design.Entity) {
	switch {
	case o.TTL == nil && n.TTL != nil:
		d.add(Free, n.Name, n.TTL.Pos, "new items expire by %s; existing ones without it do not", n.TTL.Field)
	case o.TTL != nil && n.TTL == nil:
		d.add(Free, n.Name, n.Pos, "new items no longer expire")
	case o.TTL != nil && (o.TTL.Field != n.TTL.Field || o.TTL.After != n.TTL.After):
		d.add(Free, n.Name, n.TTL.Pos, "new items expire differently; existing ones keep their expiry")
	}
}

func (d *differ) fields(o, n *design.Entity) {
	pairs(o.Fields, n.Fields, func(f *design.Field) string { return f.Name },
		func(of, nf *design.Field) {
			d.field(n.Name, of, nf, func(c *Change) { d.weigh(c, n, d.holding(n, nf.Name)) })
		},
		func(f *design.Field) {
			switch was := storedAt(o, f.Path); {
			case was != nil && n.Field(was.Name) == nil && was.Type.String() == f.Type.String() && (f.Optional || !was.Optional):
				d.add(Free, n.Name+"."+f.Name, f.Pos, "the field was called %s; stored values do not change", was.Name)
			case slices.ContainsFunc(n.Counters, func(c *design.Counter) bool { return c.Field == f.Name }): // reported with its counter
			case absent(f):
				d.add(Free, n.Name+"."+f.Name, f.Pos, "the optional field is new")
			default:
				d.weigh(d.add(Backfill, n.Name+"."+f.Name, f.Pos, "the field is new and required: existing items need a value; "+
					"or make it optional"), n, d.holding(n, f.Name))
			}
		},
		func(f *design.Field) { d.add(Breaking, n.Name+"."+f.Name, design.Pos{}, "%s", gone(o, n, f)) })
}

// field compares a field of an entity or a structure; weigh prices the change of all items.
func (d *differ) field(of string, o, n *design.Field, weigh func(*Change)) {
	subject := of + "." + n.Name
	if !slices.Equal(o.Path, n.Path) {
		weigh(d.add(Backfill, subject, n.Pos, "it is now stored at %v instead of %v", n.Path, o.Path))
	}
	switch {
	case o.Optional && !absent(n):
		weigh(d.add(Backfill, subject, n.Pos, "it is now required: items without it need a value"))
	case !o.Optional && n.Optional:
		d.add(Breaking, subject, n.Pos, "it is now optional, but programs with the old design rely on it")
	}
	switch {
	case o.Type.String() != n.Type.String():
		d.add(Breaking, subject, n.Pos, "it is now %s instead of %s: items contain the old type", n.Type, o.Type)
	case n.MaxBytes > 0 && (o.MaxBytes == 0 || n.MaxBytes < o.MaxBytes):
		d.add(Breaking, subject, n.Pos, "it can now have at most %d bytes in a key, but items may contain longer values", n.MaxBytes)
	case n.MinBytes > o.MinBytes:
		d.add(Breaking, subject, n.Pos, "it must now have at least %s, but items may contain shorter values", plural.Of(n.MinBytes, "byte"))
	}
}

// structures compares the structures inside of items. Their changes are not priced: items contain any number of them.
func (d *differ) structures() {
	unpriced := func(*Change) {}
	pairs(d.old.Structs, d.now.Structs, func(s *design.Struct) string { return s.Name },
		func(o, n *design.Struct) {
			pairs(o.Fields, n.Fields, func(f *design.Field) string { return f.Name },
				func(of, nf *design.Field) { d.field(n.Name, of, nf, unpriced) },
				func(f *design.Field) {
					if absent(f) {
						d.add(Free, n.Name+"."+f.Name, f.Pos, "the optional field is new")
						return
					}
					d.add(Backfill, n.Name+"."+f.Name, f.Pos, "the field is new and required: existing structures need a value; or make it optional")
				},
				func(f *design.Field) {
					d.add(Breaking, n.Name+"."+f.Name, design.Pos{}, "the field was removed: programs with the old design read it")
				})
		},
		func(*design.Struct) {}, func(*design.Struct) {})
}

// storedAt is the field of an entity that is stored at a path; nil if there is none.
func storedAt(e *design.Entity, path []string) *design.Field {
	i := slices.IndexFunc(e.Fields, func(f *design.Field) bool { return slices.Equal(f.Path, path) })
	if i < 0 {
		return nil
	}
	return e.Fields[i]
}

// gone describes a field's removal: it was renamed, may have been renamed, or is gone.
func gone(o, n *design.Entity, f *design.Field) string {
	path := strings.Join(f.Path, ".")
	if now := storedAt(n, f.Path); now != nil {
		return fmt.Sprintf("the field is now called %s: its values stay at %s, but programs must be compiled with the new name", now.Name, path)
	}
	i := slices.IndexFunc(n.Fields, func(g *design.Field) bool { return o.Field(g.Name) == nil && g.Type.String() == f.Type.String() })
	if i < 0 {
		return fmt.Sprintf("the field was removed: programs with the old design read it, and its values stay in the items at %s", path)
	}
	kept := "attr: " + path
	if f.Nested() {
		kept = "at: " + path
	}
	return fmt.Sprintf("the field was removed; if %s is its new name, keep the stored attribute: %s: { type: %q, %s }", n.Fields[i].Name, n.Fields[i].Name, typeText(n.Fields[i]), kept)
}

// typeText is a field's type in a design's notation.
func typeText(f *design.Field) string {
	if f.Optional {
		return f.Type.String() + "?"
	}
	return f.Type.String()
}

func sameKey(a, b design.Key) bool {
	return templateText(a.PK) == templateText(b.PK) && templateText(a.SK) == templateText(b.SK)
}

func sameTemplates(a, b []*design.Template) bool {
	return slices.EqualFunc(a, b, func(x, y *design.Template) bool { return x.Text == y.Text })
}

func templateText(t *design.Template) string {
	if t == nil {
		return ""
	}
	return t.Text
}

func conditionText(c *design.Condition) string {
	if c == nil {
		return ""
	}
	return c.Text
}

func keyText(k design.Key) string {
	if k.SK == nil {
		return templateText(k.PK)
	}
	return templateText(k.PK) + " / " + k.SK.Text
}
