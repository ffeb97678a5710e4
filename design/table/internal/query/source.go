package query

import (
	"slices"
	"strconv"

	"github.com/monotable/monotable/design/table/internal/schema"
	"github.com/monotable/monotable/internal/database/dynamo/keytext"
)

// Source defines where Query reads: the common part of reads and collections.
type Source struct {
	pattern    string
	Entity     *schema.Entity // its templates make the keys
	Table      *schema.Table
	index      string
	by         []string
	pk         []schema.KeyAttribute
	SK         []schema.SortCondition
	sort       []schema.Attribute
	Reverse    bool
	consistent bool
	// Scan reads all of the place in this number of segments.
	Scan     bool
	segments int
	// over walks the partitions of periods: see schema.Read.
	over       string
	maxBuckets int
	ranged     string
	open       bool
	// Shards is the number of partitions of each period; see Walk.
	Shards int
	// composed are the attributes of all keys of the found items, with their templates.
	composed []schema.KeyAttribute
	// Positioned are the attributes that determine an item's position in a partition: the rest of the index's and the table's
	// key.
	Positioned []schema.Attribute
}

// OfRead is the source of a read.
func OfRead(r *schema.Read) *Source {
	s := &Source{
		pattern: r.Pattern, Entity: r.Entity, Table: r.Entity.Table, index: r.Place.Index, by: r.By,
		pk: r.PK, SK: r.SK, sort: r.Sort, Reverse: r.Reverse, consistent: r.Consistent, Scan: r.Scan, segments: r.Segments,
		over: r.Over, maxBuckets: r.MaxBuckets, ranged: r.Range, open: r.Open(),
	}
	s.position(r.Place)
	return s
}

// OfCollection is the source of a collection.
func OfCollection(c *schema.Collection) *Source {
	s := &Source{
		pattern: c.Pattern, Entity: c.Members[0].Entity, Table: c.Table, index: c.Index, by: c.By,
		pk: c.PK, SK: c.SK, sort: c.Sort, Reverse: c.Reverse, consistent: c.Consistent,
	}
	s.position(c.Members[0].Place)
	return s
}

// position finds the positioned attributes. The descriptor of a read has those of the index's sort key that order the result;
// the entry has all.
func (s *Source) position(p schema.Place) {
	attributes := slices.Clone(s.sort)
	s.composed, _ = s.Entity.PrimaryKey(p)
	if s.index != "" {
		if entry := s.Entity.EntryAt(p); entry != nil {
			s.composed = slices.Concat(entry.PK, entry.SK, s.composed)
			for _, a := range slices.Concat(entry.SK, entry.PK) { // only a Scan does not know those of the partition key
				attributes = append(attributes, a.Attribute)
			}
		}
	}
	attributes = append(attributes, s.Table.PK, s.Table.SK)
	for _, a := range attributes {
		met := slices.ContainsFunc(s.Positioned, func(b schema.Attribute) bool { return a.Name == b.Name })
		if a.Name != "" && !met && !s.inPartitionKey(a.Name) {
			s.Positioned = append(s.Positioned, a)
		}
	}
}

func (s *Source) inPartitionKey(attribute string) bool {
	return slices.ContainsFunc(s.pk, func(a schema.KeyAttribute) bool { return a.Name == attribute })
}

// keys reports whether the attribute is in a key of the queried table or index, so that the filter of a Query must not use it.
func (s *Source) keys(attribute string) bool {
	return s.inPartitionKey(attribute) || !s.Scan && slices.ContainsFunc(s.Positioned, func(a schema.Attribute) bool { return a.Name == attribute })
}

// Single reports whether the read is for at most one item, because the whole table key is known.
func (s *Source) Single() bool {
	return !s.Scan && s.index == "" && (s.Table.SK.Name == "" || len(s.SK) == 1 && s.SK[0].Comparison == schema.Equal)
}

// MostPeriods is the maximum number of periods that a page walks; 0 means no limit.
func (s *Source) MostPeriods() int {
	if s.open {
		return s.maxBuckets
	}
	return 0
}

// Partitions are the queried partition keys, except those of a Walk: one, or those of all shards. For a Scan there is an empty
// one for each segment.
func (s *Source) Partitions(in schema.Input) ([]schema.Item, error) {
	v := in.Values
	if s.Scan {
		return make([]schema.Item, max(s.segments, 1)), nil
	}
	var out []schema.Item
	for _, key := range s.spread(s.pk) {
		partition, err := s.Entity.KeyOf(key, v)
		if err != nil {
			return nil, err
		}
		out = append(out, partition)
	}
	return out, nil
}

// spread replaces the first part that only selects a shard by each of its shards, and repeats until there is none.
func (s *Source) spread(key []schema.KeyAttribute) [][]schema.KeyAttribute {
	for i, a := range key {
		for j, p := range a.Template {
			texts := s.shards(p)
			if texts == nil {
				continue
			}
			var out [][]schema.KeyAttribute
			for _, text := range texts {
				one := slices.Clone(key)
				one[i].Template = slices.Clone(a.Template)
				one[i].Template[j] = schema.Part{Literal: text}
				out = append(out, s.spread(one)...)
			}
			return out
		}
	}
	return [][]schema.KeyAttribute{key}
}

// shards are the texts of a part that spreads a key by a field that is not an input; nil if it does not.
func (s *Source) shards(p schema.Part) []string {
	if p.Field == "" || slices.Contains(s.by, p.Field) || s.over != "" && p.Field == s.ranged {
		return nil
	}
	at := slices.IndexFunc(p.Funcs, func(f schema.Func) bool { return f.Name == "shard" || f.Name == "mod" })
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

// Compare orders two items like the source; equal items of several partitions keep the partitions' order.
func (s *Source) Compare(a, b schema.Item) int {
	for _, key := range s.sort {
		c := schema.CompareKeys(a[key.Name], b[key.Name])
		if s.Reverse {
			c = -c
		}
		if c != 0 {
			return c
		}
	}
	return 0
}

// KeyOfItem is the position of an item as a start key.
func (s *Source) KeyOfItem(it schema.Item) schema.Item {
	key := make(schema.Item, len(s.pk)+len(s.Positioned))
	for _, a := range s.pk {
		key[a.Name] = it[a.Name]
	}
	for _, a := range s.Positioned {
		key[a.Name] = it[a.Name]
	}
	return key
}
