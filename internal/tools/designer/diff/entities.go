package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

func (d *differ) entities() {
	pairs(d.old.Entities, d.now.Entities, func(e *design.Entity) string { return e.Name }, d.entity,
		func(e *design.Entity) { d.add(Free, e.Name, e.Pos, "the entity is new") },
		func(e *design.Entity) {
			d.add(Breaking, d.called(e, e.Name), design.Pos{}, "the entity was removed, but its items remain in the table")
		})
}

func (d *differ) entity(o, n *design.Entity) {
	if was := d.names.Was(o); was != "" {
		d.add(Breaking, was, n.Pos, "the entity is now called %s: its items stay where they are, but programs must be compiled with the new name", n.Name)
	}
	if o.Table != n.Table {
		d.weigh(d.add(Rewrite, n.Name, n.Pos, "it moved to table %s from %s", n.Table, d.called(d.old.TableOf(o), o.Table)), n,
			slices.Concat(plan.Places(d.now, n), plan.Places(d.old, o)))
	} else if !align.SameKey(o.Key, n.Key) {
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
			d.renamedPlace(oc, n.Name+"."+nc.Name, nc.Pos, "copy")
			if !align.SameKey(oc.Key, nc.Key) {
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
			d.add(Breaking, n.Name+"."+d.called(c, c.Name), design.Pos{}, "the copy was removed, but programs with the old design may read it")
		})
	pairs(o.Unique, n.Unique, func(m *design.Marker) string { return m.Name },
		func(om, nm *design.Marker) {
			if was := d.names.Was(om); was != "" {
				d.add(Breaking, n.Name+"."+was, nm.Pos, "the marker is now called %s: its items do not change, but programs must be compiled with the new name of its error", nm.Name)
			}
			if !align.SameKey(om.Key, nm.Key) {
				d.weigh(d.add(Backfill, n.Name+"."+nm.Name, nm.Pos, "the marker's key is now %s instead of %s", keyText(nm.Key), keyText(om.Key)), n,
					d.moved(o, n, plan.MarkerPlace, nm.Name))
			}
		},
		func(m *design.Marker) {
			d.weigh(d.add(Backfill, n.Name+"."+m.Name, m.Pos, "the marker is new: every item gets one; resolve duplicates first"), n,
				itemOf(d.now, n, plan.MarkerPlace, m.Name))
		},
		func(m *design.Marker) {
			d.add(Free, n.Name+"."+d.called(m, m.Name), design.Pos{}, "the marker was removed: uniqueness is no longer enforced, and its items can be deleted")
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
			if oc.Of != nc.Of || oc.Sum != nc.Sum || oc.By != nc.By || !align.SameCondition(oc.Where, nc.Where) {
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
		if composed(d.now.TableOf(n), x) {
			entry := placeOf(d.now, n, x)
			d.enter(d.add(Backfill, subject, x.Pos, "%s: every item with the entry gets its key attributes", what), n, entry, min(1, entry.Part()+before), moves)
			return
		}
		d.add(IndexBuild, subject, x.Pos, "%s, built from existing attributes", what)
	}
	pairs(o.Entries, n.Entries, name,
		func(ox, nx *design.Entry) {
			d.renamedPlace(ox, n.Name+"."+nx.Place(), nx.Pos, "entry")
			if !align.SameTemplates(ox.PK, nx.PK) || !align.SameTemplates(ox.SK, nx.SK) {
				backfill(nx, "the entry's key is different", 0, true)
			} else if !align.SameCondition(ox.Where, nx.Where) {
				backfill(nx, "the entry has a different condition", placeOf(d.old, o, ox).Part(), false) // items that may no longer have the entry
			}
		},
		func(x *design.Entry) { backfill(x, "the entry is new", 0, false) },
		func(x *design.Entry) {
			d.add(Breaking, n.Name+"."+d.place(x), design.Pos{}, "the entry was removed, but programs with the old design may read it")
		})
}

// renamedPlace reports a copy or an entry with another name.
func (d *differ) renamedPlace(o any, subject string, p design.Pos, kind string) {
	if _, is := d.names.Original(o); is {
		d.add(Free, subject, p, "the %s was called %s: stored data does not change, but programs must be compiled with the new name", kind, d.place(o))
	}
}

// place is the name of a copy or an entry in the old design.
func (d *differ) place(x any) string {
	switch x := x.(type) {
	case *design.Entry:
		same := *x
		if was, is := d.names.Original(x); is {
			same.Name = was
		}
		return same.Place()
	case *design.Copy:
		return d.called(x, x.Name)
	default:
		return ""
	}
}

// renamedField reports a field with another name.
func (d *differ) renamedField(of string, o, n *design.Field) {
	if was := d.names.Was(o); was != "" {
		path := strings.Join(n.Path, ".")
		d.add(Breaking, of+"."+was, n.Pos, "the field is now called %s: its values stay at %s, but programs must be compiled with the new name", n.Name, path)
		d.add(Free, of+"."+n.Name, n.Pos, "the field was called %s; stored values do not change", was)
	}
}

// composed reports whether some key of the entry is more than a single plain field, and no attribute of the table's own key, which all
// items have.
func composed(t *design.Table, x *design.Entry) bool {
	index := t.Index(x.Index)
	attributes := slices.Concat(index.PK, index.SK)
	for i, key := range slices.Concat(x.PK, x.SK) {
		plain := len(key.Parts) == 1 && key.Parts[0].Field != "" && len(key.Parts[0].Funcs) == 0
		if name := attributes[i].Name; !plain && name != t.PK.Name && (t.SK == nil || name != t.SK.Name) {
			return true
		}
	}
	return false
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
			d.renamedField(n.Name, of, nf)
			d.field(n.Name, of, nf, func(c *Change) { d.weigh(c, n, d.holding(n, nf.Name)) })
		},
		func(f *design.Field) {
			switch {
			case slices.ContainsFunc(n.Counters, func(c *design.Counter) bool { return c.Field == f.Name }): // reported with its counter
			case absent(f):
				d.add(Free, n.Name+"."+f.Name, f.Pos, "the optional field is new")
			default:
				d.weigh(d.add(Backfill, n.Name+"."+f.Name, f.Pos, "the field is new and required: existing items need a value; "+
					"or make it optional"), n, d.holding(n, f.Name))
			}
		},
		func(f *design.Field) {
			d.add(Breaking, n.Name+"."+d.called(f, f.Name), design.Pos{}, "%s", gone(o, n, f))
		})
}

// field compares a field of an entity or a structure; weigh prices the change of all items.
func (d *differ) field(of string, o, n *design.Field, weigh func(*Change)) {
	subject := of + "." + n.Name
	if !slices.Equal(o.Path, n.Path) {
		weigh(d.add(Backfill, subject, n.Pos, "it is now stored at %s instead of %s", strings.Join(n.Path, "."), strings.Join(o.Path, ".")))
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
		d.add(Breaking, subject, n.Pos, "it can now have at most %d bytes, but items may contain longer values", n.MaxBytes)
	case n.MinBytes > o.MinBytes:
		d.add(Breaking, subject, n.Pos, "it must now have at least %s, but items may contain shorter values", plural.Of(n.MinBytes, "byte"))
	}
}

// structures compares the structures inside of items. Their changes are not priced: items contain any number of them.
func (d *differ) structures() {
	unpriced := func(*Change) {}
	pairs(d.old.Structs, d.now.Structs, func(s *design.Struct) string { return s.Name },
		func(o, n *design.Struct) {
			d.renamedType(o, n.Name, n.Pos)
			pairs(o.Fields, n.Fields, func(f *design.Field) string { return f.Name },
				func(of, nf *design.Field) {
					d.renamedField(n.Name, of, nf)
					d.field(n.Name, of, nf, unpriced)
				},
				func(f *design.Field) {
					if absent(f) {
						d.add(Free, n.Name+"."+f.Name, f.Pos, "the optional field is new")
						return
					}
					d.add(Backfill, n.Name+"."+f.Name, f.Pos, "the field is new and required: existing structures need a value; or make it optional")
				},
				func(f *design.Field) {
					d.add(Breaking, n.Name+"."+d.called(f, f.Name), design.Pos{}, "the field was removed: programs with the old design read it")
				})
		},
		func(*design.Struct) {}, func(*design.Struct) {})
}

// gone describes a field's removal: it may have been renamed, or is gone.
func gone(o, n *design.Entity, f *design.Field) string {
	path := strings.Join(f.Path, ".")
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

func templateText(t *design.Template) string {
	if t == nil {
		return ""
	}
	return t.Text
}

func keyText(k design.Key) string {
	if k.SK == nil {
		return templateText(k.PK)
	}
	return templateText(k.PK) + " / " + k.SK.Text
}
