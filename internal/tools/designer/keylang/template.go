package keylang

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
)

// A template with more parts, or more states, counts as any text.
const (
	maxParts  = 128
	maxStates = 1 << 12
)

// Template is a key attribute's template: a sequence of literals and languages of values.
type Template struct {
	kind  design.KeyType
	parts []Part
}

// Part is a literal, or the texts of a field.
type Part struct {
	Literal string // where Field is ""
	Field   string
	// Name is the field with its functions in template notation: "name|fold".
	Name     string
	Language Language
}

// Type is the type of the attribute.
func (t Template) Type() design.KeyType { return t.kind }

// Parts are the literals and fields, in order. They must not be changed.
func (t Template) Parts() []Part { return t.parts }

// OfTemplate is the languages of a template of an entity's fields, for a key attribute of a type. The template may be made
// for a question, such as the prefix of a begins_with. Attributes of type N and B contain one field without literals and
// text functions: a whole or decimal number, or bytes. The error says what is wrong: an unknown field, a function that does
// not apply, a value that the type cannot hold.
func OfTemplate(d *design.Design, e *design.Entity, t *design.Template, kind design.KeyType) (Template, error) {
	out := Template{kind: kind}
	for _, p := range t.Parts {
		if p.Field == "" {
			out.parts = append(out.parts, Part{Literal: p.Literal})
			continue
		}
		f := e.Field(p.Field)
		if f == nil {
			return Template{}, fmt.Errorf("template %q: %s has no field %q", t, e.Name, p.Field)
		}
		part := Part{Field: p.Field, Name: nameOf(p)}
		v, err := through(d, f, p.Funcs)
		if err == nil {
			part.Language, err = v.as(kind)
		}
		if err != nil {
			return Template{}, fmt.Errorf("template %q: %w", t, err)
		}
		out.parts = append(out.parts, part)
	}
	if kind != design.KeyString && (len(out.parts) != 1 || out.parts[0].Field == "") {
		return Template{}, fmt.Errorf("template %q: an attribute of type %s must be a single field without other text", t, kind)
	}
	return out, nil
}

// as is the language of a value in an attribute of a type.
func (v *value) as(kind design.KeyType) (Language, error) {
	l := Language{kind: kind, texts: v.texts, most: v.most, bound: v.bound, rough: v.rough, beyond: v.beyond}
	switch {
	case kind == design.KeyBinary && v.kind != design.KindBytes:
		return Language{}, errors.New("an attribute of type B holds bytes")
	case kind == design.KeyString && v.kind == design.KindBytes:
		return Language{}, errors.New("bytes cannot be rendered as text: they need an attribute of type B")
	case kind == design.KeyNumber && v.kind != design.KindDecimal:
		if !v.number {
			return Language{}, errors.New("an attribute of type N holds a number")
		}
		if fixed := alphabet(v.texts).and(setOf("-")).none(); fixed && v.below == 0 {
			_, width := lengths(v.texts)
			l.texts = alt(literal("0"), seq(class("1-9", '1'), times(class("0-9", '0'), 0, width-1))) // without leading zeros
		}
	}
	l.plain = nonEmpty(l.texts)
	return l, nil
}

func nameOf(p design.Part) string {
	name := []string{p.Field}
	for _, f := range p.Funcs {
		name = append(name, f.String())
	}
	return strings.Join(name, "|")
}

// huge reports whether the template is too large to decide.
func (t Template) huge() bool {
	states := 0
	for _, p := range t.parts {
		states += len(p.Literal) + len(p.Language.texts)
	}
	return len(t.parts) > maxParts || states > maxStates
}

// automaton is the automaton of the whole template, whose states know their part; plain omits what Language.plain does.
func (t Template) automaton(plain bool) automaton {
	if t.huge() {
		return star(character(span(0, 0x7f)))
	}
	list := make([]automaton, len(t.parts))
	for i, p := range t.parts {
		switch {
		case p.Field == "":
			list[i] = inPart(literal(p.Literal), i)
		case plain:
			list[i] = inPart(p.Language.plain, i)
		default:
			list[i] = inPart(p.Language.texts, i)
		}
	}
	return seq(list...)
}

// Language is the language of the attribute. A field that occurs twice in the template counts as two.
func (t Template) Language() Language {
	l := Language{kind: t.kind, texts: t.automaton(false), plain: t.automaton(true), most: 1}
	l.rough = t.huge() || dependent(t) || slices.ContainsFunc(t.parts, func(p Part) bool { return p.Language.rough })
	l.beyond = slices.ContainsFunc(t.parts, func(p Part) bool { return p.Language.beyond })
	capped, bounded := false, true
	for _, p := range t.parts {
		if p.Field == "" {
			l.bound += len(p.Literal)
			continue
		}
		n, ok := p.Language.MaxBytes()
		if bounded = bounded && ok; bounded {
			l.bound += n
		}
		capped = capped || p.Language.rough || !math.IsInf(p.Language.most, 1)
	}
	if !bounded {
		l.bound = 0
	}
	for _, p := range t.parts {
		if p.Field != "" && capped {
			n, _ := p.Language.Count()
			l.most *= n
		}
	}
	if !capped {
		l.most = math.Inf(1)
	}
	return l
}

// dependent reports whether values in the templates depend on each other: a field occurs twice in one, or in several with
// different functions.
func dependent(list ...Template) bool {
	names := map[string]string{}
	for _, t := range list {
		here := map[string]bool{}
		for _, p := range t.parts {
			if p.Field == "" {
				continue
			}
			if name, known := names[p.Field]; known && name != p.Name || here[p.Field] {
				return true
			}
			names[p.Field] = p.Name
			here[p.Field] = true
		}
	}
	return false
}

// bound is the template with some fields fixed to values.
func (t Template) bound(values map[string]string) Template {
	out := Template{kind: t.kind, parts: slices.Clone(t.parts)}
	for i, p := range out.parts {
		if text, ok := values[p.Name]; ok && p.Field != "" {
			l := p.Language
			l.texts = literal(text)
			l.plain = l.texts
			out.parts[i].Language = l
		}
	}
	return out
}
