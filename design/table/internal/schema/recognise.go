package schema

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Recognize finds the entity of an item, with its values: nil if it matches none. Copies and markers are recognised as their
// entity's, at their place.
func Recognize(entities []*Entity, it Item) (*Entity, Place, Values) {
	for _, e := range entities {
		for _, p := range e.places() {
			if v, ok := e.Is(p, it); ok {
				return e, p, v
			}
		}
	}
	return nil, Place{}, nil
}

// places are the entity's places in its table.
func (e *Entity) places() []Place {
	out := []Place{{Kind: KeyPlace}}
	for i := range e.Copies {
		out = append(out, Place{Kind: CopyPlace, Copy: e.Copies[i].Name})
	}
	for i := range e.Markers {
		out = append(out, Place{Kind: MarkerPlace, Marker: e.Markers[i].Name})
	}
	return out
}

// Is reports whether a stored item belongs to the entity, at a place: by the type attribute, if there is one, and by its keys,
// which must follow from its values. An entry in an index may lack values that the index does not have: then its keys must follow
// from some completion of the values present.
func (e *Entity) Is(p Place, it Item) (Values, bool) {
	if it == nil || p.Kind != MarkerPlace && !e.typed(it) {
		return nil, false
	}
	primary, ok := e.PrimaryKey(p)
	if !ok || p.Kind != EntryPlace && !mayHave(primary, it) {
		return nil, false
	}
	v := e.ValuesOf(it)
	if p.Kind != EntryPlace {
		return v, e.hasKeyOf(primary, v, it)
	}
	entry := e.EntryAt(p)
	if entry == nil {
		return nil, false
	}
	met := 0
	for _, a := range slices.Concat(primary, entry.PK, entry.SK) {
		stored, there := KeyText(it[a.Name])
		if !there {
			continue
		}
		met++
		if !e.fitsKey(a, v, stored) {
			return nil, false
		}
	}
	return v, met > 0
}

// mayHave reports whether an item's key starts as a template does. This excludes most entities of a table without looking at
// their values.
func mayHave(key []KeyAttribute, it Item) bool {
	for _, a := range key {
		stored, there := KeyText(it[a.Name])
		if !there || len(a.Template) > 0 && !strings.HasPrefix(stored, a.Template[0].Literal) {
			return false
		}
	}
	return true
}

// typed reports whether the type attribute, if there is one, is the entity's.
func (e *Entity) typed(it Item) bool {
	if e.Table == nil || e.Table.TypeAttr == "" || it[e.Table.TypeAttr] == nil {
		return true
	}
	s, ok := it[e.Table.TypeAttr].(*types.AttributeValueMemberS)
	return ok && s.Value == e.TypeValue
}

// PrimaryKey is the primary key of the items at a place.
func (e *Entity) PrimaryKey(p Place) ([]KeyAttribute, bool) {
	switch {
	case p.Kind == MarkerPlace:
		m := e.markerOf(p.Marker)
		if m == nil {
			return nil, false
		}
		return m.Key, true
	case p.Copy != "":
		c := e.copyOf(p.Copy)
		if c == nil {
			return nil, false
		}
		return c.Key, true
	default:
		return e.Key, true
	}
}

// EntryAt returns the entry of a place in an index, or nil.
func (e *Entity) EntryAt(p Place) *Entry {
	list := e.Entries
	if c := e.copyOf(p.Copy); c != nil {
		list = c.Entries
	}
	for i := range list {
		if list[i].Index == p.Index && list[i].Name == p.Entry {
			return &list[i]
		}
	}
	return nil
}

// markerOf returns the marker with a name, or nil.
func (e *Entity) markerOf(name string) *Marker {
	for i := range e.Markers {
		if e.Markers[i].Name == name {
			return &e.Markers[i]
		}
	}
	return nil
}

// hasKeyOf reports whether an item has the key that values make.
func (e *Entity) hasKeyOf(key []KeyAttribute, v Values, it Item) bool {
	computed, err := e.KeyOf(key, v)
	if err != nil {
		return false
	}
	for name, value := range computed {
		if !sameKey(value, it[name]) {
			return false
		}
	}
	return true
}

// sameKey compares two values of a key attribute.
func sameKey(a, b types.AttributeValue) bool {
	left, ok := KeyText(a)
	right, there := KeyText(b)
	return ok && there && StoredAs(a) == StoredAs(b) && left == right
}

// fitsKey reports whether a stored key text can result from values and a template, for some values of absent fields.
func (e *Entity) fitsKey(a KeyAttribute, v Values, stored string) bool {
	parts := make([]Segment, len(a.Template))
	for i, p := range a.Template {
		value := v[p.Field]
		switch {
		case p.Field == "":
			parts[i].Text = p.Literal
		case value == nil:
			f := e.Field(p.Field)
			if f == nil {
				return false
			}
			parts[i].Open = func(s string) bool { return f.Makes(p.Funcs, a.Type, s) }
		default:
			text, err := e.Render(Template{p}, v)
			if err != nil {
				return false
			}
			parts[i].Text = text
		}
	}
	if a.Type == types.ScalarAttributeTypeN && len(parts) == 1 && parts[0].Open == nil {
		number, err := keytext.Decimal(parts[0].Text) // without the zeros that |pad puts before it
		return err == nil && number == stored
	}
	return Matches(parts, stored)
}

// Segment is a piece of a key: a known text, or one that is only known to be of a language.
type Segment struct {
	Text string
	Open func(string) bool // nil if the text is known
}

// Matches reports whether a text consists of segments. It keeps the positions where the segments so far can end: at most as many
// as the text has bytes.
func Matches(segments []Segment, text string) bool {
	ends := []int{0}
	for _, s := range segments {
		next := make([]bool, len(text)+1)
		for _, from := range ends {
			if s.Open == nil {
				if strings.HasPrefix(text[from:], s.Text) {
					next[from+len(s.Text)] = true
				}
				continue
			}
			for to := from; to <= len(text); to++ {
				next[to] = next[to] || s.Open(text[from:to])
			}
		}
		ends = ends[:0]
		for i, reached := range next {
			if reached {
				ends = append(ends, i)
			}
		}
	}
	return slices.Contains(ends, len(text))
}

// Makes reports whether functions can produce a text from some value of the field, in a key attribute of a type. False positives
// are possible, false negatives are not.
func (f *Field) Makes(funcs []Func, of types.ScalarAttributeType, s string) bool {
	if of != types.ScalarAttributeTypeS {
		return true // the whole attribute is the one field
	}
	if len(funcs) == 0 {
		return f.hasText(s)
	}
	n := funcs[len(funcs)-1].int()
	switch last := funcs[len(funcs)-1]; last.Name {
	case "pad", "desc":
		return len(s) == n && only(s, digits)
	case "ts":
		return len(s) == map[string]int{"ms": 13, "s": 10}[last.Arg] && only(s, digits)
	case "date":
		return len(s) == len(last.Arg) && only(s, digits+"-T")
	case "shard", "mod":
		return s != "" && only(s, digits)
	case "band":
		s = strings.TrimPrefix(s, "-")
		return s != "" && only(s, digits)
	case "hash":
		return len(s) == n && only(s, digits+"abcdef")
	case "slug":
		return only(s, slugCharacters)
	default: // lower, fold and first of any text
		return true
	}
}

// hasText reports whether a text can be that of a value of the field.
func (f *Field) hasText(s string) bool {
	switch {
	case fits(f.Name, s, "", f.MinBytes, f.MaxBytes) != nil:
		return false
	case f.Type.Kind.textual():
		return f.Type.Contains(s)
	case f.Type.Kind == KindBool:
		return s == "true" || s == "false"
	case f.Type.Kind.Numeric():
		text, err := f.Type.Text(f.Name, &types.AttributeValueMemberN{Value: s})
		return err == nil && text == s
	default:
		return true
	}
}
