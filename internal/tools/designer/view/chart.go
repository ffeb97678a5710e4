package view

import (
	"cmp"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
)

const samplesMax = 3

// Chart counts items of a table by entity and location. The charts of parts of a table add up to that of the whole.
type Chart struct {
	Items int `json:"items"`
	Bytes int `json:"bytes"`
	// Kinds are the entities' items at each of their places; items without an entity come last, without a name.
	Kinds []*Kind `json:"kinds"`
	// Partitions are those of the table and of each of its indexes.
	Partitions []*Partition `json:"partitions"`
}

// Kind counts items of one entity, at one place, in the table or in one index.
type Kind struct {
	Entity  string              `json:"entity"`
	Place   string              `json:"place"`
	Index   string              `json:"index,omitempty"`
	Items   int                 `json:"items"`
	Bytes   int                 `json:"bytes"`
	Samples []map[string]string `json:"samples"` // keys: attribute and text
}

// Partition is a partition key value. An index entry is counted with the size of its whole item, although the index may
// contain less.
type Partition struct {
	Index string `json:"index,omitempty"`
	Key   string `json:"key"`
	Items int    `json:"items"`
	Bytes int    `json:"bytes"`
}

// Chart counts items of a table.
func (v *View) Chart(in *design.Table, items []table.Item) *Chart {
	c := &counter{kinds: map[[3]string]*Kind{}, partitions: map[[2]string]*Partition{}}
	out := &Chart{Items: len(items), Kinds: []*Kind{}, Partitions: []*Partition{}}
	keys := []design.KeyAttribute{in.PK}
	if in.SK != nil {
		keys = append(keys, *in.SK)
	}
	for _, it := range items {
		size := sdk.Item(it).Size()
		out.Bytes += size
		m := v.Meaning(in, "", it)
		c.add(m, "", keys, 1, it, size)
		for _, x := range in.Indexes {
			pk := x.PK
			if x.Local {
				pk = []design.KeyAttribute{in.PK}
			}
			c.add(m, x.Name, slices.Concat(pk, x.SK), len(pk), it, size)
		}
	}
	for _, k := range c.kinds {
		out.Kinds = append(out.Kinds, k)
	}
	slices.SortFunc(out.Kinds, func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Entity, b.Entity), cmp.Compare(a.Place, b.Place))
	})
	for _, p := range c.partitions {
		out.Partitions = append(out.Partitions, p)
	}
	slices.SortFunc(out.Partitions, func(a, b *Partition) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Index, b.Index), cmp.Compare(a.Key, b.Key))
	})
	return out
}

type counter struct {
	kinds      map[[3]string]*Kind
	partitions map[[2]string]*Partition
}

// add counts an item in the table, or in an index if it has all of the index's key attributes.
func (c *counter) add(m Meaning, index string, keys []design.KeyAttribute, partitionKeys int, it table.Item, size int) {
	sample, partition := map[string]string{}, ""
	for i, k := range keys {
		text, there := textOf(it[k.Name])
		if !there {
			return
		}
		sample[k.Name] = text
		if i < partitionKeys {
			if i > 0 {
				partition += " · "
			}
			partition += text
		}
	}
	id := [3]string{index, m.Entity, m.Place}
	kind := c.kinds[id]
	if kind == nil {
		kind = &Kind{Entity: m.Entity, Place: m.Place, Index: index}
		c.kinds[id] = kind
	}
	kind.Items++
	kind.Bytes += size
	if len(kind.Samples) < samplesMax {
		kind.Samples = append(kind.Samples, sample)
	}
	p := c.partitions[[2]string{index, partition}]
	if p == nil {
		p = &Partition{Index: index, Key: partition}
		c.partitions[[2]string{index, partition}] = p
	}
	p.Items++
	p.Bytes += size
}
