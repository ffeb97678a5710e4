package design

import (
	"iter"
	"strings"
)

func (r *resolver) entity(in namedEntry[entityShape]) {
	d, s := r.design, in.value
	e := &Entity{Name: in.name, Doc: s.Doc, Accept: r.accept(s.Accept), Pos: in.pos}
	d.Entities = append(d.Entities, e)
	r.put(&e.Duplicates, s.Duplicates)
	e.Volume = Volume{
		Count: s.Volume.Count, Typical: s.Volume.Typical, Max: s.Volume.Max, Hottest: s.Volume.Hottest,
		Size: s.Volume.Size, MaxSize: s.Volume.MaxSize, Pos: s.Volume.Pos,
	}
	r.put(&e.Volume.Per, s.Volume.Per)
	t := r.tableOf(e, s.Table)
	naming := NamingAsIs
	if t != nil {
		naming = t.Naming
	}
	e.Fields = r.fields(s.Fields, naming)
	for _, c := range s.Counters {
		e.Counters = append(e.Counters, r.counter(c))
	}
	for _, n := range s.Refs {
		ref := Ref{Field: n.name, Pos: n.pos}
		for _, t := range n.value {
			entity, field, of := strings.Cut(t.value, ".")
			if !of {
				r.Hint(t.pos, n.name+": User.userId", "a reference needs an entity and a field of its key")
				continue
			}
			ref.To = append(ref.To, RefTarget{entity, field, t.pos})
		}
		e.Refs = append(e.Refs, ref)
	}
	for _, n := range s.Snapshot {
		entity, from, of := strings.Cut(n.value.value, ".")
		if !of {
			r.Hint(n.value.pos, n.name+": Product.price", "a snapshot needs an entity and one of its fields")
			continue
		}
		e.Snapshots = append(e.Snapshots, Snapshot{Field: n.name, Entity: entity, From: from, Pos: n.pos})
	}
	for _, f := range s.Personal {
		e.Personal = append(e.Personal, r.fate(f))
	}
	if s.TTL != nil {
		e.TTL = &TTL{After: r.duration(s.TTL.After), Pos: s.TTL.Pos}
		r.put(&e.TTL.Field, s.TTL.Attr)
		if !s.TTL.Attr.given() {
			r.Hint(s.TTL.Pos, "ttl: { attr: expiresAt, after: 90d }", "ttl needs the field that holds the time")
		}
	}
	if t == nil {
		return
	}
	r.typeValue(e, t, s.Type)
	e.Key = r.key(e, t, s.Key.PK, s.Key.SK, in.pos, true)
	r.entries(e, t, "", e.Key, s.Index)
	for _, c := range s.Copies {
		r.copyOf(e, t, c)
	}
	for _, m := range s.Unique {
		e.Unique = append(e.Unique, &Marker{Name: m.name, Key: r.key(e, t, m.value.PK, m.value.SK, m.pos, false), Pos: m.pos})
	}
}

// tableOf finds an entity's table, which need not be named if there is only one.
func (r *resolver) tableOf(e *Entity, t text) *Table {
	tables := r.design.Tables
	switch {
	case t.given():
		r.put(&e.Table, t)
		return r.design.Table(t.value)
	case len(tables) == 1:
		e.Table = tables[0].Name
		return tables[0]
	case len(tables) > 1:
		r.Hint(e.Pos, "table: "+tables[0].Name, "%s must name its table, because the design has several", e.Name)
	}
	return nil
}

func (r *resolver) typeValue(e *Entity, t *Table, given text) {
	switch {
	case t.TypeAttr != "" && given.given():
		r.put(&e.TypeValue, given)
	case t.TypeAttr != "":
		e.TypeValue = strings.ToUpper(snake(e.Name))
	case given.given():
		r.Hint(given.pos, "add type_attr: entityType to the table", "table %s has no type_attr to hold %q", t.Name, given.value)
	}
}

// key parses the templates of a primary key. The item's own key may omit attributes in which a field is stored.
func (r *resolver) key(e *Entity, t *Table, pk, sk text, p Pos, own bool) Key {
	one := func(what string, k *KeyAttribute, given text) *Template {
		switch {
		case k == nil && given.given():
			r.Fault(given.pos, "table %s has no sort key", t.Name)
			return nil
		case k == nil || k.Name == "":
			return nil
		case given.given():
			return r.template(given)
		case own:
			if f := e.fieldAt(k.Name); f != nil {
				return plainTemplate(f, p)
			}
		}
		r.Hint(p, "key: { pk: \"…#{id}\", sk: … }", "%s has no %s key, which table %s stores in %s", e.Name, what, t.Name, k.Name)
		return nil
	}
	return Key{PK: one("partition", &t.PK, pk), SK: one("sort", t.SK, sk)}
}

// fieldAt is the field that is stored directly in an attribute, nil if there is none.
func (e *Entity) fieldAt(attribute string) *Field {
	return find(e.Fields, func(f *Field) bool { return len(f.Path) == 1 && f.Path[0] == attribute })
}

// plainTemplate is the template of a plain field.
func plainTemplate(f *Field, p Pos) *Template {
	return &Template{Text: "{" + f.Name + "}", Parts: []Part{{Field: f.Name}}, Pos: p}
}

// entries parses the index entries of an entity, or of its copy named of, whose primary key is key: one per index, or several.
func (r *resolver) entries(e *Entity, t *Table, of string, key Key, list named[[]entryShape]) {
	for _, in := range list {
		if len(in.value) == 0 {
			r.Hint(in.pos, "index: { "+in.name+": {} }", "the entry in %s is empty", in.name)
		}
		for i := range in.value {
			p := in.pos
			if len(in.value) > 1 {
				p = in.value[i].Pos
			}
			r.entry(e, t, of, key, in.name, &in.value[i], p)
		}
	}
}

func (r *resolver) entry(e *Entity, t *Table, of string, key Key, index string, s *entryShape, p Pos) {
	entry := &Entry{Of: of, Where: r.condition(s.Where), Share: s.Share, Pos: p}
	r.put(&entry.Index, text{index, p})
	r.put(&entry.Name, s.Name)
	x := t.Index(index)
	if x == nil {
		e.Entries = append(e.Entries, entry)
		return
	}
	own := map[string]*Template{t.PK.Name: key.PK}
	if t.SK != nil {
		own[t.SK.Name] = key.SK
	}
	entry.PK = r.entryKey(e, x, "partition", x.PK, s.PK, own, p)
	entry.SK = r.entryKey(e, x, "sort", x.SK, s.SK, own, p)
	e.Entries = append(e.Entries, entry)
}

// entryKey parses the templates of an index's key attributes; without templates, each attribute is one of the item's own key,
// or a plain field of the entity.
func (r *resolver) entryKey(
	e *Entity, x *Index, what string, attributes []KeyAttribute, given []text, own map[string]*Template, p Pos,
) []*Template {
	var out []*Template
	if given == nil {
		for _, a := range attributes {
			if key := own[a.Name]; key != nil {
				out = append(out, key)
			} else if f := e.fieldAt(a.Name); f != nil {
				out = append(out, plainTemplate(f, p))
			} else {
				r.Hint(p, "give a template for it", "%s has no field stored as %s, a %s key of index %s", e.Name, a.Name, what, x.Name)
			}
		}
		return out
	}
	if len(given) != len(attributes) {
		r.Fault(p, "index %s has %d %s key attributes, but there are %d templates", x.Name, len(attributes), what, len(given))
	}
	for _, t := range given {
		if parsed := r.template(t); parsed != nil {
			out = append(out, parsed)
		}
	}
	return out
}

func (r *resolver) copyOf(e *Entity, t *Table, in namedEntry[copyShape]) {
	s := in.value
	c := &Copy{Name: in.name, Key: r.key(e, t, s.PK, s.SK, in.pos, false), Pos: in.pos}
	if s.Fields == nil || len(s.Fields) == 1 && s.Fields[0].value == "all" {
		c.All = true
	} else {
		c.Fields = r.texts(s.Fields)
	}
	e.Copies = append(e.Copies, c)
	r.entries(e, t, in.name, c.Key, s.Index)
}

func (r *resolver) counter(in namedEntry[counterShape]) *Counter {
	s := in.value
	c := &Counter{Field: in.name, Where: r.condition(s.Where), Pos: in.pos}
	switch {
	case s.Count.given() == s.Sum.given():
		r.Hint(in.pos, in.name+": Entity, or { sum: Entity.field }", "counter %s needs an entity to count or a field to sum", in.name)
	case s.Count.given():
		r.put(&c.Of, s.Count)
	default:
		of, field, ok := strings.Cut(s.Sum.value, ".")
		if !ok {
			r.Hint(s.Sum.pos, "sum: Order.total", "a sum needs an entity and one of its fields")
		}
		r.put(&c.Of, text{of, s.Sum.pos})
		r.put(&c.Sum, text{field, s.Sum.pos})
	}
	r.put(&c.By, s.By)
	return c
}

// keys are the key attributes of an entity's item, and of its copies, with their templates.
func (e *Entity) keys(t *Table) iter.Seq2[KeyAttribute, *Template] {
	return func(yield func(KeyAttribute, *Template) bool) {
		all := []Key{e.Key}
		for _, c := range e.Copies {
			all = append(all, c.Key)
		}
		for _, k := range all {
			if k.PK != nil && !yield(t.PK, k.PK) || k.SK != nil && t.SK != nil && !yield(*t.SK, k.SK) {
				return
			}
		}
		for _, entry := range e.Entries {
			x := t.Index(entry.Index)
			if x == nil {
				continue
			}
			for i := range min(len(x.PK), len(entry.PK)) {
				if !yield(x.PK[i], entry.PK[i]) {
					return
				}
			}
			for i := range min(len(x.SK), len(entry.SK)) {
				if !yield(x.SK[i], entry.SK[i]) {
					return
				}
			}
		}
	}
}

// stored is the field that a template stores unchanged in its own attribute; nil if the template makes something else.
func (e *Entity) stored(t *Template, attribute string) *Field {
	if f := e.fieldAt(attribute); f != nil && f.Name == t.field() {
		return f
	}
	return nil
}
