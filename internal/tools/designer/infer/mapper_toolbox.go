package infer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// toolEntity is an entity of dynamodb-toolbox in the format of its EntityDTO, with what it writes for some made-up items.
// https://www.dynamodbtoolbox.com/docs/entities/actions/dto
type toolEntity struct {
	EntityName      string
	Schema          struct{ Attributes ordered[toolAttribute] }
	EntityAttribute json.RawMessage // a flag, or a map
	Timestamps      json.RawMessage // a flag, or a map
	Table           struct {
		TableName              json.RawMessage
		PartitionKey, SortKey  toolKey
		EntityAttributeSavedAs string
		Indexes                ordered[toolIndex]
	}
	Computed bool // whether a function computes the primary key
	Items    []map[string]any
	Fault    string
}

type toolKey struct{ Name, Type string }

type toolIndex struct {
	Type                  string
	PartitionKey, SortKey toolKey
	PartitionKeys         []toolKey
	SortKeys              []toolKey
}

type toolAttribute struct {
	Type, SavedAs      string
	Required           json.RawMessage
	Enum               json.RawMessage
	PutDefault         json.RawMessage
	Transform          json.RawMessage
	Elements           json.RawMessage
	Attributes         ordered[toolAttribute]
	Key                bool
	KeyDefault, Hidden json.RawMessage
}

func (k toolKey) key() Key {
	if k.Name == "" {
		return Key{}
	}
	return Key{k.Name, map[string]string{"number": "N", "binary": "B"}[k.Type] + map[string]string{"": "S", "string": "S"}[k.Type]}
}

// toolbox parses entities.
func (m *mapped) toolbox(data []byte) error {
	var list []toolEntity
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("not a list of dynamodb-toolbox entities: %w", err)
	}
	for i := range list {
		d := &list[i]
		if d.EntityName == "" || d.Table.PartitionKey.Name == "" {
			return errors.New("not a list of dynamodb-toolbox entities: one has no entityName or table")
		}
		if err := m.tool(d); err != nil {
			m.omit(nil, "entity %s: %s", d.EntityName, err)
		}
	}
	return nil
}

func (m *mapped) tool(d *toolEntity) error {
	switch {
	case d.Fault != "":
		return fmt.Errorf("its keys cannot be determined, because it rejects a generated item: %s", clean(d.Fault))
	case len(d.Items) < 2:
		return errors.New("its keys cannot be determined, because there are no written items: use the module, not its DTO")
	}
	name := "Table"
	if names := textList(d.Table.TableName); len(names) == 1 {
		name = names[0]
	}
	t := m.table(name)
	t.pk, t.sk = d.Table.PartitionKey.key(), d.Table.SortKey.key()
	if isThere(d.EntityAttribute) {
		t.typeAttr = cmp.Or(d.Table.EntityAttributeSavedAs, "_et")
	}
	e := &mappedEntity{name: unique(&m.entities, cmp.Or(pascal(d.EntityName), "Entity")), kind: d.EntityName}
	l := &learner{entity: e, items: d.Items}
	keys := []string{t.pk.Name, t.sk.Name}
	for _, x := range d.Table.Indexes {
		to := t.index(x.Name)
		to.Local = x.Value.Type == "local"
		to.PK, to.SK = toolKeys(x.Value.PartitionKey, x.Value.PartitionKeys), toolKeys(x.Value.SortKey, x.Value.SortKeys)
		if to.Local {
			to.PK = []Key{t.pk}
		}
		for _, k := range slices.Concat(to.PK, to.SK) {
			keys = append(keys, k.Name)
		}
	}
	for _, a := range d.Schema.Attributes {
		m.toolField(e, a.Name, &a.Value)
	}
	l.separate(keys, d.Computed)
	e.pk, e.pkFields = m.toolKey(l, t.pk)
	if t.sk.Name != "" {
		e.sk, e.skFields = m.toolKey(l, t.sk)
	}
	for _, x := range t.indexes {
		if entry, err := l.entry(x); err != nil {
			m.omit(e, "index %s: %s", x.Name, err)
		} else if entry != nil {
			e.entries = append(e.entries, *entry)
		}
	}
	e.timestamps(d.Timestamps)
	e.identifiers()
	t.entities = append(t.entities, e)
	return nil
}

// toolKey is the template of an attribute of the primary key. If no template produces it, the key is a plain field.
func (m *mapped) toolKey(l *learner, k Key) (text string, fields []string) {
	text, fields, err := l.template(k.Name)
	if err == nil {
		return text, fields
	}
	m.omit(l.entity, "how a key is computed: %s", err)
	of := map[string]string{"N": "decimal", "B": "bytes"}[k.Type]
	f := l.entity.field(k.Name, k.Name, cmp.Or(of, "text"), false)
	return "{" + f.name + "}", []string{f.name}
}

func toolKeys(one toolKey, several []toolKey) []Key {
	if one.Name != "" {
		several = []toolKey{one}
	}
	var out []Key
	for _, k := range several {
		out = append(out, k.key())
	}
	return out
}

// toolField adds a field for an attribute.
func (m *mapped) toolField(e *mappedEntity, name string, a *toolAttribute) {
	of := m.toolType(e, e.name+pascal(name), a)
	if of == "" {
		m.omit(e, "%s, which is of type %s", name, a.Type)
		return
	}
	e.field(name, cmp.Or(a.SavedAs, name), of, string(a.Required) == `"never"` && !isThere(a.PutDefault))
	var lost []string
	if isThere(a.PutDefault) {
		lost = append(lost, "default")
	}
	if isThere(a.Transform) {
		lost = append(lost, "transform")
	}
	if len(lost) > 0 {
		m.omit(e, "%s of %s", strings.Join(lost, ", "), name)
	}
}

// toolType is the type of an attribute; "" if it has none.
func (m *mapped) toolType(e *mappedEntity, name string, a *toolAttribute) string {
	if list := textList(a.Enum); a.Type == "string" && len(list) > 0 && !isThere(a.Transform) {
		return m.enum(name, list)
	}
	var elem string
	if len(a.Elements) > 0 && a.Elements[0] == '{' {
		var inner toolAttribute
		if json.Unmarshal(a.Elements, &inner) == nil {
			elem = m.toolType(e, name+"Item", &inner)
		}
	}
	switch a.Type {
	case "string":
		return "text"
	case "number":
		return "decimal"
	case "boolean":
		return "bool"
	case "binary":
		return "bytes"
	case "set", "list", "record":
		if elem == "" || a.Type == "set" && !slices.Contains([]string{"text", "decimal", "bytes"}, elem) {
			return ""
		}
		return map[string]string{"set": "set", "list": "list", "record": "map"}[a.Type] + "<" + elem + ">"
	case "map":
		inner := &mappedEntity{name: name}
		for _, p := range a.Attributes {
			if of := m.toolType(e, name+pascal(p.Name), &p.Value); of != "" {
				inner.field(p.Name, cmp.Or(p.Value.SavedAs, p.Name), of, string(p.Value.Required) == `"never"` && !isThere(p.Value.PutDefault))
			} else {
				m.omit(e, "%s in %s, which is of type %s", p.Name, name, p.Value.Type)
			}
		}
		if len(inner.fields) > 0 {
			return m.structure(name, inner.fields)
		}
	}
	return ""
}

// timestamps adds the fields that the library maintains itself.
func (e *mappedEntity) timestamps(raw json.RawMessage) {
	if !isThere(raw) {
		return
	}
	var said map[string]json.RawMessage
	_ = json.Unmarshal(raw, &said)
	for _, stamp := range []struct{ name, attr string }{{"created", "_ct"}, {"modified", "_md"}} {
		own := struct{ Name, SavedAs string }{stamp.name, stamp.attr}
		if said != nil {
			if !isThere(said[stamp.name]) {
				continue
			}
			_ = json.Unmarshal(said[stamp.name], &own)
		}
		e.field(own.Name, own.SavedAs, "time", false)
	}
}

// learner finds the templates of keys in items whose values are all different, so that each value can be located.
type learner struct {
	entity *mappedEntity
	items  []map[string]any
	// created are the key attributes that are composed of fields, or constant.
	created map[string]bool
}

// separate distinguishes key attributes composed of fields from plain fields, and removes the former from the entity.
func (l *learner) separate(keys []string, computed bool) {
	l.created = map[string]bool{}
	all := l.entity.fields
	for _, attr := range keys { // at first, keys are not searched for in each other
		l.created[attr] = true
	}
	// Those without other fields come first: the others may contain them.
	for _, alone := range []bool{true, false} {
		var own []string
		for i, attr := range keys {
			if l.entity.stored(attr) == nil || i < 2 && computed { // the DTO lists computed keys as attributes, too
				continue
			}
			hasField := slices.ContainsFunc(l.split(attr, true), func(p learnedPart) bool { return p.field != nil })
			if _, _, err := l.template(attr); err != nil && (!alone || !hasField) {
				own = append(own, attr)
			}
		}
		for _, attr := range own {
			delete(l.created, attr)
		}
	}
	l.entity.fields = nil
	for _, f := range all {
		if !l.created[f.attr] {
			l.entity.fields = append(l.entity.fields, f)
		}
	}
}

// entry is the entry in an index; nil if the entity lacks some of its attributes.
func (l *learner) entry(x *mappedIndex) (*mappedEntry, error) {
	out := &mappedEntry{index: x.Name}
	for i, keys := range [][]Key{x.PK, x.SK} {
		for _, k := range keys {
			if valueText(l.items[0][k.Name]) == "" {
				return nil, nil //nolint:nilnil // not in the index
			}
			text, fields, err := l.template(k.Name)
			if err != nil {
				return nil, err
			}
			if i == 0 {
				out.pk, out.pkFields = append(out.pk, text), append(out.pkFields, fields...)
			} else {
				out.sk, out.skFields = append(out.sk, text), append(out.skFields, fields...)
			}
		}
	}
	if x.Local {
		out.pk = nil
	}
	return out, nil
}

// template is the template that produces a key attribute in all items.
func (l *learner) template(attr string) (text string, fields []string, err error) {
	if f := l.entity.stored(attr); f != nil && !l.created[attr] {
		return "{" + f.name + "}", []string{f.name}, nil
	}
	for _, all := range []bool{false, true} { // a flag or a state may match in a key by chance
		parts := l.split(attr, all)
		l.pad(parts, attr)
		if !l.makes(parts, attr) {
			continue
		}
		for _, p := range parts {
			if p.field == nil {
				text += literalText(p.literal)
				continue
			}
			if strings.HasPrefix(p.funcs, "|pad") && p.field.typ == "decimal" {
				p.field.typ, p.field.note = "int", "guess: because it is padded in a key"
			}
			text += "{" + p.field.name + p.funcs + "}"
			fields = append(fields, p.field.name)
		}
		if text != "" {
			return text, fields, nil
		}
	}
	return "", nil, fmt.Errorf("%s is %q in one item and %q in another, which no template renders from their values",
		attr, valueText(l.items[0][attr]), valueText(l.items[1][attr]))
}

// learnedPart is a literal, or a field with its functions.
type learnedPart struct {
	literal, funcs string
	field          *mappedField
}

// split locates the values of the first item in its key, the longest first.
func (l *learner) split(attr string, all bool) []learnedPart {
	item := l.items[0]
	parts := []learnedPart{{literal: valueText(item[attr])}}
	candidates := slices.Clone(l.entity.fields)
	slices.SortStableFunc(candidates, func(a, b *mappedField) int {
		return len(valueText(item[b.attr])) - len(valueText(item[a.attr]))
	})
	for _, f := range candidates {
		value := valueText(item[f.attr])
		switch {
		case value == "", l.created[f.attr]:
			continue
		case !all && f.typ != "text" && f.typ != "decimal" && f.typ != "int":
			continue
		}
		for i := 0; i < len(parts); i++ {
			if parts[i].field != nil {
				continue
			}
			at, n, funcs := find(parts[i].literal, value, f.typ)
			if at < 0 {
				continue
			}
			whole := parts[i].literal
			found := []learnedPart{{literal: whole[:at]}, {field: f, funcs: funcs}, {literal: whole[at+n:]}}
			parts = slices.Replace(parts, i, i+1, found...)
			i++ // continue after it
		}
	}
	return parts
}

// pad detects zero padding of numbers that are shorter in the last item than in the first, which shows none.
func (l *learner) pad(parts []learnedPart, attr string) {
	item := l.items[len(l.items)-1]
	rest := valueText(item[attr])
	for i := range parts {
		p := &parts[i]
		if p.field == nil {
			rest = strings.TrimPrefix(rest, p.literal)
			continue
		}
		value := valueText(item[p.field.attr])
		zeros := len(rest) - len(strings.TrimLeft(rest, "0"))
		if p.funcs == "" && p.field.typ != "text" && zeros > 0 && value != "" && strings.HasPrefix(rest[zeros:], value) {
			p.funcs = fmt.Sprintf("|pad(%d)", zeros+len(value))
		}
		if strings.HasPrefix(p.funcs, "|pad") {
			rest = strings.TrimLeft(rest, "0")
		}
		if p.funcs == "|lower" {
			value = strings.ToLower(value)
		}
		rest = strings.TrimPrefix(rest, value)
	}
}

// find locates a value in a text: unchanged, in lower case, or zero-padded.
func find(text, value, typ string) (at, n int, funcs string) {
	if at = strings.Index(text, value); at >= 0 {
		zeros := at
		for typ != "text" && zeros > 0 && text[zeros-1] == '0' {
			zeros--
		}
		if zeros < at {
			return zeros, at - zeros + len(value), fmt.Sprintf("|pad(%d)", at-zeros+len(value))
		}
		return at, len(value), ""
	}
	small := strings.ToLower(value)
	return strings.Index(text, small), len(small), "|lower"
}

// makes reports whether parts produce the attribute in all items.
func (l *learner) makes(parts []learnedPart, attr string) bool {
	for _, item := range l.items {
		var out strings.Builder
		for _, p := range parts {
			value := p.literal
			if p.field != nil {
				value = valueText(item[p.field.attr])
				if p.funcs == "|lower" {
					value = strings.ToLower(value)
				}
				var n int
				if _, err := fmt.Sscanf(p.funcs, "|pad(%d)", &n); err == nil {
					value = strings.Repeat("0", max(0, n-len(value))) + value
				}
			}
			out.WriteString(value)
		}
		if out.String() != valueText(item[attr]) || out.Len() == 0 {
			return false
		}
	}
	return true
}

// valueText is the text of a string, number or boolean; "" for others.
func valueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		data, _ := json.Marshal(v)
		return string(data)
	case bool:
		return fmt.Sprint(v)
	default:
		return ""
	}
}
