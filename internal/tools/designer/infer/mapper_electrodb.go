package infer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The format of an ElectroDB model. https://electrodb.dev/en/modeling/schema/

type electroModel struct {
	Model struct {
		Entity, Version, Service string
	}
	Table      string // next to the model, as in the entities' configuration
	Attributes ordered[electroAttribute]
	Indexes    ordered[electroIndex]
}

type electroAttribute struct {
	Type                               json.RawMessage
	Field, Label                       string
	Required                           bool
	Items                              *electroAttribute
	Properties                         ordered[electroAttribute]
	Padding                            electroPadding
	Default, Get, Set, Validate, Watch json.RawMessage
}

type electroPadding struct {
	Length int
	Char   string
}

type electroIndex struct {
	Index, Scope, Type string
	Collection         json.RawMessage
	PK                 electroKey
	SK                 *electroKey
	Condition          json.RawMessage
	Projection         json.RawMessage
}

type electroKey struct {
	Field, Template, Casing, Cast string
	Composite                     []string
	Facets                        json.RawMessage
}

// Names of ElectroDB's own attributes.
const (
	electroEntity  = "__edb_e__"
	electroVersion = "__edb_v__"
)

// electrodb parses a model, or a list of models.
func (m *mapped) electrodb(data []byte) error {
	var models []electroModel
	if trimmed := strings.TrimSpace(string(data)); strings.HasPrefix(trimmed, "[") {
		if err := json.Unmarshal(data, &models); err != nil {
			return fmt.Errorf("not a list of ElectroDB models: %w", err)
		}
	} else {
		var one electroModel
		if err := json.Unmarshal(data, &one); err != nil {
			return fmt.Errorf("not an ElectroDB model: %w", err)
		}
		models = []electroModel{one}
	}
	collections := map[string]*mappedCollection{}
	var names []string
	for i := range models {
		s := &models[i]
		if s.Model.Entity == "" || s.Model.Service == "" || len(s.Indexes) == 0 {
			return errors.New("not an ElectroDB model: it has no model with entity, version and service, or no indexes")
		}
		m.name = cmp.Or(m.name, pascal(s.Model.Service))
		e := &electro{mapped: m, model: s, collections: collections, names: &names, keys: map[string]electroTemplate{}}
		if err := e.read(); err != nil {
			return fmt.Errorf("entity %s: %w", s.Model.Entity, err)
		}
	}
	for _, name := range names {
		if c := collections[name]; len(c.of) > 1 { // a collection with one entity is a read of it
			m.collections = append(m.collections, *c)
		}
	}
	m.withoutClustered()
	return nil
}

// withoutClustered removes the reads of single entities from indexes in which their items are mixed with others: the
// library filters by type, and the collection returns all of them.
func (m *mapped) withoutClustered() {
	for _, t := range m.tables {
		for _, e := range t.entities {
			for i := range e.entries {
				x := &e.entries[i]
				x.mixed = x.clustered && slices.ContainsFunc(m.collections, func(c mappedCollection) bool {
					return c.via == x.index && slices.Contains(c.of, e.name)
				})
				if x.mixed {
					m.omit(e, "the query %s, which filters what others have in the clustered index %s; the collection has them all", x.pattern, x.index)
				}
			}
		}
	}
}

// electro is an ElectroDB entity being translated.
type electro struct {
	*mapped
	model       *electroModel
	table       *mappedTable
	entity      *mappedEntity
	collections map[string]*mappedCollection
	names       *[]string // names of collections, in order
	fields      map[string]*mappedField
	// keys are the templates of key attributes: indexes that share an attribute share its template.
	keys map[string]electroTemplate
}

// electroTemplate is a key: its template, its fields, its type.
type electroTemplate struct {
	text   string
	fields []string
	typ    string
}

func (r *electro) read() error {
	s := r.model
	r.table = r.mapped.table(cmp.Or(s.Table, "Table"))
	e := &mappedEntity{name: unique(&r.entities, cmp.Or(pascal(s.Model.Entity), "Entity")), kind: s.Model.Entity}
	r.entity, r.fields = e, map[string]*mappedField{}
	r.table.typeAttr = electroEntity
	for _, a := range s.Attributes {
		r.attribute(a.Name, &a.Value)
	}
	e.field("edbVersion", electroVersion, r.enum("Version"+cmp.Or(s.Model.Version, "1"), []string{cmp.Or(s.Model.Version, "1")}), false)
	primary := slices.IndexFunc(s.Indexes, func(x orderedMember[electroIndex]) bool { return x.Value.Index == "" })
	if primary < 0 {
		return errors.New("it has no primary index (one without a name in index)")
	}
	// The primary key comes first: a local index shares its partition key.
	said := r.primary(&s.Indexes[primary].Value)
	for i, x := range s.Indexes {
		switch {
		case i == primary:
		case said:
			r.index(x.Name, &x.Value)
		default:
			r.keep(&x.Value, "its primary key cannot be expressed")
		}
	}
	if !said {
		return nil
	}
	e.identifiers()
	r.table.entities = append(r.table.entities, e)
	return nil
}

// attribute adds a field for an attribute.
func (r *electro) attribute(name string, a *electroAttribute) {
	of := r.typeOf(r.entity.name+pascal(name), a)
	if of == "" {
		r.omit(r.entity, "%s, whose type is any", name)
		return
	}
	f := r.entity.field(name, cmp.Or(a.Field, name), of, !a.Required && !isGiven(a.Default))
	r.fields[name] = f
	var lost []string
	for _, part := range []struct {
		name string
		raw  json.RawMessage
	}{{"default", a.Default}, {"get", a.Get}, {"set", a.Set}, {"validate", a.Validate}, {"watch", a.Watch}} {
		if isGiven(part.raw) {
			lost = append(lost, part.name)
		}
	}
	if len(lost) > 0 {
		r.omit(r.entity, "%s of %s", strings.Join(lost, ", "), name)
	}
}

// typeOf is an attribute's type; "" if it has none.
func (r *electro) typeOf(name string, a *electroAttribute) string {
	var kind string
	if json.Unmarshal(a.Type, &kind) != nil {
		return r.enum(name, textList(a.Type))
	}
	switch kind {
	case "string":
		return "text"
	case "number":
		if a.Padding.Length > 0 {
			return "int"
		}
		return "decimal"
	case "boolean":
		return "bool"
	case "list":
		if a.Items == nil {
			return ""
		}
		if elem := r.typeOf(name+"Item", a.Items); elem != "" {
			return "list<" + elem + ">"
		}
		return ""
	case "set":
		return r.setOf(name, a)
	case "map":
		inner := &mappedEntity{name: name}
		for _, p := range a.Properties {
			of := r.typeOf(name+pascal(p.Name), &p.Value)
			if of == "" {
				r.omit(r.entity, "%s in %s, whose type is any", p.Name, name)
				continue
			}
			inner.field(p.Name, cmp.Or(p.Value.Field, p.Name), of, !p.Value.Required && !isGiven(p.Value.Default))
		}
		if len(inner.fields) == 0 {
			return ""
		}
		return r.structure(name, inner.fields)
	default:
		return ""
	}
}

// setOf is the type of a set: its items are the name of a type, or an attribute.
func (r *electro) setOf(name string, a *electroAttribute) string {
	if a.Items == nil {
		return ""
	}
	switch elem := r.typeOf(name+"Item", a.Items); elem {
	case "":
		return ""
	case "text", "decimal":
		return "set<" + elem + ">"
	default:
		return "set<text>" // a set of an enumeration
	}
}

// UnmarshalJSON parses an attribute, which may be only the name of its type.
func (a *electroAttribute) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '{' {
		a.Type = slices.Clone(data)
		return nil
	}
	type plain electroAttribute
	return json.Unmarshal(data, (*plain)(a))
}

// primary sets the entity's key; false if the design cannot express it.
func (r *electro) primary(x *electroIndex) bool {
	t, e := r.table, r.entity
	pk, sk, fault := r.templates(x)
	if fault != "" {
		r.omit(nil, "entity %s: %s in its primary key", e.name, fault)
		return false
	}
	key, sort := Key{x.PK.Field, pk.typ}, Key{}
	if x.SK != nil {
		sort = Key{x.SK.Field, sk.typ}
	}
	if t.pk.Name != "" && (t.pk != key || t.sk != sort) {
		r.omit(nil, "entity %s: its primary key is %s, %s, and another entity of the table has %s, %s", e.name, key.Name, sort.Name, t.pk.Name, t.sk.Name)
		return false
	}
	t.pk, t.sk = key, sort
	e.pk, e.sk, e.pkFields, e.skFields = pk.text, sk.text, pk.fields, sk.fields
	r.collect("", x, pk)
	return true
}

// index adds an entry in an index.
func (r *electro) index(name string, x *electroIndex) {
	t, e := r.table, r.entity
	entry := mappedEntry{index: x.Index, pattern: name, clustered: x.Type == "clustered"}
	index := Index{Name: x.Index}
	pk, fault := r.keysOf(x, &index, &entry)
	if fault != "" {
		r.omit(e, "index %s: %s", x.Index, fault)
		r.keep(x, fault)
		return
	}
	have := t.index(x.Index)
	if len(have.PK) == 0 || have.kept {
		index.Local = len(index.PK) == 1 && index.PK[0] == t.pk
		index.Projection, index.Attributes = have.Projection, have.Attributes
		have.Index, have.kept, have.note = index, false, ""
		if index.Local {
			have.note = "guess: local, because it has the table's partition key"
		}
	} else if !slices.Equal(have.PK, index.PK) || !slices.Equal(have.SK, index.SK) {
		r.omit(e, "index %s: its key differs from that of other entities in the table", x.Index)
		return
	}
	r.project(have, x)
	if have.Local {
		entry.pk = nil
	}
	if absent := e.optional(entry); len(absent) > 0 && x.Type != "composite" {
		r.omit(e, "items without %s in index %s: the library may write part of the key", strings.Join(absent, ", "), x.Index)
	}
	if isThere(x.Condition) {
		r.omit(e, "condition of index %s: items for which it does not hold are not in it", x.Index)
	}
	e.entries = append(e.entries, entry)
	r.collect(x.Index, x, pk)
}

// keep keeps an index without an entry if the design cannot express the entry, because the table has the index.
func (r *electro) keep(x *electroIndex, fault string) {
	have := r.table.index(x.Index)
	if len(have.PK) > 0 {
		return
	}
	have.PK = r.attributesOf(&x.PK, x.Type)
	if x.SK != nil {
		have.SK = r.attributesOf(x.SK, x.Type)
	}
	have.Local = len(have.PK) == 1 && have.PK[0] == r.table.pk && len(have.SK) == 1
	have.kept, have.note = true, fmt.Sprintf("no entry of %s can be expressed: %s", r.entity.name, fault)
	r.project(have, x)
}

// attributesOf are the key attributes of an index as far as the model states them; unknown ones are strings.
func (r *electro) attributesOf(k *electroKey, kind string) []Key {
	if kind != "composite" {
		if k.Cast == "number" {
			return []Key{{k.Field, "N"}}
		}
		return []Key{{k.Field, "S"}}
	}
	var out []Key
	for _, name := range k.attributes() {
		key := Key{name, "S"}
		if f := r.fields[name]; f != nil {
			key = Key{f.attr, keyTypeOf(f.typ)}
		} else if a, known := r.model.Attributes.get(name); known {
			key.Name = cmp.Or(a.Field, name)
		}
		out = append(out, key)
	}
	return out
}

// keysOf sets an index's keys and the templates of the entry; fault says why the design cannot express them.
func (r *electro) keysOf(x *electroIndex, index *Index, entry *mappedEntry) (pk electroTemplate, fault string) {
	if x.Type == "composite" {
		if index.PK, entry.pk, entry.pkFields, fault = r.untemplated(x.PK.attributes()); fault == "" {
			index.SK, entry.sk, entry.skFields, fault = r.untemplated(x.SK.attributes())
		}
		return electroTemplate{fields: entry.pkFields}, fault
	}
	pk, sk, fault := r.templates(x)
	index.PK, entry.pk, entry.pkFields = []Key{{x.PK.Field, pk.typ}}, []string{pk.text}, pk.fields
	if x.SK != nil {
		index.SK, entry.sk, entry.skFields = []Key{{x.SK.Field, sk.typ}}, []string{sk.text}, sk.fields
	}
	return pk, fault
}

// untemplated are attributes that are an index's key without a template, as in composite indexes.
func (r *electro) untemplated(attributes []string) (keys []Key, templates, fields []string, fault string) {
	for _, name := range attributes {
		f := r.fields[name]
		if f == nil {
			return nil, nil, nil, name + " is not a field"
		}
		keys = append(keys, Key{f.attr, keyTypeOf(f.typ)})
		templates, fields = append(templates, "{"+f.name+"}"), append(fields, f.name)
	}
	return keys, templates, fields, ""
}

func (r *electro) project(to *mappedIndex, x *electroIndex) {
	list := textList(x.Projection)
	switch {
	case len(list) == 0, strings.EqualFold(list[0], "all"):
	case strings.EqualFold(list[0], "keys_only"):
		to.Projection = "KEYS_ONLY"
	default:
		to.Projection = "INCLUDE"
		for _, name := range append(list, electroVersion) {
			attr := name
			if f := r.fields[name]; f != nil {
				attr = f.attr
			}
			if !slices.Contains(to.Attributes, attr) {
				to.Attributes = append(to.Attributes, attr)
			}
		}
	}
}

// collect records the collections of an index.
func (r *electro) collect(via string, x *electroIndex, pk electroTemplate) {
	for _, name := range textList(x.Collection) {
		id := r.model.Model.Service + "\x00" + name
		c := r.collections[id]
		if c == nil {
			c = &mappedCollection{name: cmp.Or(pascal(name), "Collection"), via: cmp.Or(via, "key"), by: pk.fields}
			r.collections[id] = c
			*r.names = append(*r.names, id)
		}
		if !slices.Contains(c.of, r.entity.name) {
			c.of = append(c.of, r.entity.name)
		}
	}
}

// attributes are the attributes from which a key is composed.
func (k *electroKey) attributes() []string {
	if k == nil {
		return nil
	}
	if k.Composite != nil {
		return k.Composite
	}
	var list []string
	_ = json.Unmarshal(k.Facets, &list) // the former name of composite
	return list
}

// templates are the keys that the library composes, $service#attribute_value and $entity_version#attribute_value, or the
// model's own templates; fault says why the design cannot express them.
func (r *electro) templates(x *electroIndex) (pk, sk electroTemplate, fault string) {
	model := r.model.Model
	version := cmp.Or(model.Version, "1")
	prefix, tail := "", "$"+model.Entity+"_"+version
	if list := textList(x.Collection); len(list) > 0 && list[0] != "" {
		prefix, tail = "$"+strings.Join(list, "#"), "#"+model.Entity+"_"+version
	}
	postfix := ""
	if x.Type == "clustered" {
		postfix = tail
	} else {
		prefix += tail
	}
	first := "$" + model.Service
	if x.SK == nil {
		first += prefix + postfix
	}
	if x.Scope != "" {
		first += "_" + x.Scope
	}
	if pk, fault = r.key(&x.PK, first, ""); fault != "" || x.SK == nil {
		return pk, sk, fault
	}
	sk, fault = r.key(x.SK, prefix, postfix)
	return pk, sk, fault
}

// key composes one key.
func (r *electro) key(k *electroKey, prefix, postfix string) (electroTemplate, string) {
	if known, is := r.keys[k.Field]; is {
		return known, ""
	}
	parts, own := electroParts(k)
	if list := k.attributes(); r.entity.stored(k.Field) != nil && len(list) == 1 && list[0] == k.Field {
		parts, own = []electroPart{{attribute: k.Field}}, true // the attribute itself is the key
	}
	numeric := k.Cast == "number"
	if own && k.Cast == "" && len(parts) == 1 && parts[0].label == "" {
		f := r.fields[parts[0].attribute]
		numeric = f != nil && keyTypeOf(f.typ) == "N"
	}
	out := electroTemplate{typ: "S"}
	if numeric {
		out.typ = "N"
		prefix, postfix, own = "", "", true
		if len(parts) > 0 {
			parts = []electroPart{{attribute: parts[0].attribute}}
		}
	}
	if own {
		prefix, postfix = "", ""
	}
	asIs := own && len(parts) == 1 && parts[0].label == "" && r.fields[parts[0].attribute] != nil && r.fields[parts[0].attribute].attr == k.Field
	text := func(s string) string {
		switch k.Casing {
		case "none":
		case "upper":
			s = strings.ToUpper(s)
		default:
			s = strings.ToLower(s)
		}
		return literalText(s)
	}
	out.text = text(prefix)
	for _, p := range parts {
		if own {
			out.text += text(p.label)
		} else {
			a, _ := r.model.Attributes.get(p.attribute)
			out.text += text("#" + cmp.Or(a.Label, p.label) + "_")
		}
		if p.attribute == "" {
			continue
		}
		f := r.fields[p.attribute]
		if f == nil {
			return out, fmt.Sprintf("%s is not a field", p.attribute)
		}
		funcs, fault := r.functions(p.attribute, f, k.Casing)
		if fault != "" && !asIs {
			return out, fault
		}
		if asIs || numeric {
			funcs = ""
		}
		out.text += "{" + f.name + funcs + "}"
		out.fields = append(out.fields, f.name)
	}
	out.text += text(postfix)
	r.keys[k.Field] = out
	return out, ""
}

// functions are what the library does to a value in a key: padding and case conversion.
func (r *electro) functions(name string, f *mappedField, casing string) (funcs, fault string) {
	a, _ := r.model.Attributes.get(name)
	if a.Padding.Length > 0 {
		if a.Padding.Char != "0" || f.typ != "int" {
			return "", fmt.Sprintf("%s is padded with %q", name, a.Padding.Char)
		}
		funcs = fmt.Sprintf("|pad(%d)", a.Padding.Length)
	}
	switch f.typ {
	case "int", "decimal", "bool":
		if f.typ == "bool" && casing == "upper" {
			return "", fmt.Sprintf("%s is in capital letters", name)
		}
		return funcs, ""
	}
	if strings.ContainsAny(f.typ, "<") {
		return "", fmt.Sprintf("%s is not a string", name)
	}
	switch casing {
	case "none":
		return funcs, ""
	case "upper":
		return "", fmt.Sprintf("%s is in capital letters", name)
	default:
		return funcs + "|lower", ""
	}
}

// electroPart is a label and the attribute after it.
type electroPart struct{ label, attribute string }

// electroParts are the parts of a key, and whether the model has its own template for it.
func electroParts(k *electroKey) (parts []electroPart, own bool) {
	template := k.Template
	if template == "" {
		_ = json.Unmarshal(k.Facets, &template)
	}
	if template == "" {
		for _, name := range k.attributes() {
			parts = append(parts, electroPart{label: name, attribute: name})
		}
		return parts, false
	}
	for template != "" {
		before, rest, found := strings.Cut(template, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			parts = append(parts, electroPart{label: template})
			break
		}
		parts = append(parts, electroPart{label: before, attribute: name})
		template = after
	}
	return parts, true
}

// keyTypeOf is the type of a key attribute that contains a plain field of a type.
func keyTypeOf(typ string) string {
	switch typ {
	case "int", "decimal", "money", "ttl":
		return "N"
	case "bytes":
		return "B"
	default:
		return "S"
	}
}
