package view

import (
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/render"
)

// Meaning describes an item in terms of the design. An item that matches no entity has the zero Meaning.
type Meaning struct {
	Entity string `json:"entity,omitempty"`
	// Place is "key" for the item itself, otherwise the name of its copy or marker.
	Place string `json:"place,omitempty"`
	// Entries are the indexes in which the item is.
	Entries []string `json:"entries,omitempty"`
	// Keys are the key attributes of the table and its indexes, divided into segments.
	Keys  map[string][]Segment `json:"keys,omitempty"`
	Links []Link               `json:"links,omitempty"`
}

// Segment is a part of a key's text: a literal of the template, or the text of a field.
type Segment struct {
	Text  string `json:"text"`
	Field string `json:"field,omitempty"`
}

// Link leads to another item, or to a pattern that can be run with values of the item.
type Link struct {
	// Entity and Table identify the item that Key leads to: Table is the name in the design, Key is in DynamoDB's JSON.
	Entity string                       `json:"entity,omitempty"`
	Table  string                       `json:"table,omitempty"`
	Key    map[string]map[string]string `json:"key,omitempty"`
	// Pattern can be run with Arguments.
	Pattern   string         `json:"pattern,omitempty"`
	Arguments map[string]any `json:"arguments,omitempty"`
}

// Meaning describes an item of a table. Index is the index from which the item was read, "" for the table: an index need not
// contain everything that identifies an item.
func (v *View) Meaning(in *design.Table, index string, it table.Item) Meaning {
	e, place, values := v.recognize(in, index, it)
	if e == nil {
		return Meaning{}
	}
	m := Meaning{Entity: e.Name, Keys: map[string][]Segment{}}
	literals := literalsOf(values)
	var here plan.Place
	for _, p := range v.places[e.Name] {
		if p.Kind != plan.EntryPlace && isAt(p, place) {
			here = p
			m.Place = p.Name
			v.explain(&m, p, it, literals)
		}
	}
	for _, p := range v.places[e.Name] {
		if p.Kind == plan.EntryPlace && p.SameItem(here) && v.explain(&m, p, it, literals) {
			m.Entries = append(m.Entries, p.Index.Name)
		}
	}
	m.Links = v.links(e, here, values, literals)
	return m
}

// recognize finds the entity of an item.
func (v *View) recognize(in *design.Table, index string, it table.Item) (*design.Entity, table.Place, table.Values) {
	var of []*table.Entity
	for _, e := range v.Patterns.Program.Entities {
		if v.Design.Entity(e.Name).Table == in.Name {
			of = append(of, e)
		}
	}
	if e, place, values := table.Recognize(of, it); e != nil {
		return v.Design.Entity(e.Name), place, values
	}
	if index == "" {
		return nil, table.Place{}, nil
	}
	for _, e := range of {
		for _, x := range v.Design.Entity(e.Name).Entries {
			p := table.Place{Kind: table.EntryPlace, Index: index, Entry: x.Name, Copy: x.Of}
			if x.Index != index {
				continue
			}
			if values, is := e.Is(p, it); is {
				return v.Design.Entity(e.Name), p, values
			}
		}
	}
	return nil, table.Place{}, nil
}

// isAt reports whether a recognized item is at a place.
func isAt(p plan.Place, at table.Place) bool {
	switch {
	case at.Marker != "":
		return p.Marker != nil && p.Marker.Name == at.Marker
	case at.Copy != "":
		return p.Copy != nil && p.Copy.Name == at.Copy
	default:
		return p.Kind == plan.KeyPlace
	}
}

// explain adds the keys of a place, and reports whether the item has all of them.
func (v *View) explain(m *Meaning, p plan.Place, it table.Item, values map[string]design.Literal) bool {
	found := map[string][]Segment{}
	for _, k := range keysOf(p) {
		text, there := textOf(it[k.attribute.Name])
		if !there {
			return false
		}
		segments, fits := segmentsOf(p.Entity, k.template, text, values)
		if !fits {
			if p.Entry != "" {
				return false // the item has a different entry in the index
			}
			segments = []Segment{{Text: text}}
		}
		found[k.attribute.Name] = segments
	}
	for name, segments := range found {
		if m.Keys[name] == nil {
			m.Keys[name] = segments
		}
	}
	return true
}

// segmentsOf splits a key's text: by the values of its fields, and for an unknown value at the next literal.
func segmentsOf(e *design.Entity, t *design.Template, text string, values map[string]design.Literal) (out []Segment, fits bool) {
	rest := text
	for i, part := range t.Parts {
		if part.Field == "" {
			after, is := strings.CutPrefix(rest, part.Literal)
			if !is {
				return nil, false
			}
			out, rest = append(out, Segment{Text: part.Literal}), after
			continue
		}
		value, err := render.Key(e, &design.Template{Parts: []design.Part{part}}, design.KeyString, values)
		if err != nil || !strings.HasPrefix(rest, value) {
			value = rest
			if i+1 < len(t.Parts) && t.Parts[i+1].Field == "" {
				value, _, _ = strings.Cut(rest, t.Parts[i+1].Literal)
			}
		}
		out, rest = append(out, Segment{value, part.Field}), rest[len(value):]
	}
	return out, rest == ""
}

// textOf formats a key attribute as text.
func textOf(v types.AttributeValue) (string, bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, true
	case *types.AttributeValueMemberN:
		return v.Value, true
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(v.Value), true
	default:
		return "", false
	}
}

// literalsOf converts scalar values to literals of a design.
func literalsOf(values table.Values) map[string]design.Literal {
	out := map[string]design.Literal{}
	for name, value := range values {
		if b, is := value.(*types.AttributeValueMemberBOOL); is {
			out[name] = design.Literal{Text: strconv.FormatBool(b.Value)}
		} else if text, is := textOf(value); is {
			out[name] = design.Literal{Text: text}
		}
	}
	return out
}

// linksMax bounds the number of linked patterns.
const linksMax = 16

// links are the items to which an item refers or belongs, then the reads that its values make possible.
func (v *View) links(e *design.Entity, here plan.Place, values table.Values, literals map[string]design.Literal) []Link {
	var out []Link
	add := func(to *design.Entity, known map[string]design.Literal) {
		key, ok := v.keyFor(to, known)
		if ok && !slices.ContainsFunc(out, func(l Link) bool { return l.Entity == to.Name && equalKeys(l.Key, key) }) {
			out = append(out, Link{Entity: to.Name, Table: to.Table, Key: key})
		}
	}
	if here.Kind != plan.KeyPlace || here.Entity == nil {
		add(e, literals)
	}
	for _, r := range e.Refs {
		for _, to := range r.To {
			known := maps.Clone(literals)
			value, there := literals[r.Field]
			if there {
				known[to.Field] = value
				add(v.Design.Entity(to.Entity), known)
			}
		}
	}
	for _, owner := range v.Design.Entities {
		if joins := design.Belongs(e, owner); owner != e && len(joins) > 0 {
			known := map[string]design.Literal{}
			for _, j := range joins {
				if value, there := literals[j.A]; there {
					known[j.B] = value
				}
			}
			add(owner, known)
		}
	}
	for _, p := range v.Patterns.All() {
		about := v.Design.Entity(v.about(p.Explained))
		if p.Writes || len(out) >= linksMax || about == nil || about != e && len(design.Related(e, about)) == 0 {
			continue
		}
		if arguments, ok := p.Given(values); ok {
			out = append(out, Link{Pattern: p.Explained.Name, Arguments: arguments})
		}
	}
	return out
}

func equalKeys(a, b map[string]map[string]string) bool {
	for name, value := range a {
		for kind, text := range value {
			if b[name][kind] != text {
				return false
			}
		}
	}
	return len(a) == len(b)
}

// keyFor is the primary key of an entity's item with the values of its key's fields.
func (v *View) keyFor(e *design.Entity, known map[string]design.Literal) (map[string]map[string]string, bool) {
	out := map[string]map[string]string{}
	for _, k := range keysOf(v.places[e.Name][0]) {
		for _, field := range k.template.Fields() {
			if _, there := known[field]; !there {
				return nil, false
			}
		}
		text, err := render.Key(e, k.template, k.attribute.Type, known)
		if err != nil {
			return nil, false
		}
		if k.attribute.Type == design.KeyBinary {
			text = base64.StdEncoding.EncodeToString([]byte(text))
		}
		out[k.attribute.Name] = map[string]string{string(k.attribute.Type): text}
	}
	return out, true
}
