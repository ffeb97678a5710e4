// Package traffic finds the patterns of a design to which a request to DynamoDB belongs.
//
// # Model
//
//	design ──plan──▶ ways: the requests that each pattern sends, with the languages of their keys
//	request ──decode──▶ the keys and conditions in it ──ways──▶ the patterns that fit best, or none
//
// A request fits a pattern if it could have been sent for it: the same operation, table and index, key values that the
// pattern's templates can render, key conditions of the same form, and for writes, the same items, changed fields and
// constants. Requests that a pattern sends besides its main one (the items behind an index, the item before a write) fit if no
// main request does.
//
// # Invariants
//
//	T1  A request that generated code sends for a pattern fits that pattern, unless it is not the main request and is the main
//	    request of another. It may fit several, if they send the same request.
//	T2  Statements of PartiQL fit no pattern.
//
// A Matcher is immutable and safe for concurrent use.
package traffic

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Matcher has the requests of a design's patterns.
type Matcher struct {
	design *design.Design
	shapes []shape
	places []keyed // of all entities in their tables
}

// shape describes a request that a pattern sends.
type shape struct {
	pattern string
	// fit returns how closely a request fits, 0 if it does not.
	fit func(*request) int
}

// Closeness. A main request is closer than any that a pattern sends besides it.
const (
	beside = 1
	main   = 10
)

// New prepares a design. Patterns that no key serves have no requests.
func New(d *design.Design) *Matcher {
	m := &Matcher{design: d}
	for _, e := range d.Entities {
		for _, p := range plan.Places(d, e) {
			if p.Index == nil {
				m.places = append(m.places, m.keyedAt(p))
			}
		}
	}
	for _, r := range d.Reads {
		m.read(r)
	}
	for _, c := range d.Collections {
		m.collection(c)
	}
	for _, w := range d.Writes {
		m.write(w)
	}
	return m
}

// Match says to which patterns a request belongs.
type Match struct {
	// Patterns are in the order of the design; several if they send the same request.
	Patterns []string
	// Shape describes a request without patterns, otherwise it is nil. UnknownItems is the number of items that such a request
	// puts or updates and whose key belongs to no entity.
	Shape        *Shape
	UnknownItems int
}

// Match compares a request with the patterns. tables maps names in the design to the tables' own names. input is the JSON of the
// operation.
func (m *Matcher) Match(tables map[string]string, operation string, input []byte) Match {
	r := m.decode(tables, operation, input)
	var out Match
	best := 1
	for _, w := range m.shapes {
		switch fit := w.fit(r); {
		case fit < best:
		case fit > best:
			best, out.Patterns = fit, []string{w.pattern}
		case !slices.Contains(out.Patterns, w.pattern):
			out.Patterns = append(out.Patterns, w.pattern)
		}
	}
	if len(out.Patterns) > 0 {
		return out
	}
	out.Shape = r.shape()
	for i := range r.writes {
		t := &r.writes[i]
		known := slices.ContainsFunc(m.places, func(k keyed) bool { return k.holds(t.table, t.item) })
		if t.table != nil && !known && (t.action == put || t.action == update) {
			out.UnknownItems++
		}
	}
	return out
}

// keyed is a table or index with the possible keys in it.
type keyed struct {
	table  *design.Table
	index  string // "" for the table
	pk, sk []keyAttribute
}

// keyAttribute is an attribute of a key with its texts.
type keyAttribute struct {
	name  string
	kind  design.KeyType
	texts *keylang.Language // nil for any
}

// keyedAt returns the keys at a place.
func (m *Matcher) keyedAt(p plan.Place) keyed {
	pk, sk := p.Attributes()
	out := keyed{table: p.Table, pk: m.attributes(p.Entity, pk, p.PK), sk: m.attributes(p.Entity, sk, p.SK)}
	if p.Index != nil {
		out.index = p.Index.Name
	}
	return out
}

func (m *Matcher) attributes(e *design.Entity, attributes []design.KeyAttribute, templates []*design.Template) []keyAttribute {
	out := make([]keyAttribute, len(attributes))
	for i, a := range attributes {
		out[i] = keyAttribute{name: a.Name, kind: a.Type}
		if i < len(templates) && templates[i] != nil {
			out[i].texts = m.language(e, templates[i].Parts, a.Type)
		}
	}
	return out
}

// language returns the possible texts of parts of a template, nil for any text.
func (m *Matcher) language(e *design.Entity, parts []design.Part, kind design.KeyType) *keylang.Language {
	if len(parts) == 0 {
		return nil
	}
	t, err := keylang.OfTemplate(m.design, e, &design.Template{Parts: parts}, kind)
	if err != nil {
		return nil
	}
	l := t.Language()
	return &l
}

// has reports whether a value is possible in the attribute.
func (a keyAttribute) has(v attr.Value) bool {
	return v.Kind().String() == string(a.kind) && (a.texts == nil || a.texts.Contains(v.Text()))
}

// holds reports whether an item, or a key, has the key.
func (k keyed) holds(of *design.Table, it attr.Item) bool {
	if of != k.table {
		return false
	}
	for _, a := range slices.Concat(k.pk, k.sk) {
		if v, there := it.Get(a.name); !there || !a.has(v) {
			return false
		}
	}
	return true
}
