package migrate

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/align"
	"github.com/monotable/monotable/internal/tools/designer/check"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Refusal is a change that cannot be made while programs write, with advice.
type Refusal struct {
	Subject string     `json:"subject"`
	Problem string     `json:"problem"`
	Remedy  string     `json:"remedy"`
	Pos     design.Pos `json:"pos,omitzero"` // in the new design; zero if the object was removed
}

// merger makes a transition design: the patterns, keys and names of one design, over the items of both.
type merger struct {
	first, other *design.Design
	extra        string // suffix for names of the other design that the first uses for something else
	refusals     []Refusal
	out          *design.Design
}

// The suffixes for names of the other design that the first uses for something else.
const (
	suffixNew = "New"
	suffixOld = "Old"
)

// transition returns the design whose items serve both designs and whose patterns are the first's. What only the other
// design has is added: its fields as optional ones, its copies, markers, index entries and indexes, and its key as a copy
// with all fields. The suffix distinguishes the other's names where the first uses them for something else.
func transition(first, other *design.Design, suffix string) (*design.Design, []Refusal, error) {
	out := *first
	m := &merger{first: first, other: other, extra: suffix, out: &out}
	out.Source = nil
	out.Tables = merged(first.Tables, other.Tables, func(t *design.Table) string { return t.Name }, m.table)
	out.Enums = merged(first.Enums, other.Enums, func(e *design.Enum) string { return e.Name }, m.enum)
	out.Structs = merged(first.Structs, other.Structs, func(s *design.Struct) string { return s.Name }, m.structure)
	out.Entities = merged(first.Entities, other.Entities, func(e *design.Entity) string { return e.Name }, m.entity)
	m.pin()
	if len(m.refusals) > 0 {
		return nil, m.refusals, nil
	}
	data, err := out.JSON()
	if err != nil {
		return nil, nil, err
	}
	created, err := design.ParseJSON("transition.json", data)
	if err != nil {
		return nil, nil, err
	}
	m.sound(created)
	return created, m.refusals, nil
}

// merged is the first list, with objects in both joined, followed by those that only the other has.
func merged[T any](first, other []*T, name func(*T) string, join func(a, b *T) *T) []*T {
	find := func(list []*T, want string) *T {
		i := slices.IndexFunc(list, func(x *T) bool { return name(x) == want })
		if i < 0 {
			return nil
		}
		return list[i]
	}
	var out []*T
	for _, a := range first {
		if b := find(other, name(a)); b != nil {
			a = join(a, b)
		}
		out = append(out, a)
	}
	for _, b := range other {
		if find(first, name(b)) == nil {
			out = append(out, b)
		}
	}
	return out
}

func (m *merger) refuse(subject string, p design.Pos, problem, remedy string) {
	m.refusals = append(m.refusals, Refusal{subject, problem, remedy, p})
}

// table joins two tables. Changes that are impossible while programs write were rejected before; see refusals.
func (m *merger) table(a, b *design.Table) *design.Table {
	out := *a
	out.TypeAttr, out.TTLAttr, out.Stream = cmp.Or(a.TypeAttr, b.TypeAttr), cmp.Or(a.TTLAttr, b.TTLAttr), cmp.Or(a.Stream, b.Stream)
	out.Indexes = merged(a.Indexes, b.Indexes, func(x *design.Index) string { return x.Name }, func(x, _ *design.Index) *design.Index { return x })
	return &out
}

func (m *merger) enum(a, b *design.Enum) *design.Enum {
	out := *a
	for _, v := range b.Values {
		if !slices.Contains(out.Values, v) {
			out.Values = append(slices.Clone(out.Values), v)
		}
	}
	return &out
}

func (m *merger) structure(a, b *design.Struct) *design.Struct {
	out := *a
	out.Fields = m.fields(a.Fields, b.Fields)
	return &out
}

// fields are those of the first design, and those that only the other has, which become optional: the first's programs do
// not know them, so their items may lack them.
func (m *merger) fields(a, b []*design.Field) []*design.Field {
	out := merged(a, b, func(f *design.Field) string { return f.Name }, func(x, y *design.Field) *design.Field {
		both := *x
		both.Optional = x.Optional || y.Optional && m.older()
		return &both
	})
	for i, f := range out {
		if !slices.ContainsFunc(a, func(x *design.Field) bool { return x.Name == f.Name }) {
			optional := *f
			optional.Optional = optional.Type.Kind != design.KindSet && optional.Type.Kind != design.KindList && optional.Type.Kind != design.KindMap
			out[i] = &optional
		}
	}
	return out
}

// older reports whether the first design is the older one, whose programs read what the newer one's write.
func (m *merger) older() bool { return m.extra == suffixNew }

func (m *merger) entity(a, b *design.Entity) *design.Entity {
	out := *a
	out.TypeValue = cmp.Or(a.TypeValue, b.TypeValue)
	out.Fields = m.fields(a.Fields, b.Fields)
	out.Copies, out.Entries, out.Unique, out.Counters = slices.Clone(a.Copies), slices.Clone(a.Entries), slices.Clone(a.Unique), slices.Clone(a.Counters)
	names := m.taken(a, b)
	renamed := map[string]string{}
	if !align.SameKey(a.Key, b.Key) {
		moved := &design.Copy{Name: fresh(names, "key"+m.extra), Key: b.Key, All: true, Pos: b.Pos}
		renamed[""], out.Copies = moved.Name, append(out.Copies, moved)
	}
	for _, c := range b.Copies {
		own := a.Copy(c.Name)
		switch {
		case own == nil:
			out.Copies = append(out.Copies, c)
		case align.SameKey(own.Key, c.Key):
			both := *own
			both.All = own.All || c.All
			both.Fields = union(own.Fields, c.Fields)
			if both.All {
				both.Fields = nil
			}
			out.Copies[slices.Index(out.Copies, own)] = &both
		default:
			another := *c
			another.Name = fresh(names, c.Name+m.extra)
			renamed[c.Name], out.Copies = another.Name, append(out.Copies, &another)
		}
	}
	for _, x := range b.Entries {
		of := x.Of
		if name := renamed[x.Of]; name != "" {
			of = name
		}
		if slices.ContainsFunc(out.Entries, func(e *design.Entry) bool { return e.Place() == x.Place() && e.Of == of }) {
			continue // the same: a different one was rejected before
		}
		another := *x
		another.Of = of
		out.Entries = append(out.Entries, &another)
	}
	for _, u := range b.Unique {
		own := a.Marker(u.Name)
		if own != nil && align.SameKey(own.Key, u.Key) {
			continue
		}
		another := *u
		if own != nil {
			another.Name = fresh(names, u.Name+m.extra)
		}
		out.Unique = append(out.Unique, &another)
	}
	for _, c := range b.Counters {
		if !slices.ContainsFunc(a.Counters, func(own *design.Counter) bool { return own.Field == c.Field }) {
			out.Counters = append(out.Counters, c)
		}
	}
	if out.TTL == nil {
		out.TTL = b.TTL
	}
	return &out
}

// taken are the names of an entity's places in either design.
func (m *merger) taken(entities ...*design.Entity) map[string]bool {
	names := map[string]bool{"key": true}
	for _, t := range slices.Concat(m.first.Tables, m.other.Tables) {
		for _, x := range t.Indexes {
			names[x.Name] = true
		}
	}
	for _, e := range entities {
		for _, c := range e.Copies {
			names[c.Name] = true
		}
		for _, u := range e.Unique {
			names[u.Name] = true
		}
	}
	return names
}

func fresh(names map[string]bool, name string) string {
	for names[name] {
		name += "X"
	}
	names[name] = true
	return name
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, name := range b {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// pin makes each pattern name the place that serves it in the first design, so that none is served by a place that is not
// complete yet, or no longer complete.
func (m *merger) pin() {
	reads := slices.Clone(m.out.Reads)
	for i, r := range reads {
		if p := plan.ForRead(m.first, r).Plan; p.Operation != plan.Scan && r.Via == "" {
			pinned := *r
			pinned.Via = p.Place.Name
			reads[i] = &pinned
		}
	}
	m.out.Reads = reads
	collections := slices.Clone(m.out.Collections)
	for i, c := range collections {
		if p := plan.ForCollection(m.first, c); len(p.Members) > 0 && c.Via == "" {
			pinned := *c
			pinned.Via = "key"
			if x := p.Members[0].Index; x != nil {
				pinned.Via = x.Name
			}
			collections[i] = &pinned
		}
	}
	m.out.Collections = collections
}

// sound rejects a transition whose keys can collide although those of neither design can, and one in which another place
// would serve a pattern. The key of the other design, kept as a copy, need not identify an item: it does so in that design.
func (m *merger) sound(created *design.Design) {
	known := map[[2]string]bool{}
	for _, d := range []*design.Design{m.first, m.other} {
		for _, f := range check.Check(d) {
			known[[2]string{f.Rule, f.Subject}] = true
		}
	}
	for _, f := range check.Check(created) {
		collides := slices.Contains([]string{"ST101", "ST102", "ST107", "ST108", "ST110"}, f.Rule)
		if collides && !f.Unidentified && f.Severity == check.Error && !known[[2]string{f.Rule, f.Subject}] {
			m.refuse(f.Subject, design.Pos{}, "items of both designs cannot share a table: "+f.Message, "give the new keys a prefix that the old ones do not have")
		}
	}
	for i, r := range created.Reads {
		was, is := plan.ForRead(m.first, m.first.Reads[i]).Plan, plan.ForRead(created, r).Plan
		if was.Operation != is.Operation || !samePlace(was.Place, is.Place) {
			m.refuse(r.Name, r.Pos, "while both designs are in use, it would be read from another place", "name the place to read with via")
		}
	}
}

func samePlace(a, b plan.Place) bool {
	name := func(p plan.Place) string {
		if p.Copy == nil {
			return ""
		}
		return p.Copy.Name
	}
	return a.Kind == b.Kind && a.Name == b.Name && name(a) == name(b)
}

// alike compares two parts of designs, ignoring their positions in the text.
func alike[T any](a, b T) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}
