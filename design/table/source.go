package table

import (
	"slices"
	"strconv"

	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// source is where Query looks: what reads and collections have in common.
type source struct {
	pattern    string
	entity     *Entity // whose templates the keys' are
	table      *Table
	index      string
	by         []string
	pk         []KeyAttribute
	sk         []SortCondition
	sort       []Attribute
	reverse    bool
	consistent bool
	// made are the attributes of all keys that what is found has, with their templates.
	made []KeyAttribute
	// positioned are the attributes that say where in a partition an item stands: the rest of the index's and the
	// table's key.
	positioned []Attribute
}

func sourceOfRead(r *Read) *source {
	s := &source{
		pattern: r.Pattern, entity: r.Entity, table: r.Entity.Table, index: r.Place.Index, by: r.By,
		pk: r.PK, sk: r.SK, sort: r.Sort, reverse: r.Reverse, consistent: r.Consistent,
	}
	s.position(r.Place)
	return s
}

func sourceOfCollection(c *Collection) *source {
	s := &source{
		pattern: c.Pattern, entity: c.Members[0].Entity, table: c.Table, index: c.Index, by: c.By,
		pk: c.PK, sk: c.SK, sort: c.Sort, reverse: c.Reverse, consistent: c.Consistent,
	}
	s.position(c.Members[0].Place)
	return s
}

// position finds the positioned attributes. The descriptor of a read has those of the index's sort key that order the
// answer; the entry has all.
func (s *source) position(p Place) {
	attributes := slices.Clone(s.sort)
	s.made, _ = s.entity.primaryKey(p)
	if s.index != "" {
		if entry := s.entity.entry(p); entry != nil {
			s.made = slices.Concat(entry.PK, entry.SK, s.made)
			for _, a := range entry.SK {
				attributes = append(attributes, a.Attribute)
			}
		}
	}
	attributes = append(attributes, s.table.PK, s.table.SK)
	for _, a := range attributes {
		met := slices.ContainsFunc(s.positioned, func(b Attribute) bool { return a.Name == b.Name })
		if a.Name != "" && !met && !s.inPartitionKey(a.Name) {
			s.positioned = append(s.positioned, a)
		}
	}
}

func (s *source) inPartitionKey(attribute string) bool {
	return slices.ContainsFunc(s.pk, func(a KeyAttribute) bool { return a.Name == attribute })
}

// keys reports whether the attribute is in a key of what is queried, so that no filter of a request may name it.
func (s *source) keys(attribute string) bool {
	return s.inPartitionKey(attribute) || slices.ContainsFunc(s.positioned, func(a Attribute) bool { return a.Name == attribute })
}

// single reports whether at most one item is asked for: all of the table's key is known.
func (s *source) single() bool {
	return s.index == "" && (s.table.SK.Name == "" || len(s.sk) == 1 && s.sk[0].Comparison == Equal)
}

// partitions are the partition keys that are asked: one, or those of all shards.
func (s *source) partitions(v Values) ([]Item, error) {
	var out []Item
	for _, key := range s.spread(s.pk) {
		partition, err := s.entity.keyOf(key, v)
		if err != nil {
			return nil, err
		}
		out = append(out, partition)
	}
	return out, nil
}

// spread replaces the first part that only chooses a shard by each of its shards, and so on until there is none.
func (s *source) spread(key []KeyAttribute) [][]KeyAttribute {
	for i, a := range key {
		for j, p := range a.Template {
			texts := s.shards(p)
			if texts == nil {
				continue
			}
			var out [][]KeyAttribute
			for _, text := range texts {
				one := slices.Clone(key)
				one[i].Template = slices.Clone(a.Template)
				one[i].Template[j] = Part{Literal: text}
				out = append(out, s.spread(one)...)
			}
			return out
		}
	}
	return [][]KeyAttribute{key}
}

// shards are the texts of a part that spreads a key by a field that is no input; nil where it does not.
func (s *source) shards(p Part) []string {
	if p.Field == "" || slices.Contains(s.by, p.Field) {
		return nil
	}
	at := slices.IndexFunc(p.Funcs, func(f Func) bool { return f.Name == "shard" })
	if at < 0 {
		return nil
	}
	n, _ := strconv.Atoi(p.Funcs[at].Arg) // |shard(auto) is one partition
	var out []string
	for i := range max(n, 1) {
		text, err := strconv.Itoa(i), error(nil)
		for _, f := range p.Funcs[at+1:] {
			if text, err = keytext.Apply(f.Name, f.Arg, text); err != nil {
				break // no item can be there
			}
		}
		if err == nil && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}

// compare orders two items as the source does; items of several partitions that are equal keep the partitions' order.
func (s *source) compare(a, b Item) int {
	for _, key := range s.sort {
		c := compareKeys(a[key.Name], b[key.Name])
		if s.reverse {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// keyOfItem is where an item stands, as a start key says it.
func (s *source) keyOfItem(it Item) Item {
	key := make(Item, len(s.pk)+len(s.positioned))
	for _, a := range s.pk {
		key[a.Name] = it[a.Name]
	}
	for _, a := range s.positioned {
		key[a.Name] = it[a.Name]
	}
	return key
}
