package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// The maximum length of key attributes in DynamoDB:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html
const (
	partitionKeyBytesMax = 2048
	sortKeyBytesMax      = 1024
)

// keyed is a place with the languages of its key templates. Places with invalid templates are left out.
type keyed struct {
	plan.Place
	pk, sk []keylang.Template
}

// key returns the languages of all key attributes.
func (k keyed) key() []keylang.Template { return slices.Concat(k.pk, k.sk) }

// languages returns the places of all entities with their languages.
func (c *checker) languages() []keyed {
	if c.places != nil {
		return c.places
	}
	for _, e := range c.design.Entities {
		for _, p := range plan.Places(c.design, e) {
			if k, ok := c.languagesOf(p); ok {
				c.places = append(c.places, k)
			}
		}
	}
	return c.places
}

func (c *checker) languagesOf(p plan.Place) (keyed, bool) {
	k := keyed{Place: p}
	pk, sk := p.Attributes()
	for _, side := range []struct {
		templates  []*design.Template
		attributes []design.KeyAttribute
		out        *[]keylang.Template
	}{{p.PK, pk, &k.pk}, {p.SK, sk, &k.sk}} {
		for i, t := range side.templates {
			l, err := keylang.OfTemplate(c.design, p.Entity, t, side.attributes[i].Type)
			if err != nil {
				return k, false // reported as ST103, ST402 or by the loader
			}
			*side.out = append(*side.out, l)
		}
	}
	return k, true
}

// keys checks the key rules, ST1xx, except ST104, which is checked with the writes, and ST105, with the reads that need
// an order.
func (c *checker) keys() {
	for _, e := range c.design.Entities {
		for _, p := range plan.Places(c.design, e) {
			if p.Undeclared {
				continue // it shares the templates of other places
			}
			c.fields(p)
			c.letterCase(p)
			c.room(p)
		}
		c.formats(e)
	}
	all := c.languages()
	clashes := map[string]bool{}
	for i, k := range all {
		c.ambiguous(k)
		c.identifies(k)
		c.lengths(k)
		for _, other := range all[:i] {
			if !c.collide(other, k) {
				c.clash(clashes, other, k)
			}
		}
	}
}

// fields checks ST103.
func (c *checker) fields(p plan.Place) {
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, name := range t.Fields() {
			f := p.Entity.Field(name)
			switch {
			case f == nil:
				c.find("ST103", p.String(), t.Pos, "the key %q uses %q, but %s has no such field", t.Text, name, p.Entity.Name).report()
			case f.Optional && p.Kind != plan.EntryPlace: // for entries, see ST409
				c.find("ST103", p.String(), t.Pos, "the key %q uses %s, which may be absent", t.Text, name).
					fix("make %s required, or use another field in the key", name).report()
			}
		}
	}
}

// letterCase checks ST106.
func (c *checker) letterCase(p plan.Place) {
	for _, t := range slices.Concat(p.PK, p.SK) {
		for _, part := range t.Parts {
			f := p.Entity.Field(part.Field)
			if f == nil || f.Type.Kind != design.KindEmail {
				continue
			}
			if !slices.ContainsFunc(part.Funcs, func(f design.Func) bool { return f.Name == "lower" || f.Name == "fold" || f.Name == "slug" }) {
				c.find("ST106", p.String(), t.Pos, "uses the address %s in its key without normalising its case: Ana@example.com and ana@example.com are two keys", f.Name).
					fix("{%s|lower}", f.Name).report()
			}
		}
	}
}

// separators are the characters commonly used between the parts of a key.
const separators = "#-_:/|."

// formats checks ST109: the same field after prefixes that differ only in case or separators, or an identifier that is
// bare in a shared index but prefixed elsewhere.
func (c *checker) formats(e *design.Entity) {
	seen := map[string]string{} // field → prefix where it first occurs
	for _, p := range plan.Places(c.design, e) {
		if p.Undeclared {
			continue
		}
		for _, t := range slices.Concat(p.PK, p.SK) {
			for i, part := range t.Parts {
				f := e.Field(part.Field)
				if f == nil || len(part.Funcs) > 0 {
					continue
				}
				prefix := ""
				if i > 0 {
					prefix = strings.TrimLeft(t.Parts[i-1].Literal, separators)
				}
				if prefix == "" && len(t.Parts) > 1 {
					continue // a part of a longer key
				}
				before, known := seen[part.Field]
				if !known {
					seen[part.Field] = prefix
					continue
				}
				bare := prefix == "" && meaning(f.Type) == string(design.KindID) && c.shares(p)
				alike := prefix != "" && strings.EqualFold(strings.TrimRight(prefix, separators), strings.TrimRight(before, separators))
				if prefix != before && (bare || alike) {
					c.find("ST109", p.String(), t.Pos, "writes %q before %s, but %q elsewhere", prefix, part.Field, before).
						fix("use the same form in all keys").report()
				}
			}
		}
	}
}

// shares reports whether other entities have entries in a place's index.
func (c *checker) shares(p plan.Place) bool {
	return p.Index != nil && slices.ContainsFunc(c.design.Entities, func(e *design.Entity) bool {
		return e != p.Entity && e.Table == p.Entity.Table && e.Entry(p.Index.Name) != nil
	})
}

// ambiguous checks ST102 for primary keys and for partition keys of indexes.
func (c *checker) ambiguous(k keyed) {
	key := k.key()
	if k.Undeclared {
		return // no read uses the item there
	}
	if k.Kind == plan.EntryPlace {
		key = k.pk
	}
	a, found := keylang.Ambiguous(key...)
	if !found {
		return
	}
	f := c.find("ST102", k.String(), k.PK[0].Pos, "two different items can have the same key: %s", strings.Join(texts(k.Place), " / ")).
		fix("separate the fields with a literal that neither can contain, or use fixed-width types (uuid, ulid) or |pad(n)")
	if len(a.First) > 0 {
		f.witness(fmt.Sprintf("%s and %s both render %s", values(a.First), values(a.Second), quoted(a.Key)))
	}
	f.unless(a.Certain).report()
}

func texts(p plan.Place) []string {
	var out []string
	for _, t := range slices.Concat(p.PK, p.SK) {
		out = append(out, t.Text)
	}
	return out
}

func values(list []keylang.Value) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprintf("%s=%q", v.Name, v.Text)
	}
	return "(" + strings.Join(parts, " ") + ")"
}

func quoted(key []string) string {
	parts := make([]string, len(key))
	for i, k := range key {
		parts[i] = fmt.Sprintf("%q", k)
	}
	return strings.Join(parts, " / ")
}

// lengths checks ST107 and ST108.
func (c *checker) lengths(k keyed) {
	partition, sort := k.Attributes()
	attributes := slices.Concat(partition, sort)
	for i, t := range k.key() {
		most, what := partitionKeyBytesMax, "partition key"
		template := slices.Concat(k.PK, k.SK)[i]
		if i >= len(k.pk) {
			most, what = sortKeyBytesMax, "sort key"
		}
		l := t.Language()
		if n, bounded := l.MaxBytes(); bounded && n > most {
			c.find("ST107", k.String(), template.Pos, "the %s %s can be %d bytes long, and DynamoDB allows %d", what, attributes[i].Name, n, most).
				fix("limit its fields with { type: text, max: … }, or use |first(n) or |hash(n)").report()
		}
		if l.MinBytes() == 0 && l.Type() != design.KeyNumber {
			c.find("ST108", k.String(), template.Pos, "the %s %s = %q can be an empty string: DynamoDB then rejects the whole write", what, attributes[i].Name, template.Text).
				fix("give %s min: 1, or start the key with a literal", strings.Join(template.Fields(), " or ")).report()
		}
	}
}
