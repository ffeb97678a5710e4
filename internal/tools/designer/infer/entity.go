package infer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// field is a field of an entity.
type field struct {
	name, path string
	typ        string // in the design language
	optional   bool
	note       string
}

// describe finds the index entries and the fields of an entity whose keys are known.
func (t *tableDraft) describe(e *entity) {
	v := &virtuals{table: t, entity: e, data: t.data(e.main)}
	v.settle(e.main.pk, e.main.rows)
	v.settle(e.main.sk, e.main.rows)
	e.entries = t.entriesOf(e.main)
	v.settleAll(e.entries)
	for _, c := range e.copies {
		v.settle(c.shape.pk, c.shape.rows)
		v.settle(c.shape.sk, c.shape.rows)
		c.entries = t.entriesOf(c.shape)
		v.settleAll(c.entries)
	}
	t.fieldsOf(e, v)
	for _, list := range append([][]*entry{e.entries}, copyEntries(e)...) {
		for _, x := range list {
			t.conditionOf(e, x)
		}
	}
}

func copyEntries(e *entity) [][]*entry {
	var out [][]*entry
	for _, c := range e.copies {
		out = append(out, c.entries)
	}
	return out
}

// virtuals names the values in keys that no field of the items has.
type virtuals struct {
	table  *tableDraft
	entity *entity
	data   []string
	fields []virtual
}

// virtual is one such value.
type virtual struct {
	label, path string
	texts       map[*row]string
	values      []types.AttributeValue
}

func (v *virtuals) settleAll(list []*entry) {
	for _, x := range list {
		for _, t := range slices.Concat(x.pk, x.sk) {
			v.settle(t, x.rows)
		}
	}
}

// settle makes fields of a template's virtual parts.
func (v *virtuals) settle(t *template, rows []*row) {
	if t == nil {
		return
	}
	for i := range t.parts {
		p := &t.parts[i]
		if len(p.funcs) > 0 && !takes(p.funcs, v.table.typeAt(v.entity.main, p.path)) {
			*p = part{virtual: true, label: p.label, texts: p.texts} // the function does not accept some values
		}
		if p.virtual {
			p.path = v.pathOf(p, rows)
			p.virtual = false
			t.notes = append(t.notes, "guess: "+v.table.fieldName(p.path)+" is only in the key; items have no such attribute")
		}
	}
}

// typeAt is the type of a field of a shape's items, without declaring enumerations and structures.
func (t *tableDraft) typeAt(s *shape, path string) string {
	var values []types.AttributeValue
	for _, r := range s.rows {
		if v := at(r.item, path); v != nil {
			values = append(values, v)
		}
	}
	apart := &draft{types: map[string]string{}} // nothing is declared yet
	out, _ := apart.typeOf(values, typing{ttl: path == t.TTLAttr})
	return out
}

// pathOf is the path where the field of a virtual part would be stored.
func (v *virtuals) pathOf(p *part, rows []*row) string {
	texts := map[*row]string{}
	var values []types.AttributeValue
	for i, r := range rows {
		texts[r] = p.texts[i]
		values = append(values, &types.AttributeValueMemberS{Value: p.texts[i]})
	}
	for _, known := range v.fields {
		if known.label == p.label && agree(known.texts, texts) {
			return known.path
		}
	}
	name := virtualName(p.label, p.texts)
	path := v.attributeOf(name)
	for n := 1; v.taken(path); n++ {
		path = v.attributeOf(fmt.Sprintf("%sInKey%d", name, n))
	}
	v.fields = append(v.fields, virtual{p.label, path, texts, values})
	return path
}

// taken reports whether an attribute is in use.
func (v *virtuals) taken(name string) bool {
	t := v.table
	return slices.Contains(v.data, name) || name == t.PK.Name || name == t.SK.Name || name == t.typeAttr || name == t.TTLAttr || t.inIndexKey(name) ||
		slices.ContainsFunc(v.fields, func(k virtual) bool { return k.path == name })
}

// attributeOf is the attribute for a field by the table's naming convention.
func (v *virtuals) attributeOf(name string) string {
	if v.table.snake {
		return snake(name)
	}
	return name
}

func agree(a, b map[*row]string) bool {
	for r, text := range a {
		if other, both := b[r]; both && other != text {
			return false
		}
	}
	return true
}

// virtualName derives a name for a value from the literal before it.
func virtualName(label string, texts []string) string {
	const most = 100 // an attribute's name has at most 255 bytes
	base := camel(label)
	base = base[:min(len(base), most)]
	isTime := !slices.ContainsFunc(texts, func(s string) bool { return typed().FindString(s) != s || !strings.Contains(s, "T") })
	switch {
	case base == "" && isTime:
		return "at"
	case base == "":
		return "id"
	case isTime:
		return base + "At"
	case strings.HasSuffix(base, "Id"), strings.HasSuffix(base, "status"), strings.HasSuffix(base, "type"):
		return base
	default:
		return base + "Id"
	}
}

// fieldsOf lists an entity's fields: those of its key first, then the others by name.
func (t *tableDraft) fieldsOf(e *entity, v *virtuals) {
	inKeys := map[string]bool{}
	var order []string
	add := func(path string) {
		if !slices.Contains(order, path) {
			order = append(order, path)
		}
	}
	collect := func(list ...*template) {
		for _, one := range list {
			for _, p := range one.fields() {
				inKeys[p] = inKeys[p] || len(one.funcsOf(p)) == 0
				add(p)
			}
		}
	}
	collect(e.main.pk, e.main.sk)
	for _, c := range e.copies {
		collect(c.shape.pk, c.shape.sk)
	}
	for _, m := range e.markers {
		collect(m.pk, m.sk)
	}
	for _, x := range append(slices.Clone(e.entries), slices.Concat(copyEntries(e)...)...) {
		collect(slices.Concat(x.pk, x.sk)...)
	}
	for _, name := range sorted(attributes(e.main.rows)) {
		isKey := name == t.PK.Name || name == t.SK.Name
		if !storable(name) {
			e.notes = append(e.notes, "omitted: the attribute "+clean(name)+", whose name a design cannot contain")
			continue
		}
		if !isKey && name != t.typeAttr && !slices.Contains(order, name) && !e.isComposedKey(name) {
			for _, path := range t.spread(e, name, order) {
				add(path)
			}
		}
	}
	for _, path := range order {
		e.fields = append(e.fields, t.fieldOf(e, path, inKeys[path], v))
	}
}

// storable reports whether the language can express that a field is stored in an attribute with a name.
func storable(name string) bool {
	const most = 255
	return name != "" && len(name) <= most && !strings.ContainsAny(name, "[]") && utf8.ValidString(name)
}

// isComposedKey reports whether an attribute is an index key composed of fields.
func (e *entity) isComposedKey(name string) bool {
	for _, x := range append(slices.Clone(e.entries), slices.Concat(copyEntries(e)...)...) {
		for _, one := range slices.Concat(x.pk, x.sk) {
			if one.attribute == name && !one.asIs {
				return true
			}
		}
	}
	return false
}

// spread are the paths of the fields in an attribute: the attribute itself or, if parts of it are in keys, everything
// in it.
func (t *tableDraft) spread(e *entity, name string, used []string) []string {
	top, _, _ := strings.Cut(name, step)
	if strings.Contains(top, ".") || !slices.ContainsFunc(used, func(path string) bool { return strings.HasPrefix(path, name+step) }) {
		return []string{name}
	}
	members := map[string]bool{}
	for _, r := range e.main.rows {
		if m, ok := at(r.item, name).(*types.AttributeValueMemberM); ok {
			for member := range m.Value {
				if storable(member) && !strings.Contains(member, ".") {
					members[name+step+member] = true
				}
			}
		}
	}
	var out []string
	for _, path := range sorted(members) {
		if !slices.Contains(used, path) {
			out = append(out, t.spread(e, path, used)...)
		}
	}
	return out
}

// fieldOf describes the field at a path.
func (t *tableDraft) fieldOf(e *entity, path string, inKey bool, v *virtuals) *field {
	f := &field{name: t.fieldName(path), path: path}
	as := typing{name: f.name, owner: e.name, inKey: inKey, found: slices.Contains(e.keyPaths(), path), ttl: path == t.TTLAttr}
	if i := slices.IndexFunc(v.fields, func(k virtual) bool { return k.path == path }); i >= 0 && len(e.values(path)) == 0 {
		f.typ, _ = t.draft.typeOf(v.fields[i].values, as)
		f.note = "guess: in the key only"
		return f
	}
	values := e.values(path)
	if k := t.keyAt(e, path); k.Type != "" { // an attribute of another type cannot be in the key
		values = slices.DeleteFunc(values, func(v types.AttributeValue) bool { return storedAs(v) != k.Type })
	}
	nulls := 0
	for _, r := range e.main.rows {
		if there := r.item[path]; there != nil && isNull(there) {
			nulls++
		}
	}
	var why string
	f.typ, why = t.draft.typeOf(values, as)
	f.optional = len(values) < len(e.main.rows)
	f.note = t.share(len(values), len(e.main.rows))
	if nulls > 0 {
		f.note += fmt.Sprintf(", and NULL in %d", nulls)
	}
	if why != "" {
		f.note += "; " + why
	}
	return f
}

// keyAt is the key attribute that a field is stored in; without a type if there is none.
func (t *tableDraft) keyAt(e *entity, path string) Key {
	keys := []Key{t.PK, t.SK}
	for _, x := range e.entries {
		keys = append(append(keys, x.index.PK...), x.index.SK...)
	}
	for _, k := range keys {
		if k.Name == path {
			return k
		}
	}
	return Key{}
}

// values are the values at a path, in an entity's own items.
func (e *entity) values(path string) []types.AttributeValue {
	var out []types.AttributeValue
	for _, r := range e.main.rows {
		if v := at(r.item, path); v != nil {
			out = append(out, v)
		}
	}
	return out
}

// funcsOf are the functions applied to a field in a template.
func (p *template) funcsOf(path string) string {
	for _, part := range p.parts {
		if part.path == path {
			return funcsText(part.funcs)
		}
	}
	return ""
}

// templateText is a template in the design language.
func (t *tableDraft) templateText(p *template) string {
	var out strings.Builder
	braces := strings.NewReplacer("{", "{{", "}", "}}")
	for _, part := range p.parts {
		if part.isLiteral() {
			out.WriteString(braces.Replace(part.literal))
			continue
		}
		out.WriteString("{" + t.fieldName(part.path) + funcsText(part.funcs) + "}")
	}
	return out.String()
}

// noteOf joins remarks.
func noteOf(first string, more ...string) string {
	return strings.Join(slices.DeleteFunc(append([]string{first}, more...), func(s string) bool { return s == "" }), "; ")
}

// notes are the remarks on templates, without duplicates.
func notes(list ...*template) string {
	var out []string
	for _, t := range list {
		if t == nil {
			continue
		}
		for _, n := range t.notes {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	return strings.Join(out, "; ")
}

// byPath is the field at a path, or nil if there is none.
func (e *entity) byPath(path string) *field {
	i := slices.IndexFunc(e.fields, func(f *field) bool { return f.path == path })
	if i < 0 {
		return nil
	}
	return e.fields[i]
}

// keyPaths are the fields of an entity's key, partition key first.
func (e *entity) keyPaths() []string {
	out := slices.Clone(e.main.pk.fields())
	for _, p := range e.main.sk.fields() {
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
