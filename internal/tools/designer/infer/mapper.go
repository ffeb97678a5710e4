package infer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/plural"
)

// Mapper is a JavaScript library that stores objects in single tables and has models of them.
type Mapper string

// The supported libraries.
const (
	ElectroDB Mapper = "electrodb"
	OneTable  Mapper = "onetable"
	Toolbox   Mapper = "toolbox"
)

// Translation is a model as a design.
type Translation struct {
	// Text is the design in canonical form, with a comment for each element of Left.
	Text []byte
	// Left is what the model has and the design cannot express: "Task.status: its default".
	Left []string
}

// Translate makes a design from a library's model, given as JSON. The name is the design's; "" uses the model's own.
//
// The model's facts are not guesses, so there are no comments about items; only what the library does not state is
// guessed, with a comment that says "guess".
func Translate(of Mapper, name string, data []byte) (Translation, error) {
	m := &mapped{}
	var err error
	switch of {
	case ElectroDB:
		err = m.electrodb(data)
	case OneTable:
		err = m.onetable(data)
	case Toolbox:
		err = m.toolbox(data)
	default:
		err = fmt.Errorf("models of %q are not supported", of)
	}
	if err == nil && !slices.ContainsFunc(m.tables, func(t *mappedTable) bool { return len(t.entities) > 0 }) {
		err = fmt.Errorf("the model has no entity that a design can express: %s", cmp.Or(strings.Join(m.left, "; "), "it has none"))
	}
	if err != nil {
		return Translation{}, err
	}
	m.name = cmp.Or(name, m.name, pascal(m.tables[0].name), "Imported")
	written := []byte(m.text(of))
	if len(written) > design.MaxTextBytes {
		return Translation{}, fmt.Errorf("the design has %d bytes, more than the maximum of %d", len(written), design.MaxTextBytes)
	}
	text, err := design.Format("draft", written)
	if err == nil {
		_, err = design.Parse("draft", text)
	}
	if err != nil {
		return Translation{}, fmt.Errorf("the model does not convert to a valid design: %w", err)
	}
	return Translation{Text: text, Left: m.left}, nil
}

// mapped is a model in terms of the design language.
type mapped struct {
	name        string
	tables      []*mappedTable
	collections []mappedCollection
	// types are the texts of enumerations and structures by name, in the order of typeNames.
	types     map[string]string
	typeNames []string
	entities  []string // names in use
	patterns  []string
	left      []string
}

type mappedTable struct {
	name, typeAttr, ttlAttr string
	pk, sk                  Key
	indexes                 []*mappedIndex
	entities                []*mappedEntity
}

type mappedIndex struct {
	Index
	note string
	// kept means that its content is not known yet.
	kept bool
}

type mappedEntity struct {
	name, kind string
	fields     []*mappedField
	pk, sk     string // templates
	// pkFields and skFields are the fields in pk, and in sk.
	pkFields, skFields []string
	entries            []mappedEntry
	left               []string
}

type mappedField struct {
	name, attr string
	typ        string
	optional   bool
	note       string
}

type mappedEntry struct {
	index              string
	pk, sk             []string
	pkFields, skFields []string
	pattern            string // what the library calls it; "" for nothing
	// clustered says whether items of several entities may be mixed in a partition, mixed that they are.
	clustered, mixed bool
}

type mappedCollection struct {
	name, via string
	of, by    []string
}

// omit records what is not imported, of the whole model or of an entity.
func (m *mapped) omit(e *mappedEntity, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if e == nil {
		m.left = append(m.left, text)
		return
	}
	e.left = append(e.left, text)
	m.left = append(m.left, e.name+": "+text)
}

// table returns the table with a name, adding it if needed.
func (m *mapped) table(name string) *mappedTable {
	for _, t := range m.tables {
		if t.name == name {
			return t
		}
	}
	t := &mappedTable{name: name}
	m.tables = append(m.tables, t)
	return t
}

// index returns the table's index with a name, adding it if needed.
func (t *mappedTable) index(name string) *mappedIndex {
	for _, x := range t.indexes {
		if x.Name == name {
			return x
		}
	}
	x := &mappedIndex{Index: Index{Name: name, Projection: "ALL"}}
	t.indexes = append(t.indexes, x)
	return x
}

// field adds a field that is stored in an attribute of the same or another name.
func (e *mappedEntity) field(name, attr, typ string, optional bool) *mappedField {
	if !isName(name) {
		name = cmp.Or(camel(name), "field")
	}
	if !isName(name) {
		name += "Field"
	}
	for base, n := name, 2; e.named(name) != nil; n++ {
		name = fmt.Sprintf("%s%d", base, n)
	}
	f := &mappedField{name: name, attr: attr, typ: typ, optional: optional}
	e.fields = append(e.fields, f)
	return f
}

func (e *mappedEntity) named(name string) *mappedField {
	i := slices.IndexFunc(e.fields, func(f *mappedField) bool { return strings.EqualFold(letters(f.name), letters(name)) })
	if i < 0 {
		return nil
	}
	return e.fields[i]
}

func (e *mappedEntity) stored(attr string) *mappedField {
	i := slices.IndexFunc(e.fields, func(f *mappedField) bool { return f.attr == attr })
	if i < 0 {
		return nil
	}
	return e.fields[i]
}

// optional are the fields of an entry's keys that an item may lack.
func (e *mappedEntity) optional(x mappedEntry) []string {
	var out []string
	for _, name := range slices.Concat(x.pkFields, x.skFields) {
		if f := e.named(name); f != nil && f.optional && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// enum is the name of an enumeration with these values; text if there are none.
func (m *mapped) enum(name string, values []string) string {
	var list []string
	for _, v := range values {
		if v == "" || slices.Contains(list, quote(v)) {
			return "text"
		}
		list = append(list, quote(v))
	}
	if len(list) == 0 {
		return "text"
	}
	return m.declare(name, "{ enum: ["+strings.Join(list, ", ")+"] }")
}

// structure is the name of a structure with these fields.
func (m *mapped) structure(name string, fields []*mappedField) string {
	var list []string
	for _, f := range fields {
		list = append(list, f.name+": "+f.text())
	}
	return m.declare(name, "{ fields: { "+strings.Join(list, ", ")+" } }")
}

// declare declares a type, or finds the one with that text.
func (m *mapped) declare(name, text string) string {
	name = cmp.Or(pascal(name), "Type")
	for _, known := range m.typeNames {
		if m.types[known] == text {
			return known
		}
	}
	if m.types == nil {
		m.types = map[string]string{}
	}
	name = unique(&m.typeNames, name)
	m.types[name] = text
	return name
}

// text is a field in the design's notation.
func (f *mappedField) text() string {
	of := f.typ
	if f.optional {
		of += "?"
	}
	if f.attr != f.name {
		return fmt.Sprintf("{ type: %s, attr: %s }", quote(of), quote(f.attr))
	}
	return quote(of)
}

// literalText is a text in template notation.
func literalText(s string) string {
	return strings.NewReplacer("{", "{{", "}", "}}").Replace(s)
}

// key is called for the fields of keys. A text field named like an ID becomes an ID, so that it can be told apart from
// adjacent literals.
func (f *mappedField) key() {
	w := words(f.name)
	if f.typ == "text" && len(w) > 0 && slices.Contains([]string{"id", "uuid", "ulid", "sku", "slug", "code"}, w[len(w)-1]) {
		f.typ, f.note = "id", "guess: by its name; use text if it may contain spaces or #"
	}
}

// identifiers turns key fields into IDs if their names suggest it.
func (e *mappedEntity) identifiers() {
	lists := [][]string{e.pkFields, e.skFields}
	for _, x := range e.entries {
		lists = append(lists, x.pkFields, x.skFields)
	}
	for _, name := range slices.Concat(lists...) {
		if f := e.named(name); f != nil {
			f.key()
		}
	}
	for _, name := range slices.Concat(e.pkFields, e.skFields) {
		if f := e.named(name); f != nil {
			f.optional = false
		}
	}
}

// text is the whole design, before it is formatted.
func (m *mapped) text(of Mapper) string {
	p := &page{}
	p.comment("Imported from a model of %s.", map[Mapper]string{ElectroDB: "ElectroDB", OneTable: "OneTable", Toolbox: "dynamodb-toolbox"}[of])
	p.comment("The reads are those that its indexes can serve: keep the ones that the application uses, and declare their rate.")
	for _, text := range m.left {
		if !slices.ContainsFunc(m.tables, func(t *mappedTable) bool {
			return slices.ContainsFunc(t.entities, func(e *mappedEntity) bool { return strings.HasPrefix(text, e.name+": ") })
		}) {
			p.comment("not imported: %s", text)
		}
	}
	p.out.WriteString("\n")
	p.line("", "design: 1")
	p.line("", "name: %s", quote(m.name))
	p.line("", "tables:")
	p.within(func() {
		for _, t := range m.tables {
			t.write(p)
		}
	})
	if len(m.typeNames) > 0 {
		p.line("", "types:")
		p.within(func() {
			for _, name := range m.typeNames {
				p.line("", "%s: %s", name, m.types[name])
			}
		})
	}
	p.line("", "entities:")
	p.within(func() {
		for _, t := range m.tables {
			for _, e := range t.entities {
				m.entity(p, t, e)
			}
		}
	})
	if len(m.collections) > 0 {
		p.line("", "collections:")
		p.within(func() {
			for _, c := range m.collections {
				via := ""
				if c.via != "" {
					via = ", via: " + quote(c.via)
				}
				p.line("", "%s: { of: [%s]%s, by: [%s], page: 50 }", unique(&m.patterns, c.name), strings.Join(c.of, ", "), via, strings.Join(c.by, ", "))
			}
		})
	}
	p.line("", "reads:")
	p.within(func() {
		for _, t := range m.tables {
			for _, e := range t.entities {
				m.reads(p, e)
			}
		}
	})
	return p.out.String()
}

func (t *mappedTable) write(p *page) {
	p.line("", "%s:", quote(t.name))
	p.within(func() {
		key := "pk: " + quote(keyAttribute(t.pk))
		if t.sk.Name != "" {
			key += ", sk: " + quote(keyAttribute(t.sk))
		}
		p.line("", "key: { %s }", key)
		p.line("", "type_attr: %s", quote(cmp.Or(t.typeAttr, "none")))
		if t.ttlAttr != "" {
			p.line("", "ttl_attr: %s", quote(t.ttlAttr))
		}
		if len(t.indexes) == 0 {
			return
		}
		p.line("", "indexes:")
		p.within(func() {
			for _, x := range t.indexes {
				var parts []string
				if x.Local {
					parts = append(parts, "local: true")
				} else {
					parts = append(parts, "pk: "+keyList(x.PK))
				}
				if len(x.SK) > 0 {
					parts = append(parts, "sk: "+keyList(x.SK))
				}
				switch x.Projection {
				case "KEYS_ONLY":
					parts = append(parts, "project: keys")
				case "INCLUDE":
					parts = append(parts, "project: ["+strings.Join(t.projected(x), ", ")+"]")
				default:
				}
				p.line(x.note, "%s: { %s }", quote(x.Name), strings.Join(parts, ", "))
			}
		})
	})
}

// projected are the fields stored in the attributes that an index projects.
func (t *mappedTable) projected(x *mappedIndex) []string {
	var out []string
	for _, attr := range x.Attributes {
		for _, e := range t.entities {
			if f := e.stored(attr); f != nil && !slices.Contains(out, f.name) {
				out = append(out, f.name)
			}
		}
	}
	return out
}

func keyList(keys []Key) string {
	var out []string
	for _, k := range keys {
		out = append(out, keyAttribute(k))
	}
	return templateList(out)
}

// templateList is one template, or a list.
func templateList(list []string) string {
	var out []string
	for _, s := range list {
		out = append(out, quote(s))
	}
	if len(out) == 1 {
		return out[0]
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func (m *mapped) entity(p *page, t *mappedTable, e *mappedEntity) {
	for _, text := range e.left {
		p.comment("not imported: %s", text)
	}
	p.line("", "%s:", e.name)
	p.within(func() {
		if len(m.tables) > 1 {
			p.line("", "table: %s", quote(t.name))
		}
		if t.typeAttr != "" {
			p.line("", "type: %s", quote(e.kind))
		}
		key := "pk: " + quote(e.pk)
		if t.sk.Name != "" {
			key += ", sk: " + quote(e.sk)
		}
		p.line("", "key: { %s }", key)
		if len(e.entries) > 0 {
			p.line("", "index:")
			p.within(func() {
				for _, x := range e.entries {
					var parts []string
					if len(x.pk) > 0 {
						parts = append(parts, "pk: "+templateList(x.pk))
					}
					if len(x.sk) > 0 {
						parts = append(parts, "sk: "+templateList(x.sk))
					}
					p.line("", "%s: { %s }", quote(x.index), strings.Join(parts, ", "))
				}
			})
		}
		p.line("", "fields:")
		p.within(func() {
			for _, f := range e.fields {
				p.line(f.note, "%s: %s", f.name, f.text())
			}
		})
		for _, f := range e.fields {
			if f.typ == "ttl" && f.attr == t.ttlAttr {
				p.line("", "ttl: { attr: %s }", f.name)
			}
		}
	})
}

// reads are the reads that an entity's places can serve.
func (m *mapped) reads(p *page, e *mappedEntity) {
	distinct := func(lists ...[]string) []string {
		var out []string
		for _, name := range slices.Concat(lists...) {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
		return out
	}
	line := func(name, via string, one bool, by []string) {
		text := "many: " + e.name
		if one {
			text = "one: " + e.name
		}
		if via != "" {
			text += ", via: " + quote(via)
		}
		if len(by) > 0 {
			text += ", by: [" + strings.Join(by, ", ") + "]"
		}
		if !one {
			text += ", page: 50"
		}
		p.line("", "%s: { %s }", unique(&m.patterns, name), text)
	}
	byName := func(by []string) string {
		var list []string
		for _, name := range by {
			list = append(list, pascal(name))
		}
		if len(list) == 0 {
			return ""
		}
		return "By" + strings.Join(list, "And")
	}
	whole := distinct(e.pkFields, e.skFields)
	line(e.name+byName(whole), "", true, whole)
	if pk := distinct(e.pkFields); len(pk) < len(whole) {
		line(plural.Noun(e.name)+byName(pk), "key", false, pk)
	}
	for _, x := range e.entries {
		if x.mixed {
			continue
		}
		by := distinct(x.pkFields)
		name := cmp.Or(byName(by), "In"+pascal(x.index))
		if x.pk == nil { // a local index has the partition key of the table
			by = distinct(e.pkFields)
			name = byName(by) + "In" + pascal(x.index)
		}
		if x.pattern != "" {
			name = pascal(x.pattern)
			if !strings.HasPrefix(name, "By") && !strings.HasPrefix(name, "In") {
				name = "By" + name
			}
		}
		line(plural.Noun(e.name)+name, x.index, false, by)
	}
}

// ordered is a JSON object whose members keep the order of the text.
type ordered[T any] []orderedMember[T]

type orderedMember[T any] struct {
	Name  string
	Value T
}

// UnmarshalJSON reads an object.
func (o *ordered[T]) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token == nil {
		return nil
	}
	if token != json.Delim('{') {
		return fmt.Errorf("found %v instead of an object", token)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		m := orderedMember[T]{Name: fmt.Sprint(name)}
		if err := d.Decode(&m.Value); err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		*o = append(*o, m)
	}
	return nil
}

func (o ordered[T]) get(name string) (T, bool) {
	for _, m := range o {
		if m.Name == name {
			return m.Value, true
		}
	}
	var none T
	return none, false
}

// isThere reports whether a member of a model is true or a function; Load writes true for functions.
func isThere(raw json.RawMessage) bool { return isGiven(raw) && string(raw) != "false" }

// isGiven reports whether a model has a member, even if it is false.
func isGiven(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// textList parses a list of strings, or a single one; numbers become strings.
func textList(raw json.RawMessage) []string {
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		var one any
		if json.Unmarshal(raw, &one) != nil || one == nil {
			return nil
		}
		list = []any{one}
	}
	var out []string
	for _, v := range list {
		switch v := v.(type) {
		case string:
			out = append(out, v)
		case float64:
			out = append(out, strconv.FormatFloat(v, 'f', -1, 64))
		default:
			return nil
		}
	}
	return out
}
