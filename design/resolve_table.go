package design

import (
	"cmp"
	"slices"
	"strings"
)

func (r *resolver) table(in namedEntry[tableShape]) {
	s := in.value
	t := &Table{Name: in.name, Doc: s.Doc, Accept: r.accept(s.Accept), Pos: in.pos, Billing: OnDemand}
	r.design.Tables = append(r.design.Tables, t)
	t.Physical = in.name
	if s.Name.given() {
		r.put(&t.Physical, s.Name)
	}
	if s.TypeAttr.value != "none" {
		r.put(&t.TypeAttr, s.TypeAttr)
	}
	r.put(&t.TTLAttr, s.TTLAttr)
	r.put((*string)(&t.Naming), s.Naming)
	if s.Billing.given() {
		r.put((*string)(&t.Billing), s.Billing)
	}
	r.put(&t.Stream, s.Stream)
	if !s.Key.PK.given() {
		r.Hint(in.pos, "key: { pk: PK, sk: SK }", "table %s has no partition key", in.name)
		return
	}
	r.keyAttribute(&t.PK, s.Key.PK)
	if s.Key.SK.given() {
		t.SK = new(KeyAttribute)
		r.keyAttribute(t.SK, s.Key.SK)
	}
	for _, x := range s.Indexes {
		r.index(t, x)
	}
}

// keyAttribute parses an attribute's name with, after a colon, its type: "createdAt:N". The type is "" if it is omitted.
func (r *resolver) keyAttribute(k *KeyAttribute, t text) {
	name, kind, typed := strings.Cut(t.value, ":")
	r.put(&k.Name, text{strings.TrimSpace(name), t.pos})
	r.put((*string)(&k.Type), text{strings.TrimSpace(kind), t.pos})
	if typed && k.Type == "" {
		r.Hint(t.pos, name+":N", "a type is missing after the colon")
	}
}

func (r *resolver) keyAttributes(list []text) []KeyAttribute {
	out := make([]KeyAttribute, len(list))
	for i := range list {
		r.keyAttribute(&out[i], list[i])
	}
	return slices.Clip(out)
}

func (r *resolver) index(t *Table, in namedEntry[indexShape]) {
	s := in.value
	x := &Index{Name: in.name, Local: s.Local, LagMillis: r.milliseconds(s.Lag), Accept: r.accept(s.Accept), Pos: in.pos}
	t.Indexes = append(t.Indexes, x)
	if s.Local && s.Lag.given() {
		r.Hint(s.Lag.pos, "remove it", "the local index %s has no lag: it is updated with its table", in.name)
	}
	x.PK = r.keyAttributes(s.PK)
	if x.Local && len(x.PK) == 0 {
		x.PK = []KeyAttribute{t.PK}
	}
	if len(s.SK) > 0 {
		x.SK = r.keyAttributes(s.SK)
	}
	x.Project.Pos = s.Project.pos
	switch w := s.Project.words; {
	case w == nil, len(w) == 1 && w[0].value == "all":
		x.Project.All = true
	case len(w) == 1 && w[0].value == "keys", len(w) == 0:
	default:
		x.Project.Fields = r.texts(w)
	}
}

// keyTypes sets the omitted types of a table's key attributes: that of a field stored in the attribute, otherwise S. Fields in
// a declared key take precedence over those of other items.
func (r *resolver) keyTypes(t *Table) {
	types := map[string]KeyType{}
	learn := func(name string, kind KeyType) {
		if types[name] == "" {
			types[name] = kind
		}
	}
	for _, k := range t.keyAttributes() {
		learn(k.Name, k.Type)
	}
	for _, e := range r.design.Entities {
		if e.Table != t.Name {
			continue
		}
		for k, template := range e.keys(t) {
			if f := e.stored(template, k.Name); f != nil {
				learn(k.Name, f.Type.Key())
			}
		}
	}
	for _, e := range r.design.Entities { // items that are in an index without declaring it
		for _, k := range t.keyAttributes() {
			if f := e.fieldAt(k.Name); e.Table == t.Name && f != nil {
				learn(k.Name, f.Type.Key())
			}
		}
	}
	for _, k := range t.keyAttributes() {
		if k.Type == "" {
			k.Type = KeyType(cmp.Or(string(types[k.Name]), string(KeyString)))
		}
	}
}

// keyAttributes are all attributes of the keys of a table and its indexes.
func (t *Table) keyAttributes() []*KeyAttribute {
	out := []*KeyAttribute{&t.PK}
	if t.SK != nil {
		out = append(out, t.SK)
	}
	for _, x := range t.Indexes {
		for i := range x.PK {
			out = append(out, &x.PK[i])
		}
		for i := range x.SK {
			out = append(out, &x.SK[i])
		}
	}
	return out
}

// Key is the type of a key attribute that contains a plain field of the type; S also if a value of the type cannot be a key.
func (t Type) Key() KeyType {
	switch {
	case t.Numeric():
		return KeyNumber
	case t.Kind == KindBytes:
		return KeyBinary
	default:
		return KeyString
	}
}
