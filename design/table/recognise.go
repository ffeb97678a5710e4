package table

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Recognize finds the entity that an item stands for, with its values: nil where it is none of them. Copies and markers are
// recognised as their entity's, at their place.
func Recognize(entities []*Entity, it Item) (*Entity, Place, Values) {
	for _, e := range entities {
		for _, p := range e.places() {
			if v, ok := e.is(p, it); ok {
				return e, p, v
			}
		}
	}
	return nil, Place{}, nil
}

// places are where the entity's items are in its table.
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

// is tells whether a stored item is the entity's, at a place: by the type attribute where there is one, and by its keys, which
// must be those that its values make. An entry in an index may lack values, which the index does not have: then the keys
// must be such as some values make together with those that are there.
func (e *Entity) is(p Place, it Item) (Values, bool) {
	if it == nil || p.Kind != MarkerPlace && !e.typed(it) {
		return nil, false
	}
	primary, ok := e.primaryKey(p)
	if !ok {
		return nil, false
	}
	v := e.valuesOf(it)
	if p.Kind != EntryPlace {
		return v, e.madeOf(primary, v, it)
	}
	entry := e.entry(p)
	if entry == nil {
		return nil, false
	}
	met := 0
	for _, a := range slices.Concat(primary, entry.PK, entry.SK) {
		stored, there := keyText(it[a.Name])
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

// typed reports whether the type attribute, where there is one, is the entity's.
func (e *Entity) typed(it Item) bool {
	if e.Table == nil || e.Table.TypeAttr == "" || it[e.Table.TypeAttr] == nil {
		return true
	}
	s, ok := it[e.Table.TypeAttr].(*types.AttributeValueMemberS)
	return ok && s.Value == e.TypeValue
}

// primaryKey is the primary key of the items at a place.
func (e *Entity) primaryKey(p Place) ([]KeyAttribute, bool) {
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

// entry is the entry of a place in an index, nil where there is none.
func (e *Entity) entry(p Place) *Entry {
	list := e.Entries
	if c := e.copyOf(p.Copy); c != nil {
		list = c.Entries
	}
	for i := range list {
		if list[i].Index == p.Index {
			return &list[i]
		}
	}
	return nil
}

// markerOf is the marker of a name, nil where there is none.
func (e *Entity) markerOf(name string) *Marker {
	for i := range e.Markers {
		if e.Markers[i].Name == name {
			return &e.Markers[i]
		}
	}
	return nil
}

// madeOf reports whether an item has the key that values make.
func (e *Entity) madeOf(key []KeyAttribute, v Values, it Item) bool {
	made, err := e.keyOf(key, v)
	if err != nil {
		return false
	}
	for name, value := range made {
		if !sameKey(value, it[name]) {
			return false
		}
	}
	return true
}

// sameKey compares two values of a key attribute.
func sameKey(a, b types.AttributeValue) bool {
	left, ok := keyText(a)
	right, there := keyText(b)
	return ok && there && storedAs(a) == storedAs(b) && left == right
}

// fitsKey reports whether a stored key text is what values make of a template, whatever those that are absent would be.
func (e *Entity) fitsKey(a KeyAttribute, v Values, stored string) bool {
	parts := make([]segment, len(a.Template))
	for i, p := range a.Template {
		value := v[p.Field]
		switch {
		case p.Field == "":
			parts[i].text = p.Literal
		case value == nil:
			f := e.field(p.Field)
			if f == nil {
				return false
			}
			parts[i].open = func(s string) bool { return f.makes(p.Funcs, a.Type, s) }
		default:
			text, err := e.render(Template{p}, v)
			if err != nil {
				return false
			}
			parts[i].text = text
		}
	}
	if a.Type == types.ScalarAttributeTypeN && len(parts) == 1 && parts[0].open == nil {
		number, err := keytext.Decimal(parts[0].text) // without the zeros that |pad puts before it
		return err == nil && number == stored
	}
	return matches(parts, stored)
}

// segment is a piece of a key: a known text, or one that is only known to be of a language.
type segment struct {
	text string
	open func(string) bool // nil where the text is known
}

// matches reports whether a text is made of segments. It keeps the places where the segments so far can end, of which there are
// at most as many as the text has bytes.
func matches(segments []segment, text string) bool {
	ends := []int{0}
	for _, s := range segments {
		next := make([]bool, len(text)+1)
		for _, from := range ends {
			if s.open == nil {
				if strings.HasPrefix(text[from:], s.text) {
					next[from+len(s.text)] = true
				}
				continue
			}
			for to := from; to <= len(text); to++ {
				next[to] = next[to] || s.open(text[from:to])
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

// makes reports whether a text may be what functions make of some value of the field, in a key attribute of a type. It may say so
// of a text that is none, never the other way round.
func (f *Field) makes(funcs []Func, of types.ScalarAttributeType, s string) bool {
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
	case "shard":
		return s != "" && only(s, digits)
	case "hash":
		return len(s) == n && only(s, digits+"abcdef")
	case "slug":
		return only(s, slugCharacters)
	default: // lower, fold and first of any text
		return true
	}
}

// hasText reports whether a text may be that of a value of the field.
func (f *Field) hasText(s string) bool {
	switch {
	case fits(f.Name, s, f.MaxBytes) != nil:
		return false
	case f.Type.Kind.textual():
		return f.Type.contains(s)
	case f.Type.Kind == kindBool:
		return s == "true" || s == "false"
	case f.Type.Kind.numeric():
		text, err := f.Type.text(f.Name, &types.AttributeValueMemberN{Value: s})
		return err == nil && text == s
	default:
		return true
	}
}
