package design

import (
	"slices"
	"strings"

	"github.com/monotable/monotable/design/internal/syntax"
)

func (c *checker) entities() {
	names := set{}
	for _, e := range c.design.Entities {
		c.name(names, "an entity", e.Name, e.Pos)
		c.accepted(e.Accept)
		if len(e.Fields) == 0 {
			c.Hint(e.Pos, "fields: { userId: id }", "%s has no fields", e.Name)
		}
		c.fields(e.Fields)
		c.relations(e)
		c.volume(e)
		t := c.design.TableOf(e)
		if t == nil {
			if e.Table != "" {
				known := namesIn(c.design.Tables, func(t *Table) string { return t.Name })
				c.Hint(c.At(&e.Table, e.Pos), syntax.Suggestion(e.Table, known), "there is no table %q", e.Table)
			} else {
				c.missing(e.Pos, "%s has no table", e.Name)
			}
			continue
		}
		c.places(e, t)
		c.keys(e, t)
		if e.TTL != nil && e.TTL.Field != "" {
			f := c.field(e, e.TTL.Field, c.At(&e.TTL.Field, e.TTL.Pos))
			if f != nil && (len(f.Path) != 1 || f.Path[0] != t.TTLAttr) {
				c.Hint(e.TTL.Pos, "ttl_attr: "+f.Name+", at the table", "%s expires by field %s, which is not the TTL attribute of table %s", e.Name, f.Name, t.Name)
			}
		}
	}
}

// places checks that each attribute of an item has one meaning: a key, the type or a field.
func (c *checker) places(e *Entity, t *Table) {
	if t.TypeAttr != "" && e.TypeValue == "" {
		c.missing(e.Pos, "%s has no value for the type attribute %s", e.Name, t.TypeAttr)
	}
	for _, f := range e.Fields {
		if len(f.Path) > 0 && f.Path[0] == t.TypeAttr {
			c.Hint(f.Pos, "remove the field: the attribute is written for every item", "field %s is stored in attribute %s, which holds the item's type", f.Name, t.TypeAttr)
		}
	}
	reported := set{}
	for k, template := range e.keys(t) {
		f := find(e.Fields, func(f *Field) bool { return len(f.Path) > 0 && f.Path[0] == k.Name })
		if f != nil && e.stored(template, k.Name) == nil && !reported[k.Name] {
			reported[k.Name] = true
			c.Hint(f.Pos, f.Name+": { type: "+f.Type.String()+", attr: … }", "field %s is stored in attribute %s, which holds the key %q", f.Name, k.Name, template)
		}
	}
}

func (c *checker) keys(e *Entity, t *Table) {
	c.key(e, t, e.Key, e.Pos)
	names := set{"key": true}
	for _, x := range t.Indexes {
		names[x.Name] = true
	}
	for _, x := range e.Copies {
		c.name(names, "a copy, index or marker", x.Name, x.Pos)
		c.key(e, t, x.Key, x.Pos)
		c.fieldNames(e, x.Fields, x.Pos)
		if x.All && len(x.Fields) > 0 {
			c.Fault(x.Pos, "copy %s has both all fields and a list of fields", x.Name)
		}
	}
	for _, m := range e.Unique {
		c.name(names, "a copy, index or marker", m.Name, m.Pos)
		c.key(e, t, m.Key, m.Pos)
		c.templates(e, t.PK, m.Key.PK)
		if t.SK != nil {
			c.templates(e, *t.SK, m.Key.SK)
		}
	}
	met := map[string]set{}
	for _, entry := range e.Entries {
		c.entry(e, t, entry)
		place := entry.Index + " " + entry.Of
		if met[place] == nil {
			met[place] = set{}
		}
		turns := e.Several(entry.Index, entry.Of)
		several, all := turns != nil, 0.0
		for _, x := range turns {
			all += x.Share
		}
		if several && turns[0] == entry && all > 1 {
			c.Fault(entry.Pos, "the shares of %s in index %s add up to %.4g: the maximum is 1", e.Name, entry.Index, all)
		}
		switch {
		case entry.Name != "":
			c.name(met[place], "an entry", entry.Name, c.At(&entry.Name, entry.Pos))
		case several:
			c.Hint(entry.Pos, "- { name: open, where: \"status = 'open'\", pk: …, sk: … }", "%s has several entries in index %s, but this one has no name", e.Name, entry.Index)
		}
		if several && entry.Where == nil {
			c.Hint(entry.Pos, "where: \"status = 'open'\"", "%s has several entries in index %s, of which an item has one at a time, but this one has no condition", e.Name, entry.Index)
		}
		if entry.Name != "" && t.Index(entry.Place()) != nil {
			c.Fault(entry.Pos, "%s is also the name of an index", entry.Place())
		}
	}
	for k, template := range e.keys(t) {
		c.templates(e, k, template)
	}
}

func (c *checker) key(e *Entity, t *Table, k Key, p Pos) {
	if k.PK == nil || (k.SK == nil) != (t.SK == nil) {
		c.missing(p, "the key of %s does not match the key of table %s", e.Name, t.Name)
	}
}

func (c *checker) entry(e *Entity, t *Table, entry *Entry) {
	x := t.Index(entry.Index)
	switch {
	case x == nil:
		known := namesIn(t.Indexes, func(x *Index) string { return x.Name })
		c.Hint(entry.Pos, syntax.Suggestion(entry.Index, known), "table %s has no index %q", t.Name, entry.Index)
	case len(x.PK) != len(entry.PK) || len(x.SK) != len(entry.SK):
		c.missing(entry.Pos, "the entry of %s in index %s needs one template for each key attribute", e.Name, x.Name)
	}
	if entry.Of != "" && e.Copy(entry.Of) == nil {
		c.Fault(entry.Pos, "%s has no copy %q", e.Name, entry.Of)
	}
	c.condition(e, entry.Where, noParams)
	switch {
	case entry.Share > 1:
		c.Fault(entry.Pos, "the share of %s in index %s is %g: the maximum is 1", e.Name, entry.Index, entry.Share)
	case entry.Share > 0 && entry.Where == nil && !e.optional(slices.Concat(entry.PK, entry.SK)):
		c.Hint(entry.Pos, "add where, or use an optional field in its key", "every %s is in index %s: only an entry with a condition can have a share", e.Name, entry.Index)
	}
}

// optional reports whether one of the templates has an optional field.
func (e *Entity) optional(templates []*Template) bool {
	return slices.ContainsFunc(templates, func(t *Template) bool {
		return t != nil && slices.ContainsFunc(t.Fields(), func(name string) bool { f := e.Field(name); return f != nil && f.Optional })
	})
}

// templates checks a template with known fields against its attribute.
func (c *checker) templates(e *Entity, k KeyAttribute, t *Template) {
	if t == nil {
		return
	}
	for _, p := range t.Parts {
		f := e.Field(p.Field)
		if f == nil {
			continue
		}
		at := c.Source.Within(t.Pos, t.Text, p.At)
		if what := misuse(p, f.Type); what != "" {
			c.Fault(at, "%s", what)
			return
		} else if f.Type.Kind == KindBytes && len(p.Funcs) == 0 && k.Type != KeyBinary {
			c.Hint(at, "use |hash(16), or a key attribute of type B", "key attribute %s holds text, not bytes", k.Name)
			return
		}
	}
	if k.Type == KeyString {
		if f := e.stored(t, k.Name); f != nil && f.Type.Key() != KeyString {
			c.Hint(t.Pos, k.Name+":"+string(f.Type.Key()), "key attribute %s has type S, but its field %s has type %s", k.Name, f.Name, f.Type)
		}
		return
	}
	fits := len(t.Parts) == 1 && t.Parts[0].Field != ""
	if f := e.Field(t.field()); f != nil {
		fits = f.Type.Key() == k.Type
	} else if fits && len(t.Parts[0].Funcs) > 0 {
		last := t.Parts[0].Funcs[len(t.Parts[0].Funcs)-1].Name
		fits = k.Type == KeyNumber && slices.Contains([]string{"pad", "desc", "ts", "band", "mod", "shard"}, last)
	}
	if !fits {
		c.Hint(t.Pos, "write "+k.Name+" without the type", "key attribute %s has type %s, which %q does not produce", k.Name, k.Type, t)
	}
}

// relations checks the declarations of entities about each other.
func (c *checker) relations(e *Entity) {
	if e.Duplicates != "" && c.entity(&e.Duplicates, e.Pos) == e {
		c.Fault(c.At(&e.Duplicates, e.Pos), "%s duplicates itself", e.Name)
	}
	number := func(f *Field, p Pos) {
		if f != nil && !f.Type.Numeric() {
			c.Fault(p, "field %s has type %s, not a number type", f.Name, f.Type)
		}
	}
	taken := set{}
	for _, x := range e.Counters {
		c.name(taken, "a counter", x.Field, x.Pos)
		number(c.field(e, x.Field, x.Pos), x.Pos)
		of := c.entity(&x.Of, x.Pos)
		if of == e {
			c.Hint(x.Pos, "an entity of its own, with the key fields of "+e.Name, "counter %s of %s counts items of its own entity", x.Field, e.Name)
		} else if circle := c.counts(x.Of, e, []string{e.Name}, set{}); circle != nil {
			c.Hint(x.Pos, "count on one side only", "counters form a cycle: %s", strings.Join(circle, " counts "))
		} else if of != nil {
			c.owned(e, x, of)
		}
		c.condition(of, x.Where, noParams)
		if x.Sum != "" {
			p := c.At(&x.Sum, x.Pos)
			number(c.field(of, x.Sum, p), p)
		}
	}
	taken = set{}
	for i := range e.Refs {
		c.name(taken, "a reference", e.Refs[i].Field, e.Refs[i].Pos)
		c.ref(e, &e.Refs[i])
	}
	taken = set{}
	for i := range e.Snapshots {
		s := &e.Snapshots[i]
		c.name(taken, "a snapshot", s.Field, s.Pos)
		c.field(e, s.Field, s.Pos)
		c.field(c.entity(&s.Entity, s.Pos), s.From, s.Pos)
	}
}

// owned checks that a counted item identifies the item with the counter.
func (c *checker) owned(e *Entity, x *Counter, of *Entity) {
	if Owner(of, e, x.By) != nil {
		return
	}
	names := namers(of, e)
	switch {
	case x.By != "" && len(names) > 0:
		c.Hint(c.At(&x.By, x.Pos), "by: "+strings.Join(names, ", or "), "%s is not a reference from %s to %s", x.By, of.Name, e.Name)
	case len(names) > 1:
		c.Hint(x.Pos, "by: "+strings.Join(names, ", or "), "%s refers to %s by several fields: counter %s must name one in by", of.Name, e.Name, x.Field)
	default:
		key := keyFields(e)
		c.Hint(x.Pos, "fields named "+strings.Join(key, ", ")+", or refs: { …: "+e.Name+"."+key[0]+" }, in "+of.Name,
			"counter %s: no field of %s identifies the %s that it belongs to", x.Field, of.Name, e.Name)
	}
}

// ref checks that a field can refer to the items of its targets.
func (c *checker) ref(e *Entity, r *Ref) {
	f := c.field(e, r.Field, r.Pos)
	met := set{}
	for i := range r.To {
		t, p := &r.To[i], r.Pos
		if t.Pos != (Pos{}) {
			p = t.Pos
		}
		of := c.entity(&t.Entity, p)
		to := c.field(of, t.Field, p)
		if f == nil || to == nil {
			continue
		}
		key := keyFields(of)
		switch {
		case met[t.Entity]:
			c.Fault(p, "%s names %s twice", r.Field, t.Entity)
		case !slices.Contains(key, t.Field):
			c.Hint(p, "use a field of its key: "+strings.Join(key, ", "), "%s.%s is not in the key of %s, so it does not identify an item", t.Entity, t.Field, t.Entity)
		case to.Type.String() != f.Type.String():
			c.Fault(p, "%s has type %s, but %s.%s has type %s", r.Field, f.Type, t.Entity, t.Field, to.Type)
		}
		met[t.Entity] = true
		for _, other := range key {
			if g := e.Field(other); other != t.Field && g == nil {
				c.Fault(p, "%s has no field %s, which is in the key of %s together with %s", e.Name, other, t.Entity, t.Field)
			}
		}
	}
	if len(r.To) == 0 {
		c.missing(r.Pos, "reference %s has no target", r.Field)
	}
}

// keyFields are the fields of an entity's key.
func keyFields(e *Entity) []string {
	var out []string
	for _, name := range slices.Concat(fieldsOf(e.Key.PK), fieldsOf(e.Key.SK)) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// counts returns the cyclic path of counters that starts with the named entity; nil if there is no cycle, or if it is reported
// for an earlier entity.
func (c *checker) counts(name string, e *Entity, path []string, met set) []string {
	of := c.design.Entity(name)
	switch {
	case of == e:
		return append(path, name)
	case of == nil || met[name] || slices.Index(c.design.Entities, of) < slices.Index(c.design.Entities, e):
		return nil
	}
	met[name] = true
	path = append(slices.Clone(path), name)
	for _, x := range of.Counters {
		if circle := c.counts(x.Of, e, path, met); circle != nil {
			return circle
		}
	}
	return nil
}

func (c *checker) volume(e *Entity) {
	v := &e.Volume
	switch {
	case v.Per != "" && v.Count > 0:
		c.Hint(v.Pos, "write count: 1000, or per: User with typical and max", "the volume of %s has both a total count and a number per entity", e.Name)
	case v.Max > 0 && v.Max < max(v.Typical, v.Count):
		c.Fault(v.Pos, "the volume of %s has a max below its typical", e.Name)
	case v.Hottest > 1:
		c.Fault(v.Pos, "the hottest item of %s takes a share of %g: the maximum is 1", e.Name, v.Hottest)
	case v.MaxSize > 0 && v.MaxSize < v.Size:
		c.Fault(v.Pos, "the volume of %s has a max_size below its size", e.Name)
	}
	if v.Per == "" || c.entity(&v.Per, v.Pos) == nil {
		return
	}
	round := []string{e.Name}
	for next := c.design.Entity(v.Per); next != nil && len(round) <= len(c.design.Entities); next = c.design.Entity(next.Volume.Per) {
		round = append(round, next.Name)
		if next == e {
			c.Hint(c.At(&v.Per, v.Pos), "give one of them a count", "volumes form a cycle: %s", strings.Join(round, " per "))
			return
		}
	}
}
