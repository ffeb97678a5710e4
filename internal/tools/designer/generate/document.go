package generate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

// The document of a design contains its descriptors as JSON, for runtimes in languages other than Go. Tables, entities,
// structures, patterns and errors are listed by name, and refer to each other by name. Empty values are omitted, and
// enumerations are words.
//

// enumerations are the words of enumerations, in the order of their values.
var enumerations = map[string]string{ //nolint:gochecknoglobals // a table
	"Action": "create put update upsert delete check", "PlaceKind": "key copy entry marker", "Comparison": "equal beginsWith between within",
	"TermKind": "constant input line field now newID sum count",
}

// member is a member of an object; an object keeps the order in which its members were added.
type (
	entry  struct{ name, text string }
	object []entry
)

func (o *object) add(name, text string) { *o = append(*o, entry{name, text}) }

// documentWidth is the maximum length of a line in a document.
const documentWidth = 120

// text is the object on one line, or on several if it is too long.
func (o *object) text() string {
	parts := make([]string, len(*o))
	for i, m := range *o {
		parts[i] = quoted(m.name) + ": " + m.text
	}
	return bracketed("{", "}", parts)
}

// one is an object with one member.
func one(name, text string) string { return bracketed("{", "}", []string{quoted(name) + ": " + text}) }

func bracketed(begin, end string, parts []string) string {
	if len(parts) == 0 {
		return begin + end
	}
	line := strings.Join(parts, ", ")
	if len(line) <= documentWidth && !strings.Contains(line, "\n") {
		if begin == "{" {
			line = " " + line + " "
		}
		return begin + line + end
	}
	return begin + "\n  " + strings.ReplaceAll(strings.Join(parts, ",\n"), "\n", "\n  ") + "\n" + end
}

// quoted is a JSON string, which is also a valid literal in most languages.
func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always encodes
	return strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`).Replace(strings.TrimSuffix(out.String(), "\n"))
}

// documenter writes descriptors.
type documenter struct {
	names literals // of the referenced descriptors
	model *model
}

// document is the whole document.
func (m *model) document() string {
	d := &documenter{model: m, names: literals{
		entities: map[*table.Entity]string{}, tables: map[*table.Table]string{}, fields: map[*[]table.Field]string{}, errors: map[error]string{},
	}}
	for _, t := range m.tables {
		d.names.tables[t.run] = t.Name
	}
	for _, e := range m.entities {
		d.names.entities[e.run] = e.Name
	}
	for _, s := range m.structs {
		d.names.fields[s.run] = s.Name
	}
	for _, known := range lower.Known {
		d.names.errors[known.Err] = "Err" + known.Name
	}
	for _, e := range m.errors {
		d.names.errors[e.Err] = e.Name
	}
	var out object
	out.add("design", quoted(m.design.Name))
	section := func(name string, o object) {
		if len(o) > 0 {
			out.add(name, o.text())
		}
	}
	var tables, structs, entities, reads, collections, writes, failures object
	for _, t := range m.tables {
		tables.add(t.Name, d.descriptor(*t.run))
	}
	for _, s := range m.structs {
		if s.run != nil {
			structs.add(s.Name, d.descriptor(*s.run))
		}
	}
	for _, e := range m.entities {
		entities.add(e.Name, d.descriptor(*e.run))
	}
	for _, r := range m.reads {
		reads.add(r.Design.Name, d.descriptor(*r.Run, d.given(r.inputs)))
	}
	for _, c := range m.collections {
		var names []string
		for _, x := range c.members {
			names = append(names, quoted(lowerCamel(x.field)))
		}
		collections.add(c.Design.Name, d.descriptor(*c.Run, d.given(c.inputs), entry{"results", bracketed("[", "]", names)}))
	}
	for _, w := range m.writes {
		writes.add(w.Design.Name, d.descriptor(*w.Run, returned(w), replay(w)))
	}
	for _, e := range m.errors {
		o := object{{"message", quoted(e.Message)}}
		if e.Wraps != "" {
			o.add("wraps", quoted(e.Wraps))
		}
		failures.add(e.Name, o.text())
	}
	section("tables", tables)
	section("structs", structs)
	section("entities", entities)
	section("reads", reads)
	section("collections", collections)
	section("writes", writes)
	section("errors", failures)
	if p := m.program.Person; p != nil {
		out.add("person", d.descriptor(*p))
	}
	return out.text()
}

// given are the inputs of a read or collection with their types, which are not in its descriptor.
func (d *documenter) given(list []member) entry {
	var parts []string
	for _, x := range list {
		param := table.Param{Name: x.Name, Type: d.typeOf(x.Type), Optional: x.Optional || x.Prefix}
		parts = append(parts, d.of(reflect.ValueOf(param)))
	}
	return entry{"inputs", bracketed("[", "]", parts)}
}

// typeOf converts a type to its descriptor.
func (d *documenter) typeOf(t design.Type) table.Type {
	out := table.Type{Kind: table.Kind(t.Kind)}
	switch t.Kind {
	case design.KindEnum:
		out.Enum = d.model.enum(t.Name).Values
	case design.KindStruct:
		out.Fields = d.model.structure(t.Name).run
	default:
	}
	if t.Elem != nil {
		elem := d.typeOf(*t.Elem)
		out.Elem = &elem
	}
	return out
}

// returned describes what a write returns: items of steps, by name.
func returned(w *writeModel) entry {
	var parts []string
	for _, x := range w.returned {
		o := object{{"step", fmt.Sprint(x.step)}, {"name", quoted(lowerCamel(x.field))}}
		if x.each {
			o.add("each", "true")
		}
		parts = append(parts, o.text())
	}
	return entry{"returned", bracketed("[", "]", parts)}
}

// replay describes how a repetition is answered, besides the record.
func replay(w *writeModel) entry {
	var o object
	switch {
	case w.replayRead != nil:
		o.add("read", quoted(w.replayRead.Design.Name))
	case w.replayCollection != nil:
		o.add("collection", quoted(w.replayCollection.Design.Name))
	}
	if w.owner != "" {
		o.add("owner", quoted(w.owner))
	}
	if len(o) == 0 {
		return entry{}
	}
	return entry{"replay", o.text()}
}

// descriptor is a descriptor with additional members at the end.
func (d *documenter) descriptor(v any, more ...entry) string {
	value := reflect.ValueOf(v)
	if value.Kind() != reflect.Struct {
		return d.of(value)
	}
	o := d.members(value)
	for _, m := range more {
		if m.name != "" && m.text != "[]" {
			o = append(o, m)
		}
	}
	return o.text()
}

// members are the nonempty fields of a descriptor. Places and enumerations are always included.
func (d *documenter) members(v reflect.Value) object {
	var out object
	t := v.Type()
	for i := range v.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			out = append(out, d.members(v.Field(i))...)
			continue
		}
		always := f.Type.Kind() == reflect.Uint8 || f.Type == reflect.TypeFor[table.Place]() || f.Name == "Root"
		if v.Field(i).IsZero() && !always {
			continue
		}
		out.add(lowerCamel(f.Name), d.of(v.Field(i)))
	}
	return out
}

// of formats a value of a descriptor.
func (d *documenter) of(v reflect.Value) string {
	switch x := v.Interface().(type) {
	case *table.Entity:
		return quoted(d.names.entities[x])
	case *table.Table:
		return quoted(d.names.tables[x])
	case *[]table.Field:
		return quoted(d.names.fields[x])
	case types.AttributeValue:
		return constantValue(x)
	case error:
		return quoted(d.names.errors[x])
	case time.Duration:
		return fmt.Sprint(x.Milliseconds())
	case table.Action:
		return quoted(strings.Fields(enumerations["Action"])[int(x)-1])
	case table.PlaceKind:
		return quoted(strings.Fields(enumerations["PlaceKind"])[int(x)])
	case table.Comparison:
		return quoted(strings.Fields(enumerations["Comparison"])[int(x)])
	case table.TermKind:
		return quoted(strings.Fields(enumerations["TermKind"])[int(x)-1])
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return d.of(v.Elem())
	case reflect.Struct:
		o := d.members(v)
		return o.text()
	case reflect.Slice:
		var parts []string
		for i := range v.Len() {
			parts = append(parts, d.of(v.Index(i)))
		}
		return bracketed("[", "]", parts)
	case reflect.Map:
		var o object
		for _, key := range slices.SortedFunc(slices.Values(v.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
			o.add(key.String(), d.of(v.MapIndex(key)))
		}
		return o.text()
	case reflect.String:
		return quoted(v.String())
	default:
		return fmt.Sprint(v.Interface())
	}
}

func constantValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return one("S", quoted(v.Value))
	case *types.AttributeValueMemberN:
		return one("N", quoted(v.Value))
	case *types.AttributeValueMemberBOOL:
		return one("BOOL", fmt.Sprint(v.Value))
	default:
		return one("NULL", "true")
	}
}

// lowerCamel converts a name to lower camel case: TypeAttr is typeAttr, TTLAttr ttlAttr, PK pk.
func lowerCamel(name string) string {
	runes := []rune(name)
	for i := range runes {
		if i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]) || !unicode.IsUpper(runes[i]) {
			break
		}
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
