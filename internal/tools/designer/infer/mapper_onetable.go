package infer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// The format of a OneTable schema. https://doc.onetable.io/api/table/schemas/

type oneSchema struct {
	Format, Version string
	Table           string // the table's name, which the schema itself lacks
	Indexes         ordered[oneIndex]
	Models          ordered[ordered[oneField]]
	Params          oneParams
}

type oneIndex struct {
	Hash, Sort, Type string
	Project          json.RawMessage
}

type oneParams struct {
	TypeField, CreatedField, UpdatedField string
	IsoDates                              bool
	Timestamps                            json.RawMessage // a flag, "create" or "update"
}

type oneField struct {
	Type                      string
	Map, Value                string
	Required, Unique, Crypt   bool
	TTL                       bool
	IsoDates                  *bool
	Enum, Default, Generate   json.RawMessage
	Scope                     string
	Items                     *oneField
	Schema                    ordered[oneField]
	Validate, Encode, Partial json.RawMessage
}

// UnmarshalJSON parses a field; a value that is not a template comes from a function of the application.
func (f *oneField) UnmarshalJSON(data []byte) error {
	type plain oneField
	var form struct {
		plain
		Value json.RawMessage
	}
	if err := json.Unmarshal(data, &form); err != nil {
		return err
	}
	*f = oneField(form.plain)
	if isThere(form.Value) && json.Unmarshal(form.Value, &f.Value) != nil {
		f.Value = oneFunction
	}
	f.Type = strings.ToLower(f.Type)
	return nil
}

// oneFunction represents a value computed by a function.
const oneFunction = "\x00"

// onetable parses a schema.
func (m *mapped) onetable(data []byte) error {
	var s oneSchema
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("not a OneTable schema: %w", err)
	}
	primary, is := s.Indexes.get("primary")
	if !is || primary.Hash == "" || len(s.Models) == 0 {
		return errors.New("not a OneTable schema: it has no primary index, or no models")
	}
	t := m.table(cmp.Or(s.Table, "Table"))
	t.typeAttr = cmp.Or(s.Params.TypeField, "_type")
	types := map[string]string{}
	for _, model := range s.Models {
		for _, f := range model.Value {
			if attr, _, _ := strings.Cut(cmp.Or(f.Value.Map, f.Name), "."); keyTypeOf(m.oneScalar(&s, &f.Value)) != "S" {
				types[attr] = keyTypeOf(m.oneScalar(&s, &f.Value))
			}
		}
	}
	key := func(name string) Key { return Key{name, cmp.Or(types[name], "S")} }
	t.pk = key(primary.Hash)
	if primary.Sort != "" {
		t.sk = key(primary.Sort)
	}
	for _, x := range s.Indexes {
		if x.Name == "primary" {
			continue
		}
		to := t.index(x.Name)
		hash := x.Value.Hash
		if to.Local = x.Value.Type == "local" || hash == ""; to.Local {
			hash = primary.Hash
		}
		to.PK = []Key{key(hash)}
		if x.Value.Sort != "" {
			to.SK = []Key{key(x.Value.Sort)}
		}
		switch list := textList(x.Value.Project); {
		case len(list) == 0, list[0] == "all":
		case list[0] == "keys":
			to.Projection = "KEYS_ONLY"
		default:
			to.Projection, to.Attributes = "INCLUDE", list
		}
	}
	unique := false
	for _, model := range s.Models {
		if strings.HasPrefix(model.Name, "_") {
			continue // one of the library's own
		}
		r := &one{mapped: m, schema: &s, table: t, fields: map[string]*mappedField{}, model: model.Value}
		unique = r.read(model.Name) || unique
	}
	if unique {
		m.markers(t)
	}
	return nil
}

// markers are the items with which the library enforces uniqueness. They contain only their key, so they are not
// markers in the design language, which lead to the item.
func (m *mapped) markers(t *mappedTable) {
	e := &mappedEntity{name: unique(&m.entities, "Unique"), kind: "_Unique"}
	m.omit(e, "which item a value belongs to: the library's items that keep values unique have only a key, _unique#MODEL#ATTRIBUTE#VALUE")
	f := e.field(t.pk.Name, t.pk.Name, "text", false)
	e.pk, e.pkFields = "{"+f.name+"}", []string{f.name}
	e.sk = "_unique#"
	t.entities = append(t.entities, e)
}

// one is a OneTable model being translated.
type one struct {
	*mapped
	schema *oneSchema
	table  *mappedTable
	model  ordered[oneField]
	entity *mappedEntity
	fields map[string]*mappedField
}

// oneScalar is the type of a scalar field; "" for structures, lists and sets.
func (m *mapped) oneScalar(s *oneSchema, f *oneField) string {
	iso := s.Params.IsoDates
	if f.IsoDates != nil && *f.IsoDates {
		iso = true
	}
	switch f.Type {
	case "string", "buffer", "arraybuffer", "binary":
		return "text"
	case "number":
		if f.TTL {
			return "ttl"
		}
		return "decimal"
	case "boolean":
		return "bool"
	case "date":
		switch {
		case f.TTL:
			return "ttl"
		case iso:
			return "time"
		default:
			return "int"
		}
	default:
		return ""
	}
}

// read adds an entity for a model, and reports whether it has unique fields.
func (r *one) read(name string) (uniques bool) {
	e := &mappedEntity{name: unique(&r.entities, cmp.Or(pascal(name), "Entity")), kind: name}
	r.entity = e
	keys := map[string]bool{r.table.pk.Name: true, r.table.sk.Name: true}
	for _, x := range r.table.indexes {
		for _, k := range slices.Concat(x.PK, x.SK) {
			keys[k.Name] = true
		}
	}
	for _, f := range r.model {
		attr := cmp.Or(f.Value.Map, f.Name)
		if f.Value.Value != "" && keys[attr] && f.Value.Value != oneFunction {
			continue // a key composed of fields
		}
		r.field(f.Name, attr, &f.Value)
		uniques = uniques || f.Value.Unique && !keys[attr]
	}
	r.timestamps()
	var fault string
	if e.pk, e.pkFields, fault = r.key(r.table.pk.Name); fault == "" && r.table.sk.Name != "" {
		e.sk, e.skFields, fault = r.key(r.table.sk.Name)
	}
	if fault != "" {
		r.omit(nil, "model %s: its primary key: %s", name, fault)
		return false
	}
	for _, x := range r.table.indexes {
		if fault := r.entry(x); fault != "" {
			r.omit(e, "index %s: %s", x.Name, fault)
		}
	}
	e.identifiers()
	r.table.entities = append(r.table.entities, e)
	return uniques
}

// field adds a field.
func (r *one) field(name, attr string, f *oneField) {
	e := r.entity
	of := r.typeOf(e.name+pascal(name), f)
	if of == "" {
		r.omit(e, "%s, whose type is any", name)
		return
	}
	if strings.Contains(attr, ".") {
		r.omit(e, "%s, which is packed into %s", name, attr)
		return
	}
	required := f.Required || isGiven(f.Default) || isThere(f.Generate) || f.Value != ""
	to := e.field(name, attr, of, !required)
	r.fields[name] = to
	if of == "ttl" {
		r.table.ttlAttr = attr
	}
	var lost []string
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"default", isGiven(f.Default)},
		{"validate", isThere(f.Validate)},
		{"encode", isThere(f.Encode)},
		{"crypt", f.Crypt},
		{"value", f.Value != ""},
		{"unique", f.Unique},
	} {
		if part.there {
			lost = append(lost, part.name)
		}
	}
	if len(lost) > 0 {
		r.omit(e, "%s of %s", strings.Join(lost, ", "), name)
	}
}

// typeOf is a field's type; "" if it has none.
func (r *one) typeOf(name string, f *oneField) string {
	if list := textList(f.Enum); len(list) > 0 && f.Type == "string" {
		return r.enum(name, list)
	}
	if of := r.oneScalar(r.schema, f); of != "" {
		if generated := textList(f.Generate); of == "text" && len(generated) == 1 {
			switch generated[0] {
			case "uuid", "ulid":
				return generated[0]
			}
		}
		return of
	}
	switch f.Type {
	case "set":
		if f.Items != nil && f.Items.Type == "number" {
			return "set<decimal>"
		}
		return "set<text>"
	case "array":
		if f.Items == nil {
			return ""
		}
		if elem := r.typeOf(name+"Item", f.Items); elem != "" {
			return "list<" + elem + ">"
		}
	case "object":
		inner := &mappedEntity{name: name}
		for _, p := range f.Schema {
			if of := r.typeOf(name+pascal(p.Name), &p.Value); of != "" {
				inner.field(p.Name, cmp.Or(p.Value.Map, p.Name), of, !p.Value.Required && !isGiven(p.Value.Default))
			} else {
				r.omit(r.entity, "%s in %s, whose type is any", p.Name, name)
			}
		}
		if len(inner.fields) > 0 {
			return r.structure(name, inner.fields)
		}
	}
	return ""
}

// timestamps adds the fields that the library maintains itself.
func (r *one) timestamps() {
	of := "int"
	if r.schema.Params.IsoDates {
		of = "time"
	}
	when := textList(r.schema.Params.Timestamps)
	all := string(r.schema.Params.Timestamps) == "true"
	for what, name := range map[string]string{
		"create": cmp.Or(r.schema.Params.CreatedField, "created"), "update": cmp.Or(r.schema.Params.UpdatedField, "updated"),
	} {
		if (all || len(when) == 1 && when[0] == what) && r.entity.stored(name) == nil {
			r.fields[name] = r.entity.field(name, name, of, false)
		}
	}
	slices.SortStableFunc(r.entity.fields, func(a, b *mappedField) int { // a map has no order
		return cmp.Compare(r.rank(a), r.rank(b))
	})
}

// rank orders fields: those of the model in its order, then the library's by name.
func (r *one) rank(f *mappedField) string {
	for i, of := range r.model {
		if r.fields[of.Name] == f {
			return fmt.Sprintf("%04d", i)
		}
	}
	return "~" + f.name
}

// entry adds the entity's entry in an index, if it has one.
func (r *one) entry(x *mappedIndex) (fault string) {
	out := mappedEntry{index: x.Name}
	hash, hashFields, fault := r.key(x.PK[0].Name)
	if fault != "" {
		if r.stored(x.PK[0].Name) {
			return fault
		}
		return "" // the model lacks the attribute, so its items are not in the index
	}
	out.pk, out.pkFields = []string{hash}, hashFields
	if len(x.SK) > 0 {
		sort, sortFields, fault := r.key(x.SK[0].Name)
		if fault != "" {
			if r.stored(x.SK[0].Name) {
				return fault
			}
			return ""
		}
		out.sk, out.skFields = []string{sort}, sortFields
	}
	if absent := r.entity.optional(out); len(absent) > 0 && len(hashFields)+len(out.skFields) > len(absent) && !x.Local {
		r.omit(r.entity, "items without %s in index %s: the library writes only one of the two key attributes", strings.Join(absent, ", "), x.Name)
	}
	if x.Local {
		out.pk = nil
	}
	r.entity.entries = append(r.entity.entries, out)
	return ""
}

// stored reports whether the model stores something in an attribute.
func (r *one) stored(attr string) bool {
	return slices.ContainsFunc(r.model, func(f orderedMember[oneField]) bool { return cmp.Or(f.Value.Map, f.Name) == attr })
}

// key is the template of a key attribute.
func (r *one) key(attr string) (text string, fields []string, fault string) {
	for _, f := range r.model {
		if cmp.Or(f.Value.Map, f.Name) == attr {
			if f.Value.Value == "" {
				if to := r.fields[f.Name]; to != nil {
					return "{" + to.name + "}", []string{to.name}, ""
				}
				return "", nil, fmt.Sprintf("%s is not imported", f.Name)
			}
			return r.template(f.Value.Value, 0)
		}
	}
	if f := r.entity.stored(attr); f != nil { // created and updated
		return "{" + f.name + "}", []string{f.name}, ""
	}
	return "", nil, fmt.Sprintf("it has no %s", attr)
}

// template converts a value with ${fields} to a template; values that refer to other values are expanded.
func (r *one) template(value string, depth int) (text string, fields []string, fault string) {
	if value == oneFunction || depth > 10 {
		return "", nil, "it has no template"
	}
	for value != "" {
		before, rest, found := strings.Cut(value, "${")
		text += literalText(before)
		if !found {
			break
		}
		variable, after, closed := strings.Cut(rest, "}")
		if !closed {
			return "", nil, fmt.Sprintf("%q has no end", rest)
		}
		name, padding, _ := strings.Cut(variable, ":")
		inner, isField := r.model.get(name)
		to := r.fields[name]
		switch {
		case isField && inner.Value != "":
			part, of, fault := r.template(inner.Value, depth+1)
			if fault != "" {
				return "", nil, fault
			}
			if text, fields = text+part, append(fields, of...); len(text) > design.MaxTextBytes {
				return "", nil, "it is too long"
			}
		case to == nil:
			return "", nil, fmt.Sprintf("%s is not an imported field", name)
		case strings.ContainsAny(to.typ, "<"):
			return "", nil, fmt.Sprintf("%s is not a string", name)
		default:
			funcs, fault := onePadding(to, padding)
			if fault != "" {
				return "", nil, fault
			}
			text, fields = text+"{"+to.name+funcs+"}", append(fields, to.name)
		}
		value = after
	}
	return text, fields, ""
}

// onePadding converts LENGTH:CHARACTER after a field's name.
func onePadding(f *mappedField, padding string) (funcs, fault string) {
	if padding == "" {
		return "", ""
	}
	n, char, _ := strings.Cut(padding, ":")
	if f.typ == "decimal" {
		f.typ, f.note = "int", "guess: because it is padded in a key"
	}
	if cmp.Or(char, "0") != "0" || f.typ != "int" {
		return "", fmt.Sprintf("%s is padded as %s", f.name, padding)
	}
	return "|pad(" + n + ")", ""
}
