package design

import (
	"reflect"
	"slices"

	"github.com/monotable/monotable/design/internal/syntax"
)

// FateKind is what erasing a person does to an item.
type FateKind string

// The fates.
const (
	FateDelete FateKind = "delete" // the item is deleted
	FateExpire FateKind = "expire" // the item stays until its TTL removes it
	FateKeep   FateKind = "keep"   // the item stays, without what Set and Remove replace
)

// Fate says what happens to an entity's items when the person to whom a field refers is erased.
type Fate struct {
	Field string   `json:"field"`
	Do    FateKind `json:"do"`
	// Reason is the reason why items are kept.
	Reason string `json:"reason,omitempty"`
	// Set replaces fields of kept items, Remove removes optional ones.
	Set    []*Assignment `json:"set,omitempty"`
	Remove []string      `json:"remove,omitempty"`
	Pos    Pos           `json:"-"`
}

// Changes reports whether kept items change.
func (f *Fate) Changes() bool { return len(f.Set)+len(f.Remove) > 0 }

// Releases reports whether a kept item no longer refers to the person.
func (f *Fate) Releases() bool {
	return slices.Contains(f.Remove, f.Field) || slices.ContainsFunc(f.Set, func(a *Assignment) bool { return a.Field == f.Field })
}

// Fate returns the declared fate of items in which a field refers to the person, or nil if there is none.
func (e *Entity) Fate(field string) *Fate {
	return find(e.Personal, func(f *Fate) bool { return f.Field == field })
}

// fateShape is a word, or a map with a reason.
type fateShape struct {
	Do     text        `yaml:"-" words:"delete expires"`
	Keep   text        `yaml:"keep"`
	Set    assignShape `yaml:"set"`
	Remove []text      `yaml:"remove"`
	Pos    Pos
}

func (f *fateShape) fromNode(d *syntax.Decoder, n *syntax.Node) {
	if n.Kind == syntax.MapNode {
		d.Members(n, reflect.ValueOf(f).Elem())
		return
	}
	f.Do.fromNode(d, n)
}

func (r *resolver) fate(in namedEntry[fateShape]) *Fate {
	s := in.value
	f := &Fate{Field: in.name, Set: r.assignments(s.Set), Remove: r.texts(s.Remove), Pos: in.pos}
	const words = "use delete, expires, or { keep: \"why\", set: …, remove: … }"
	switch s.Do.value {
	case "delete":
		f.Do = FateDelete
	case "expires":
		f.Do = FateExpire
	case "":
		f.Do = FateKeep
		r.put(&f.Reason, s.Keep)
		if !s.Keep.given() {
			r.Hint(in.pos, words, "keep needs a reason why the items in which %s identifies a person are kept", in.name)
		}
	default:
		r.Hint(s.Do.pos, words, "unknown value %q", s.Do.value)
	}
	return f
}

// persons checks the declarations about people's items.
func (c *checker) persons() {
	d := c.design
	if d.Person != "" && !slices.ContainsFunc(d.Entities, func(e *Entity) bool { return e.Field(d.Person) != nil }) {
		c.Hint(c.At(&d.Person, Pos{Line: 1, Column: 1}), "name a field, such as userId", "no entity has the person's field %q", d.Person)
	}
	for _, e := range d.Entities {
		if f := e.Field(d.Person); f != nil && f.Type.Key() != KeyString {
			c.Hint(f.Pos, "use id, uuid, ulid, ksuid, slug, email or text", "field %s identifies a person and cannot have type %s", f.Name, f.Type)
		}
		taken := set{}
		for _, f := range e.Personal {
			if d.Person == "" {
				c.Hint(f.Pos, "add person: userId at the top", "the design does not say which field identifies a person")
				return
			}
			if taken[f.Field] {
				c.Fault(f.Pos, "%s.%s is listed twice", e.Name, f.Field)
			}
			taken[f.Field] = true
			c.fate(e, f)
		}
	}
}

func (c *checker) fate(e *Entity, f *Fate) {
	if c.whole || f.Do != "" {
		c.word((*string)(&f.Do), f.Pos, string(FateDelete), string(FateExpire), string(FateKeep))
	}
	named := c.field(e, f.Field, f.Pos)
	switch {
	case f.Do == FateExpire && e.TTL == nil:
		c.Hint(f.Pos, "add ttl: { attr: expiresAt, after: 24h }, or use delete", "%s has no ttl, so its items do not expire", e.Name)
	case f.Do != FateKeep && f.Changes():
		c.Fault(f.Pos, "set and remove can only be used with keep")
	case f.Do == FateKeep && f.Reason == "":
		c.missing(f.Pos, "keep needs a reason why the items in which %s identifies a person are kept", f.Field)
	case f.Changes() && named != nil && !named.Type.Scalar():
		c.Fault(f.Pos, "field %s has type %s: items cannot be found by the person in it", f.Field, named.Type)
	}
	key := slices.Concat(fieldsOf(e.Key.PK), fieldsOf(e.Key.SK))
	changed := slices.Clone(f.Remove)
	for _, a := range f.Set {
		changed = append(changed, a.Field)
		if a.Value == nil {
			continue
		}
		for _, t := range a.Value.Terms {
			if t.Kind != ConstantTerm && t.Kind != NewIDTerm && t.Kind != NowTerm {
				c.Hint(c.Source.Within(a.Value.Pos, a.Value.Text, t.At), "use a constant, newID() or now()", "erasing a person has no parameters and reads no fields")
				return
			}
		}
	}
	for _, path := range changed {
		if slices.Contains(key, Root(path)) {
			c.Hint(f.Pos, "use delete, or keep the item unchanged", "field %s is in the key of %s and cannot change", Root(path), e.Name)
			return
		}
	}
	c.assignments(&Write{}, e, &Step{Action: Update, Entity: e.Name, Set: f.Set, Remove: f.Remove, Pos: f.Pos}, paramsOnly)
}
