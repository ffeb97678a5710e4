package infer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/monotable/monotable/internal/plural"
)

// entity is an entity under construction.
type entity struct {
	name    string
	kind    string // the value of the type attribute
	main    *shape
	notes   []string
	copies  []*copyDraft
	markers []*markerDraft
	fields  []*field
	entries []*entry
	volume  []string
}

// copyDraft is a copy of an entity.
type copyDraft struct {
	name    string
	shape   *shape
	fields  []string // nil for all
	entries []*entry
	note    string
}

// markerDraft is a marker of an entity.
type markerDraft struct {
	name   string
	pk, sk *template
	note   string
}

// identity are the paths of the fields in a shape's key; nil where some of it is not a field of the items.
func (s *shape) identity() []string {
	var out []string
	for _, t := range []*template{s.pk, s.sk} {
		if t == nil {
			continue
		}
		for _, p := range t.parts {
			switch {
			case p.virtual:
				return nil
			case p.path != "" && !slices.Contains(out, p.path):
				out = append(out, p.path)
			}
		}
	}
	return out
}

// relate decides which shapes are entities, and which are their copies and markers.
func (t *tableDraft) relate() {
	order := slices.Clone(t.shapes)
	weight := func(s *shape) int { return len(s.pk.fields()) + len(s.sk.fields()) }
	slices.SortStableFunc(order, func(a, b *shape) int {
		return cmp.Or(
			cmp.Compare(a.kind, b.kind), weight(a)-weight(b), len(usual(b.rows))-len(usual(a.rows)), len(b.rows)-len(a.rows))
	})
	// A marker has few attributes, unlike its entity, so shapes with many come first.
	var left []*shape
	for _, s := range order {
		if !slices.ContainsFunc(order, func(a *shape) bool { return a != s && t.markerOf(a, s) != nil }) {
			left = append(left, s)
		}
	}
	for _, s := range left {
		if !slices.ContainsFunc(t.entities, func(e *entity) bool { return t.copyOf(e, s) }) {
			t.newEntity(s)
		}
	}
	for _, s := range order {
		if s.entity != nil {
			continue
		}
		for _, e := range t.entities {
			if m := t.markerOf(e.main, s); m != nil {
				names := []string{}
				for _, other := range e.markers {
					names = append(names, other.name)
				}
				m.name = unique(&names, m.name)
				e.markers = append(e.markers, m)
				s.entity = e
				break
			}
		}
		if s.entity == nil { // a shape that is a copy has none, for example
			t.newEntity(s)
		}
	}
	slices.SortStableFunc(t.entities, func(a, b *entity) int { return cmp.Compare(a.name, b.name) })
}

func (t *tableDraft) newEntity(s *shape) {
	e := &entity{kind: s.kind, main: s}
	e.name = unique(&t.draft.entities, t.nameOf(s))
	s.entity = e
	t.entities = append(t.entities, e)
}

// nameOf derives a name from what distinguishes a shape: the model's name, the type, or the literals of the keys.
func (t *tableDraft) nameOf(s *shape) string {
	if name := pascal(s.facet); name != "" {
		return name
	}
	if name := pascal(s.kind); name != "" {
		return name
	}
	var labels []string
	for i, m := range s.marks {
		literal := pascal(m.literal)
		if m.value || literal == "" || i >= s.split && customary(m.literal) && !isLabel(s, i) || slices.Contains(labels, literal) {
			continue
		}
		labels = append(labels, literal)
	}
	if name := strings.Join(labels, ""); isName(name) {
		return name
	}
	return cmp.Or(pascal(t.Name), "Item") + "Item"
}

// pair is an item of a shape with the entity's item to which it seems to belong.
type pair struct{ of, main *row }

// join finds the items that contain the identity of others; ok is false if too few do.
func (t *tableDraft) join(main, s *shape) (pairs []pair, ok bool) {
	identity := main.identity()
	if len(identity) == 0 || main == s {
		return nil, false
	}
	by := map[string]*row{}
	for _, r := range main.rows {
		by[r.values(identity)] = r
	}
	for _, r := range s.rows {
		if key := r.values(identity); key != "" && by[key] != nil {
			pairs = append(pairs, pair{r, by[key]})
		}
	}
	if t.sampled() {
		return pairs, len(pairs) >= min(5, len(s.rows))
	}
	return pairs, len(pairs) > 0 && 5*len(pairs) >= 4*len(s.rows)
}

// sampled reports whether the table has more items than there are rows.
func (t *tableDraft) sampled() bool { return t.Total > int64(len(t.rows)) }

// values are the texts at some paths, joined; "" if one is missing.
func (r *row) values(paths []string) string {
	var out strings.Builder
	for _, path := range paths {
		l, ok := r.leaves[path]
		if !ok {
			return ""
		}
		out.WriteString(l.text + "\x00")
	}
	return out.String()
}

// data are the attributes of a shape's items other than keys, type and TTL.
func (t *tableDraft) data(s *shape) []string {
	var out []string
	for name, n := range attributes(s.rows) {
		isKey := name == t.PK.Name && !s.pk.asIs || name == t.SK.Name && (s.sk == nil || !s.sk.asIs)
		if !isKey && name != t.typeAttr && !t.madeIndexKey(name) && name != t.TTLAttr && 20*n > len(s.rows) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// copyOf makes a shape a copy of an entity, if it is one: its items have the values of the entity's, and its key contains
// all fields of the entity's key.
func (t *tableDraft) copyOf(e *entity, s *shape) bool {
	if e.kind != s.kind {
		return false
	}
	pairs, ok := t.join(e.main, s)
	own := s.identity()
	for _, path := range e.main.identity() {
		ok = ok && slices.Contains(own, path)
	}
	if !ok {
		return false
	}
	data, all := t.data(s), t.data(e.main)
	shared, equal := 0, 0
	for _, name := range data {
		if !slices.Contains(all, name) {
			return false
		}
		if slices.Contains(e.main.identity(), name) {
			continue
		}
		shared++
		same := 0
		for _, p := range pairs {
			if reflect.DeepEqual(p.of.item[name], p.main.item[name]) {
				same++
			}
		}
		if 10*same < 7*len(pairs) {
			return false
		}
		equal += same
	}
	needed := 1
	if e.kind == "" {
		needed = 2
	}
	if shared < needed || 10*equal < 9*shared*len(pairs) {
		return false
	}
	c := &copyDraft{shape: s, note: fmt.Sprintf("guess: %d of %s have the item with the same key fields", len(pairs), plural.Of(len(s.rows), "copy"))}
	c.note = strings.Replace(c.note, "copys", "copies", 1)
	if equal < shared*len(pairs) {
		c.note += "; monotable conform shows where the two differ"
	}
	if len(data) < len(all) {
		c.fields = data
	}
	c.name = "by" + cmp.Or(pascal(s.marks[0].literal), "Copy")
	var names []string
	for _, other := range e.copies {
		names = append(names, other.name)
	}
	c.name = unique(&names, c.name)
	e.copies = append(e.copies, c)
	s.entity = e
	return true
}

// markerOf returns a shape as a marker of an entity with the main shape: it leads from a value to the entity's item, and
// contains nothing else; nil if it does not.
func (t *tableDraft) markerOf(main, s *shape) *markerDraft {
	if s.kind != "" && s.kind != main.kind || len(s.rows) > len(main.rows) {
		return nil
	}
	pairs, ok := t.join(main, s)
	if !ok {
		return nil
	}
	identity := main.identity()
	m := &markerDraft{pk: t.through(s.pk, s, pairs), sk: t.through(s.sk, s, pairs)}
	if m.pk == nil || s.sk != nil && m.sk == nil {
		return nil
	}
	for _, one := range []*template{m.pk, m.sk} {
		if one != nil && slices.ContainsFunc(one.parts, func(p part) bool { return p.path != "" && !takes(p.funcs, t.typeAt(main, p.path)) }) {
			return nil
		}
	}
	key := slices.Concat(m.pk.fields(), m.sk.fields())
	if !slices.ContainsFunc(identity, func(path string) bool { return !slices.Contains(key, path) }) {
		return nil // its key identifies the item: it is not another way to it
	}
	i := slices.IndexFunc(key, func(path string) bool { return !slices.Contains(identity, path) })
	if i < 0 {
		return nil
	}
	known := t.data(main)
	for _, name := range t.data(s) {
		if !slices.Contains(identity, name) && !slices.Contains(key, name) || !slices.Contains(known, name) {
			return nil
		}
		for _, p := range pairs {
			if !reflect.DeepEqual(p.of.item[name], p.main.item[name]) && !t.sampled() && len(pairs) < 20 {
				return nil
			}
		}
	}
	m.name = cmp.Or(pascal(shownPath(key[i])), "Unique")
	m.note = fmt.Sprintf("guess: %s lead to an item", t.share(len(pairs), len(s.rows)))
	return m
}

// through is a marker's template, with fields of the entity's item for parts that the marker does not have; nil if there
// are none either.
func (t *tableDraft) through(of *template, s *shape, pairs []pair) *template {
	if of == nil || !slices.ContainsFunc(of.parts, func(p part) bool { return p.virtual }) {
		return of
	}
	out := &template{attribute: of.attribute, notes: slices.Clone(of.notes)}
	at := map[*row]int{}
	for i, r := range s.rows {
		at[r] = i
	}
	for _, p := range of.parts {
		if p.virtual {
			c := column{label: p.label}
			for _, pair := range pairs {
				c.rows = append(c.rows, pair.main)
				c.texts = append(c.texts, p.texts[at[pair.of]])
			}
			found, notes := t.partOf(Key{of.attribute, "S"}, c, false, nil)
			if found == nil {
				return nil
			}
			p = *found
			out.notes = append(append(out.notes, notes...), "the markers themselves have no "+shownPath(p.path))
		}
		out.parts = append(out.parts, p)
	}
	return out
}
