package infer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/plural"
)

// typing is the context of a field whose type is inferred.
type typing struct {
	name  string // of the field
	owner string // of the entity or structure, for the names of types
	inKey bool   // as a plain value
	found bool   // in the primary key, so that it identifies items
	ttl   bool
	deep  int
}

// typeOf infers the type of values in the design language, and remarks on it.
func (d *draft) typeOf(values []types.AttributeValue, f typing) (name, note string) {
	kinds := map[string][]types.AttributeValue{}
	for _, v := range values {
		k := storedAs(v)
		kinds[k] = append(kinds[k], v)
	}
	most := ""
	for _, k := range sorted(kinds) {
		if len(kinds[k]) > len(kinds[most]) {
			most = k
		}
	}
	if others := len(values) - len(kinds[most]); others > 0 {
		note = fmt.Sprintf("guess: %s not of type %s", plural.Of(others, "value"), most)
	}
	var why string
	name, why = d.typeOfKind(most, kinds[most], f)
	if why != "" {
		note = strings.TrimPrefix(note+"; "+why, "; ")
	}
	return name, note
}

// storedAs is the name of a value's type in DynamoDB.
func storedAs(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	default:
		return ""
	}
}

func (d *draft) typeOfKind(kind string, values []types.AttributeValue, f typing) (name, note string) {
	switch kind {
	case "S":
		return d.typeOfText(values, f)
	case "N":
		switch {
		case f.ttl && fit(design.KindTTL, values):
			return "ttl", ""
		case fit(design.KindInt, values):
			return "int", ""
		default:
			return "decimal", ""
		}
	case "BOOL":
		return "bool", ""
	case "B":
		return "bytes", ""
	case "SS":
		return "set<text>", ""
	case "NS":
		return "set<decimal>", ""
	case "BS":
		return "set<bytes>", ""
	case "L":
		var elems []types.AttributeValue
		for _, v := range values {
			if list, ok := v.(*types.AttributeValueMemberL); ok {
				elems = append(elems, list.Value...)
			}
		}
		elem, note := d.elementOf(elems, f)
		return "list<" + elem + ">", note
	case "M":
		return d.typeOfMap(values, f)
	default:
		return "text", "guess: always NULL"
	}
}

// maxTypeDepth bounds the description of nested lists and maps; deeper ones are declared to contain text.
const maxTypeDepth = 5

// elementOf is the element type of a list or map.
func (d *draft) elementOf(elems []types.AttributeValue, f typing) (name, note string) {
	if len(elems) == 0 || f.deep >= maxTypeDepth {
		return "text", "guess: all are empty"
	}
	f.deep++
	f.inKey, f.found, f.ttl = false, false, false
	return d.typeOf(elems, f)
}

// fit reports whether all values are of a kind.
func fit(kind design.Kind, values []types.AttributeValue) bool {
	probe := &table.Entity{Name: "probe", Fields: []table.Field{{Name: "v", Path: []string{"v"}, Type: table.Type{Kind: table.Kind(kind)}}}}
	for _, v := range values {
		if _, err := table.Items(probe, table.Values{"v": v}); err != nil {
			return false
		}
	}
	return true
}

// textOf is the text of a string value.
func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

func (d *draft) typeOfText(values []types.AttributeValue, f typing) (name, note string) {
	for _, kind := range []design.Kind{design.KindUUID, design.KindULID, design.KindKSUID, design.KindTime, design.KindDate, design.KindEmail} {
		if fit(kind, values) {
			return string(kind), ""
		}
	}
	if enum := enumOf(values, f.name); enum != nil && !f.found {
		return d.enum(f, enum), fmt.Sprintf("guess: %s in %s", plural.Of(len(enum), "value"), plural.Of(len(values), "item"))
	}
	last := words(f.name)
	tail := ""
	if len(last) > 0 {
		tail = last[len(last)-1]
	}
	switch {
	case strings.Contains(letters(f.name), "slug") && fit(design.KindSlug, values):
		return "slug", ""
	case !f.inKey && (slices.Contains([]string{"password", "secret"}, tail) || strings.Contains(letters(f.name), "password")):
		return "secret", "guess: by its name"
	case (f.inKey || slices.Contains([]string{"id", "key", "code", "ref", "token", "sub"}, tail)) && fit(design.KindID, values):
		return "id", ""
	case timeLike(values):
		return "text", "guess: looks like a time, but type time would store it as 2006-01-02T15:04:05.000Z"
	default:
		return "text", ""
	}
}

// timeLike reports whether texts start like times.
func timeLike(values []types.AttributeValue) bool {
	return !slices.ContainsFunc(values, func(v types.AttributeValue) bool { return len(typed().FindString(textOf(v))) < len("2006-01-02T15:04") })
}

// enumerable reports whether a text looks like a value of an enumeration: at most 40 letters, spaces, _ and -, starting with a
// letter. A regular expression would use 1 MB of memory from the start of every command, for 40 copies of the class of
// letters.
func enumerable(text string) bool {
	for i, r := range text {
		if !unicode.IsLetter(r) && (i == 0 || !strings.ContainsRune(" _-", r)) {
			return false
		}
	}
	return text != "" && utf8.RuneCountInString(text) <= 40
}

// enumOf are the values of an enumeration: few values that repeat; nil if it is none.
func enumOf(values []types.AttributeValue, name string) []string {
	distinct := map[string]bool{}
	for _, v := range values {
		text := textOf(v)
		if distinct[text] = true; len(distinct) > 12 || !enumerable(text) {
			return nil
		}
	}
	w := words(name)
	if len(values) < 10 || len(values) < 4*len(distinct) || len(distinct) < 2 || len(w) == 0 {
		return nil
	}
	free := []string{"id", "key", "code", "ref", "token", "name", "nombre", "title", "text", "description", "message", "slug", "number", "city", "email"}
	if slices.Contains(free, w[len(w)-1]) {
		return nil
	}
	return sorted(distinct)
}

// enum declares an enumeration, or finds one with the same values, and returns its name.
func (d *draft) enum(f typing, values []string) string {
	list := make([]string, len(values))
	for i, v := range values {
		list[i] = quote(v)
	}
	return d.declare(f.owner+pascal(f.name), "{ enum: ["+strings.Join(list, ", ")+"] }")
}

// declare names a type, reusing the name of an equal one.
func (d *draft) declare(name, text string) string {
	for known, other := range d.types {
		if other == text {
			return known
		}
	}
	if name == "" {
		name = "Type"
	}
	if slices.Contains(d.entities, name) {
		name += "Type" // generated code has both
	}
	name = unique(&d.typeNames, name)
	d.types[name] = text
	return name
}

// typeOfMap is a structure if most of the maps have the same members, otherwise a map.
func (d *draft) typeOfMap(values []types.AttributeValue, f typing) (name, note string) {
	members := map[string][]types.AttributeValue{}
	var all []types.AttributeValue
	total := 0
	for _, v := range values {
		m, _ := v.(*types.AttributeValueMemberM)
		if m == nil {
			continue
		}
		for _, key := range sorted(m.Value) {
			members[key] = append(members[key], m.Value[key])
			all = append(all, m.Value[key])
			total++
		}
	}
	const mostMembers = 60
	if len(members) == 0 || len(members) > mostMembers || slices.ContainsFunc(sorted(members), unstorable) || 2*total < len(members)*len(values) || f.deep >= maxTypeDepth {
		elem, note := d.elementOf(all, f)
		return "map<" + elem + ">", note
	}
	owner := f.owner + pascal(f.name)
	var lines, names []string
	for _, key := range sorted(members) {
		there := slices.DeleteFunc(slices.Clone(members[key]), isNull)
		member := camel(key)
		if isName(key) {
			member = key
		}
		if !isName(member) {
			member = "member"
		}
		member = unique(&names, member)
		of, why := d.typeOf(there, typing{name: member, owner: owner, deep: f.deep + 1})
		if len(there) < len(values) {
			of += "?"
		}
		if why != "" {
			note = "guess: types of its members"
		}
		text := quote(of)
		if member != key {
			text = "{ type: " + quote(of) + ", attr: " + quote(key) + " }"
		}
		lines = append(lines, member+": "+text)
	}
	return d.declare(owner, "{ fields: { "+strings.Join(lines, ", ")+" } }"), note
}

func unstorable(name string) bool { return !storable(name) }

func isNull(v types.AttributeValue) bool {
	_, null := v.(*types.AttributeValueMemberNULL)
	return null
}
