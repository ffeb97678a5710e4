package align

import (
	"regexp"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// design is the design with the new names.
func (a *aligner) design() *design.Design {
	out := &design.Design{Version: a.from.Version, Name: a.from.Name, Go: a.from.Go, Workload: a.from.Workload}
	for _, t := range a.from.Tables {
		out.Tables = append(out.Tables, a.table(t))
	}
	for _, e := range a.from.Enums {
		n := *e
		n.Name = a.typeName(e.Name)
		renamed(a, &n, n.Name, e.Name)
		out.Enums = append(out.Enums, &n)
	}
	for _, s := range a.from.Structs {
		n := *s
		n.Name, n.Fields = a.typeName(s.Name), a.fieldList(s.Fields)
		renamed(a, &n, n.Name, s.Name)
		out.Structs = append(out.Structs, &n)
	}
	for _, e := range a.from.Entities {
		out.Entities = append(out.Entities, a.entity(e))
	}
	out.Person = a.to.Person // which the fates of entities need
	for i, e := range a.from.Entities {
		a.relations(e, out.Entities[i], out)
		if out.Person == "" && e.Field(a.from.Person) != nil {
			out.Person = a.field(e, a.from.Person)
		}
	}
	return out
}

// renamed records an object's original name.
func renamed(a *aligner, x any, name, was string) {
	if name != was {
		a.was[x] = was
	}
}

func (a *aligner) table(t *design.Table) *design.Table {
	out := *t
	out.Name, out.Indexes = a.tables[t], nil
	for _, x := range t.Indexes {
		n := *x
		n.Project.Fields = nil
		for _, name := range x.Project.Fields {
			for _, now := range a.projected(t, name) {
				if !slices.Contains(n.Project.Fields, now) {
					n.Project.Fields = append(n.Project.Fields, now)
				}
			}
		}
		out.Indexes = append(out.Indexes, &n)
	}
	renamed(a, &out, out.Name, t.Name)
	return &out
}

// projected are the names of a projected field in the entities that have it.
func (a *aligner) projected(t *design.Table, name string) []string {
	var out []string
	for _, e := range a.from.Entities {
		if e.Table == t.Name && e.Field(name) != nil {
			out = append(out, a.field(e, name))
		}
	}
	if out == nil {
		return []string{name}
	}
	return out
}

func (a *aligner) typeName(name string) string {
	if now := a.types[name]; now != "" {
		return now
	}
	return name
}

func (a *aligner) fieldType(t design.Type) design.Type {
	t.Name = a.typeName(t.Name)
	if t.Elem != nil {
		elem := a.fieldType(*t.Elem)
		t.Elem = &elem
	}
	return t
}

func (a *aligner) fieldList(list []*design.Field) []*design.Field {
	var out []*design.Field
	for _, f := range list {
		n := *f
		n.Type = a.fieldType(f.Type)
		n.Name = a.fieldName(f)
		renamed(a, &n, n.Name, f.Name)
		out = append(out, &n)
	}
	return out
}

func (a *aligner) fieldName(f *design.Field) string {
	if now := a.fields[f]; now != "" {
		return now
	}
	return f.Name
}

func (a *aligner) field(e *design.Entity, name string) string {
	if e != nil {
		if f := e.Field(name); f != nil {
			return a.fieldName(f)
		}
	}
	return name
}

func (a *aligner) fieldNames(e *design.Entity, list []string) []string {
	var out []string
	for _, name := range list {
		out = append(out, a.field(e, name))
	}
	return out
}

func (a *aligner) entityName(name string) string {
	if e := a.from.Entity(name); e != nil {
		return a.entities[e]
	}
	return name
}

func (a *aligner) tableName(name string) string { return a.tables[a.from.Table(name)] }

func (a *aligner) template(e *design.Entity, t *design.Template) *design.Template {
	if t == nil || !slices.ContainsFunc(t.Fields(), func(name string) bool { return a.field(e, name) != name }) {
		return t
	}
	out, err := design.ParseTemplate(rewritten(t, func(name string) string { return a.field(e, name) }))
	if err != nil {
		return t // names too long for a template
	}
	out.Pos = t.Pos
	return out
}

func (a *aligner) templates(e *design.Entity, list []*design.Template) []*design.Template {
	var out []*design.Template
	for _, t := range list {
		out = append(out, a.template(e, t))
	}
	return out
}

func (a *aligner) key(e *design.Entity, k design.Key) design.Key {
	return design.Key{PK: a.template(e, k.PK), SK: a.template(e, k.SK)}
}

// words are strings, parameters, and names or paths.
var words = regexp.MustCompile(`'(?:[^']|'')*'|:?[A-Za-z_][A-Za-z0-9_]*(?:\[[0-9]+\]|\.[A-Za-z_][A-Za-z0-9_]*)*`)

// condition is a condition with the new names; everything else in its text stays.
func (a *aligner) condition(e *design.Entity, c *design.Condition) *design.Condition {
	if c == nil || e == nil {
		return c
	}
	var text strings.Builder
	last := 0
	for _, at := range words.FindAllStringIndex(c.Text, -1) {
		word := c.Text[at[0]:at[1]]
		called := strings.HasPrefix(strings.TrimLeft(c.Text[at[1]:], " \t\n"), "(")
		first, _, _ := strings.Cut(word, ".")
		first, _, _ = strings.Cut(first, "[")
		text.WriteString(c.Text[last:at[0]])
		if last = at[1]; !called && slices.Contains(c.Fields(), first) {
			word = a.path(e, word)
		}
		text.WriteString(word)
	}
	text.WriteString(c.Text[last:])
	if text.String() == c.Text {
		return c
	}
	out, err := design.ParseCondition(text.String())
	if err != nil {
		return c
	}
	out.Pos = c.Pos
	return out
}

// path is a path into a field with the new names of its steps.
func (a *aligner) path(e *design.Entity, path string) string {
	steps := strings.Split(path, ".")
	fields := e.Fields
	for i, step := range steps {
		name, index, indexed := strings.Cut(step, "[")
		at := slices.IndexFunc(fields, func(f *design.Field) bool { return f.Name == name })
		if at < 0 {
			continue // the key of a map, whose values follow
		}
		steps[i] = a.fieldName(fields[at])
		if indexed {
			steps[i] += "[" + index
		}
		inside := fields[at].Type
		for inside.Elem != nil {
			inside = *inside.Elem
		}
		fields = nil
		if s := a.from.Struct(inside.Name); s != nil {
			fields = s.Fields
		}
	}
	return strings.Join(steps, ".")
}

func (a *aligner) entity(e *design.Entity) *design.Entity {
	out, n := *e, a.partners[e]
	if n == nil {
		n = &design.Entity{}
	}
	out.Name, out.Table, out.Fields, out.Key = a.entities[e], a.tableName(e.Table), a.fieldList(e.Fields), a.key(e, e.Key)
	out.Volume.Per, out.Duplicates = a.entityName(e.Volume.Per), a.entityName(e.Duplicates)
	out.Copies, out.Unique, out.Entries = nil, nil, nil
	for _, c := range e.Copies {
		copied := *c
		copied.Key, copied.Fields = a.key(e, c.Key), a.fieldNames(e, c.Fields)
		out.Copies = append(out.Copies, &copied)
	}
	rename(a, out.Copies, n.Copies, func(c *design.Copy) *string { return &c.Name }, func(x, y *design.Copy) bool { return SameKey(x.Key, y.Key) })
	for _, m := range e.Unique {
		marker := *m
		marker.Key = a.key(e, m.Key)
		out.Unique = append(out.Unique, &marker)
	}
	rename(a, out.Unique, n.Unique, func(m *design.Marker) *string { return &m.Name }, func(x, y *design.Marker) bool { return SameKey(x.Key, y.Key) })
	for _, x := range e.Entries {
		entry := *x
		entry.PK, entry.SK, entry.Where = a.templates(e, x.PK), a.templates(e, x.SK), a.condition(e, x.Where)
		if i := slices.IndexFunc(e.Copies, func(c *design.Copy) bool { return c.Name == x.Of }); i >= 0 {
			entry.Of = out.Copies[i].Name
		}
		out.Entries = append(out.Entries, &entry)
	}
	a.entries(out.Entries, n.Entries)
	if e.TTL != nil {
		ttl := *e.TTL
		ttl.Field = a.field(e, e.TTL.Field)
		out.TTL = &ttl
	}
	if n.Name != "" { // it has the same fields there, apart from those that are gone
		out.Personal = n.Personal
	}
	renamed(a, &out, out.Name, e.Name)
	return &out
}

// rename names objects like those that are the same in the other design.
func rename[T any](a *aligner, list, to []*T, name func(*T) *string, same func(x, y *T) bool) {
	text := func(x *T) string { return *name(x) }
	for x, now := range names(list, to, paired(list, to, text, same), text, a.suffix) {
		renamed(a, x, now, text(x))
		*name(x) = now
	}
}

// entries names the entries in each index like those with the same key and condition.
func (a *aligner) entries(list, to []*design.Entry) {
	for _, x := range list {
		within := func(y *design.Entry) bool { return y.Index == x.Index && y.Of == x.Of }
		own, other := filter(list, within), filter(to, within)
		if own[0] == x { // the first of them
			rename(a, own, other, func(y *design.Entry) *string { return &y.Name }, SameEntry)
		}
	}
}

func filter[T any](list []*T, is func(*T) bool) []*T {
	return slices.DeleteFunc(slices.Clone(list), func(x *T) bool { return !is(x) })
}

// relations renames what an entity says about others, after all fields have their names.
func (a *aligner) relations(e, out *design.Entity, all *design.Design) {
	n := a.partners[e]
	out.Refs, out.Snapshots, out.Counters = nil, nil, nil
	for _, r := range e.Refs {
		ref := design.Ref{Field: a.field(e, r.Field), Pos: r.Pos}
		for _, to := range r.To {
			ref.To = append(ref.To, design.RefTarget{Entity: a.entityName(to.Entity), Field: a.field(a.from.Entity(to.Entity), to.Field), Pos: to.Pos})
		}
		out.Refs = append(out.Refs, ref)
	}
	if n != nil { // a field with a new name may need a reference where equal names were enough
		for _, r := range n.Refs {
			known := out.Field(r.Field) != nil && !slices.ContainsFunc(out.Refs, func(x design.Ref) bool { return x.Field == r.Field })
			if known && !slices.ContainsFunc(r.To, func(to design.RefTarget) bool {
				return all.Entity(to.Entity) == nil || all.Entity(to.Entity).Field(to.Field) == nil
			}) {
				out.Refs = append(out.Refs, r)
			}
		}
	}
	for _, s := range e.Snapshots {
		s.From, s.Entity, s.Field = a.field(a.from.Entity(s.Entity), s.From), a.entityName(s.Entity), a.field(e, s.Field)
		out.Snapshots = append(out.Snapshots, s)
	}
	for _, c := range e.Counters {
		of := a.from.Entity(c.Of)
		counter := *c
		counter.Field, counter.Of, counter.Sum, counter.By = a.field(e, c.Field), a.entityName(c.Of), a.field(of, c.Sum), a.field(of, c.By)
		counter.Where = a.condition(of, c.Where)
		if n != nil && a.partners[of] != nil {
			i := slices.IndexFunc(n.Counters, func(x *design.Counter) bool { return x.Field == counter.Field && x.Of == counter.Of })
			if i >= 0 && slices.Equal(a.joins(of, e, c.By), design.Owner(a.partners[of], n, n.Counters[i].By)) {
				counter.By = n.Counters[i].By
			}
		}
		out.Counters = append(out.Counters, &counter)
	}
}

// joins relate items to their owner, with the new names.
func (a *aligner) joins(e, owner *design.Entity, by string) []design.Join {
	joins := slices.Clone(design.Owner(e, owner, by))
	for i, j := range joins {
		joins[i] = design.Join{A: a.field(e, j.A), B: a.field(owner, j.B)}
	}
	return joins
}

// SameKey reports whether keys have the same templates.
func SameKey(a, b design.Key) bool { return text(a.PK) == text(b.PK) && text(a.SK) == text(b.SK) }

// SameTemplates reports whether the templates of index keys are the same.
func SameTemplates(a, b []*design.Template) bool {
	return slices.EqualFunc(a, b, func(x, y *design.Template) bool { return text(x) == text(y) })
}

// SameCondition reports whether conditions are the same.
func SameCondition(a, b *design.Condition) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Text == b.Text
}

// SameEntry reports whether entries have the same keys and condition.
func SameEntry(a, b *design.Entry) bool {
	return SameTemplates(a.PK, b.PK) && SameTemplates(a.SK, b.SK) && SameCondition(a.Where, b.Where)
}

func text(t *design.Template) string {
	if t == nil {
		return ""
	}
	return t.Text
}

// Projected are the attributes where the projected fields of an index are stored, in the order of their names.
func Projected(d *design.Design, table string, x *design.Index) []string {
	var out []string
	for _, name := range x.Project.Fields {
		for _, e := range d.Entities {
			if f := e.Field(name); f != nil && e.Table == table && !slices.Contains(out, f.Attribute()) {
				out = append(out, f.Attribute())
			}
		}
	}
	slices.Sort(out)
	return out
}
