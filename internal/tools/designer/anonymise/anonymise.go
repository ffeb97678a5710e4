// Package anonymise replaces the addresses and secrets in items of a design, so that a copy of real tables can be given to
// developers.
//
// Every value of a field of type email or secret, at any depth, is replaced by a pseudonym, a keyed hash of the value.
// Equal values get equal pseudonyms, and keys, index keys, copies and markers are rendered again from them. All other
// fields are kept. Attributes without a field are omitted, because their content is unknown, and items that match no
// entity are errors.
//
// An Anonymiser is safe for concurrent use.
package anonymise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
)

const (
	email  table.Kind = "email"
	secret table.Kind = "secret"
	// emailDomain is reserved by RFC 2606: mail sent there reaches no one.
	emailDomain = "@example.com"
)

// Anonymiser replaces values in items of a design's tables.
type Anonymiser struct {
	tables []tableOf

	mu      sync.Mutex
	leftOut map[string]bool
}

type tableOf struct {
	name     string
	physical *regexp.Regexp
	literal  int // bytes of the physical name outside of placeholders
	ttl      string
	entities []*table.Entity
}

// New prepares the entities of a design.
func New(d *design.Design) *Anonymiser {
	// The checker reports patterns that cannot be run; they do not matter for items.
	program, _ := lower.Lower(d)
	a := &Anonymiser{leftOut: map[string]bool{}}
	for i, t := range d.Tables {
		one := tableOf{name: t.Name, ttl: program.Tables[i].TTLAttr}
		one.physical, one.literal = pattern(t.Physical)
		for j, e := range d.Entities {
			if e.Table == t.Name {
				one.entities = append(one.entities, program.Entities[j])
			}
		}
		a.tables = append(a.tables, one)
	}
	return a
}

var placeholder = regexp.MustCompile(`\\\{[^{}]*\\\}`)

// pattern matches the names that a physical name with placeholders can become.
func pattern(physical string) (_ *regexp.Regexp, literal int) {
	quoted := regexp.QuoteMeta(physical)
	return regexp.MustCompile("^" + placeholder.ReplaceAllString(quoted, ".+") + "$"), len(placeholder.ReplaceAllString(quoted, ""))
}

// Covers reports whether the design has a table with that name.
func (a *Anonymiser) Covers(name string) bool { return a.table(name) != nil }

// table returns the table with a name. Of several that a name could be, it has the most specific pattern: shop-audit-prod is not the
// stage audit-prod of shop-{stage} if there is a shop-audit-{stage}.
func (a *Anonymiser) table(name string) (found *tableOf) {
	for i := range a.tables {
		switch t := &a.tables[i]; {
		case t.name == name:
			return t
		case t.physical.MatchString(name) && (found == nil || t.literal > found.literal):
			found = t
		}
	}
	return found
}

// Item returns an item of a table with pseudonyms, which depend on the seed.
func (a *Anonymiser) Item(seed []byte, tableName string, it table.Item) (table.Item, error) {
	t := a.table(tableName)
	if t == nil {
		return nil, fmt.Errorf("the design has no table %s", tableName)
	}
	e, place, values := table.Recognize(t.entities, it)
	if e == nil {
		return nil, fmt.Errorf("item %s matches no entity of the design, so its personal data is unknown; \"monotable conform\" lists such items", a.key(t, it))
	}
	changed := maps.Clone(values)
	for i := range e.Fields {
		if f := &e.Fields[i]; values[f.Name] != nil {
			changed[f.Name] = a.value(seed, &f.Type, f.MinBytes, f.MaxBytes, values[f.Name], e.Name+"."+f.Name)
		}
	}
	out, err := itemAt(e, place, changed)
	if err != nil {
		return nil, fmt.Errorf("the item %s: %w", a.key(t, it), err)
	}
	if t.ttl != "" && it[t.ttl] != nil && out[t.ttl] == nil {
		out[t.ttl] = it[t.ttl]
	}
	for name := range it {
		if out[name] == nil {
			a.leaveOut(name)
		}
	}
	return out, nil
}

func itemAt(e *table.Entity, p table.Place, v table.Values) (table.Item, error) {
	if p.Kind != table.MarkerPlace {
		return e.ItemAt(p, v)
	}
	i := slices.IndexFunc(e.Markers, func(m table.Marker) bool { return m.Name == p.Marker })
	return e.MarkerItem(&e.Markers[i], v)
}

// LeftOut lists the attributes that belong to no field and were omitted from items.
func (a *Anonymiser) LeftOut() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Sorted(maps.Keys(a.leftOut))
}

func (a *Anonymiser) leaveOut(name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leftOut[name] = true
}

// value replaces the pseudonymous parts of a value; path names it.
func (a *Anonymiser) value(seed []byte, t *table.Type, least, most int, v types.AttributeValue, path string) types.AttributeValue {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		if t.Kind == email {
			return &types.AttributeValueMemberS{Value: "u" + pseudonym(seed, strings.ToLower(v.Value))[:16] + emailDomain}
		}
		if t.Kind == secret {
			return &types.AttributeValueMemberS{Value: fit(pseudonym(seed, v.Value)[:32], v.Value, least, most)}
		}
	case *types.AttributeValueMemberSS:
		if t.Elem != nil {
			set := make([]string, len(v.Value))
			for i, s := range v.Value {
				set[i] = a.value(seed, t.Elem, 0, 0, &types.AttributeValueMemberS{Value: s}, path).(*types.AttributeValueMemberS).Value //nolint:forcetypeassert // a text becomes a text
			}
			slices.Sort(set)
			return &types.AttributeValueMemberSS{Value: slices.Compact(set)} // addresses that differ only in case become one
		}
	case *types.AttributeValueMemberL:
		if t.Elem != nil {
			list := make([]types.AttributeValue, len(v.Value))
			for i := range v.Value {
				list[i] = a.value(seed, t.Elem, 0, 0, v.Value[i], path)
			}
			return &types.AttributeValueMemberL{Value: list}
		}
	case *types.AttributeValueMemberM:
		return &types.AttributeValueMemberM{Value: a.members(seed, t, v.Value, path)}
	}
	return v
}

// members replaces the members of a map, or the fields of a structure.
func (a *Anonymiser) members(seed []byte, t *table.Type, in table.Item, path string) table.Item {
	out := table.Item{}
	switch {
	case t.Fields != nil:
		for i := range *t.Fields {
			f := &(*t.Fields)[i]
			if v := at(in, f.Path); v != nil {
				lower.Put(out, f.Path, a.value(seed, &f.Type, f.MinBytes, f.MaxBytes, v, path+"."+f.Name))
			}
		}
		for name := range in {
			if out[name] == nil {
				a.leaveOut(path + "." + name)
			}
		}
	case t.Elem != nil:
		for name, v := range in {
			out[name] = a.value(seed, t.Elem, 0, 0, v, path)
		}
	default:
		return in
	}
	return out
}

// at is the value at a path, or nil if there is none.
func at(m table.Item, path []string) types.AttributeValue {
	v := m[path[0]]
	if len(path) == 1 {
		return v
	}
	inner, is := v.(*types.AttributeValueMemberM)
	if !is {
		return nil
	}
	return at(inner.Value, path[1:])
}

// pseudonym is a keyed hash in 64 hexadecimal digits.
func pseudonym(seed []byte, s string) string {
	h := hmac.New(sha256.New, seed)
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}

// fit adjusts a pseudonym to the length that its field allows; an empty value stays empty.
func fit(s, original string, least, most int) string {
	if original == "" {
		return ""
	}
	for len(s) < least {
		s += s
	}
	if limit := max(least, 32); len(s) > limit {
		s = s[:limit]
	}
	if most > 0 && len(s) > most {
		s = s[:most]
	}
	return s
}

// key describes an item in messages: only the names of its key attributes, because the values may be personal.
func (a *Anonymiser) key(t *tableOf, it table.Item) string {
	return fmt.Sprintf("of %s with the attributes %s", t.name, strings.Join(slices.Sorted(maps.Keys(it)), ", "))
}
