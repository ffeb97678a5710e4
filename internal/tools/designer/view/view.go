// Package view presents a design, and items in terms of the design, to people: as values that become JSON for a page.
//
// # Model
//
//	design ──plan, cost, check, explain──▶ Model: entities with their keys and fields, patterns, findings, a month's cost
//	items of a table ──Recognize──▶ Meanings: entity, keys part by part, the items and patterns that they lead to
//	                            ╰──▶ Chart: how many items of each entity are where, and how large its partitions are
//
// It makes no decisions of its own: package design/table knows what a key means, package cost what a pattern costs.
//
// # Invariants
//
//	V1  Values of items are not included: a Meaning names fields, and the caller finds their values in the item by Field.Path. A Link has the
//	    values of the fields it was made from.
//	V2  A Meaning's segments concatenate to the attribute's text.
//
// A View is safe for concurrent use.
package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/call"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/explain"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/traffic"
)

// View is a design, prepared for presentation.
type View struct {
	Design   *design.Design
	Patterns *call.Patterns
	Model    *Model
	// Traffic matches requests with patterns. It is prepared on first use.
	Traffic func() *traffic.Matcher

	places map[string][]plan.Place // by entity
}

// Model is a design in the form that pages use.
type Model struct {
	Name     string         `json:"name"`
	Doc      string         `json:"doc,omitempty"`
	Tables   []Table        `json:"tables"`
	Entities []Entity       `json:"entities"`
	Patterns []Pattern      `json:"patterns"`
	Findings check.Findings `json:"findings"`
	Month    cost.Month     `json:"month"`
}

// Table is a table of the design.
type Table struct {
	Name string `json:"name"`
	// Physical is its real name, which may have placeholders.
	Physical string `json:"physical"`
	Doc      string `json:"doc,omitempty"`
	TypeAttr string `json:"typeAttr,omitempty"`
	TTLAttr  string `json:"ttlAttr,omitempty"`
}

// Entity is a kind of items.
type Entity struct {
	Name   string  `json:"name"`
	Doc    string  `json:"doc,omitempty"`
	Table  string  `json:"table"`
	Fields []Field `json:"fields"`
	// Places are the item itself, its copies and markers, and their entries in indexes.
	Places []Place `json:"places"`
	// Items and Size are the expected number of items, and their typical size in bytes.
	Items float64 `json:"items,omitempty"`
	Size  int     `json:"size,omitempty"`
}

// Field is a field of an entity.
type Field struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc,omitempty"`
	Type     string   `json:"type"`
	Kind     string   `json:"kind"`
	Optional bool     `json:"optional,omitempty"`
	Path     []string `json:"path"`
	// Values are those of an enumeration, To the entities to whose items the field refers.
	Values []string `json:"values,omitempty"`
	To     []string `json:"to,omitempty"`
}

// Place is where items of an entity are.
type Place struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`            // key, copy, marker, entry
	Index string `json:"index,omitempty"` // of an entry
	Keys  []Key  `json:"keys"`
	Where string `json:"where,omitempty"` // the condition of an entry
}

// Key is a key attribute with its template.
type Key struct {
	Attribute string `json:"attribute"`
	Template  string `json:"template"`
	Parts     []Part `json:"parts"`
}

// Part is a literal of a template, or a field with its functions.
type Part struct {
	Text  string `json:"text"`
	Field string `json:"field,omitempty"`
}

// Pattern is a read, collection or write.
type Pattern struct {
	explain.Pattern

	// Entity is the entity under which it is listed: the one that a read finds, the root of a collection, the first one
	// written.
	Entity string  `json:"entity"`
	Rate   float64 `json:"rate,omitempty"`
	Month  float64 `json:"month"` // dollars, at the declared rate
	// Schema is the JSON Schema of its arguments; nil if it cannot be run, and Fault says why.
	Schema map[string]any `json:"schema,omitempty"`
	Fault  string         `json:"fault,omitempty"`
}

// New prepares a design.
func New(d *design.Design) (*View, error) {
	patterns, faults := call.New(d)
	if patterns == nil {
		return nil, faults
	}
	prices, err := cost.PricesOf(d.Workload.Region)
	if err != nil {
		return nil, err
	}
	v := &View{Design: d, Patterns: patterns, places: map[string][]plan.Place{}}
	v.Traffic = sync.OnceValue(func() *traffic.Matcher { return traffic.New(d) })
	m := &Model{Name: d.Name, Doc: d.Doc, Findings: check.Check(d), Month: cost.OfMonth(d, prices)}
	for _, t := range d.Tables {
		m.Tables = append(m.Tables, Table{t.Name, t.Physical, t.Doc, t.TypeAttr, t.TTLAttr})
	}
	for _, e := range d.Entities {
		v.places[e.Name] = plan.Places(d, e)
		m.Entities = append(m.Entities, v.entity(e))
	}
	for _, p := range explain.All(d) {
		m.Patterns = append(m.Patterns, v.pattern(p, m.Month, faults))
	}
	v.Model = m
	return v, nil
}

func (v *View) entity(e *design.Entity) Entity {
	out := Entity{Name: e.Name, Doc: e.Doc, Table: e.Table, Items: cost.Items(v.Design, e), Size: cost.ItemSize(e)}
	for _, f := range e.Fields {
		field := Field{Name: f.Name, Doc: f.Doc, Type: f.Type.String(), Kind: string(f.Type.Kind), Optional: f.Optional, Path: f.Path}
		if f.Type.Kind == design.KindEnum {
			field.Values = v.Design.Enum(f.Type.Name).Values
		}
		for _, r := range e.Refs {
			if r.Field == f.Name {
				for _, to := range r.To {
					field.To = append(field.To, to.Entity)
				}
			}
		}
		out.Fields = append(out.Fields, field)
	}
	for _, p := range v.places[e.Name] {
		out.Places = append(out.Places, shownPlace(p))
	}
	return out
}

var placeKinds = map[plan.Kind]string{plan.KeyPlace: "key", plan.CopyPlace: "copy", plan.MarkerPlace: "marker", plan.EntryPlace: "entry"}

func shownPlace(p plan.Place) Place {
	out := Place{Name: p.Name, Kind: placeKinds[p.Kind]}
	if p.Index != nil {
		out.Index = p.Index.Name
	}
	if p.Where != nil {
		out.Where = p.Where.Text
	}
	for _, k := range keysOf(p) {
		key := Key{Attribute: k.attribute.Name, Template: k.template.String()}
		for _, part := range k.template.Parts {
			key.Parts = append(key.Parts, Part{partText(part), part.Field})
		}
		out.Keys = append(out.Keys, key)
	}
	return out
}

// partText is a part in template notation.
func partText(p design.Part) string {
	if p.Field == "" {
		return p.Literal
	}
	steps := []string{p.Field}
	for _, f := range p.Funcs {
		steps = append(steps, f.String())
	}
	return "{" + strings.Join(steps, "|") + "}"
}

// keyOf is a key attribute of a place with its parts.
type keyOf struct {
	attribute design.KeyAttribute
	template  *design.Template
}

// keysOf are the key attributes of a place. One without a template is a plain field.
func keysOf(p plan.Place) []keyOf {
	pk, sk := p.Attributes()
	var out []keyOf
	add := func(attributes []design.KeyAttribute, templates []*design.Template) {
		for i, a := range attributes {
			if i < len(templates) && templates[i] != nil {
				out = append(out, keyOf{a, templates[i]})
				continue
			}
			name := a.Name
			for _, f := range p.Entity.Fields {
				if !f.Nested() && f.Attribute() == a.Name {
					name = f.Name
				}
			}
			out = append(out, keyOf{a, &design.Template{Text: "{" + name + "}", Parts: []design.Part{{Field: name}}}})
		}
	}
	add(pk, p.PK)
	add(sk, p.SK)
	return out
}

func (v *View) pattern(p explain.Pattern, month cost.Month, faults error) Pattern {
	out := Pattern{Pattern: p, Entity: v.about(p)}
	for _, m := range month.Patterns {
		if m.Name == p.Name {
			out.Rate, out.Month = m.Rate, m.Cost
		}
	}
	if runs := v.Patterns.Named(p.Name); runs != nil {
		out.Schema = runs.Schema()
		return out
	}
	out.Fault = cmp.Or(faultOf(p.Name, faults), "this pattern cannot be run")
	return out
}

// faultOf is the reason why a pattern cannot be run.
func faultOf(name string, faults error) string {
	all := []error{faults}
	if joined, is := faults.(interface{ Unwrap() []error }); is {
		all = joined.Unwrap()
	}
	for _, err := range all {
		if f, is := errors.AsType[*lower.FaultError](err); is && f.Pattern == name {
			return f.Message
		}
	}
	return ""
}

// about is the entity under which a pattern is listed.
func (v *View) about(p explain.Pattern) string {
	if r := v.Design.Read(p.Name); r != nil {
		return r.Entity
	}
	if c := v.Design.Collection(p.Name); c != nil {
		return cmp.Or(c.Root, slices.Concat(c.Of, []string{""})[0])
	}
	if w := v.Design.Write(p.Name); w != nil && len(w.Steps) > 0 {
		return w.Steps[0].Entity
	}
	return ""
}
