package verify

import (
	"maps"
	"math"
	"math/big"
	"strings"

	"github.com/monotable/monotable/internal/database/engine/catalog"
)

// The maximum total size of a key's values.
const (
	partitionKeyMax = 2048
	sortKeyMax      = 1024
)

// definition is a table's descriptor, with what follows from it for items.
type definition struct {
	*catalog.Descriptor
	types map[string]string // of the key attributes: S, N or B
}

func define(d *catalog.Descriptor) definition {
	types := map[string]string{}
	for _, a := range d.Attributes {
		types[a.Name] = a.Type
	}
	return definition{d, types}
}

// hasLocalIndex reports whether the table counts the bytes of item collections.
func (t definition) hasLocalIndex() bool {
	for _, x := range t.Indexes {
		if x.Local {
			return true
		}
	}
	return false
}

// key encodes the attributes of a key: the partition key, and what follows it. ok is false if the item cannot have such a key.
func (t definition) key(it item, elements []catalog.KeyElement) (pk, sk string, ok bool) {
	var pkBytes, skBytes int
	for _, k := range elements {
		v := it[k.Name]
		if v.kind == "" || v.kind != t.types[k.Name] || v.kind != "N" && v.text == "" {
			return "", "", false
		}
		if k.Range {
			sk += encodeKey(v)
			skBytes += v.size
		} else {
			pk += encodeKey(v)
			pkBytes += v.size
		}
	}
	return pk, sk, pkBytes <= partitionKeyMax && skBytes <= sortKeyMax
}

// itemKey returns where an item must be stored.
func (t definition) itemKey(it item) (key string, ok bool) {
	pk, sk, ok := t.key(it, t.Keys)
	return partitionKey(t.ID, 0, pk, sk), ok
}

// canHave reports whether an item of the table could have a key.
func (t definition) canHave(key string) bool {
	values, ok := strings.CutPrefix(key, dataPrefix(t.ID, 0))
	if !ok || len(values) < 2 {
		return false
	}
	pk, rest := cutKey(values[2:]) // after the hash
	sk := ""
	if len(t.Keys) > 1 {
		if sk, rest = cutKey(rest); sk == "" {
			return false
		}
	}
	return pk != "" && rest == "" && key == partitionKey(t.ID, 0, pk, sk)
}

// entryKey returns where an index must store the entry of an item; ok is false if it has none.
func (t definition) entryKey(x *catalog.IndexDescriptor, it item) (key string, ok bool) {
	pk, sk, ok := t.key(it, x.Keys)
	basePK, baseSK, based := t.key(it, t.Keys)
	if x.Vector != nil && ok {
		_, ok = vectorOf(x, it)
	}
	return partitionKey(t.ID, x.ID, pk, sk+basePK+baseSK), ok && based
}

// projection returns the expected contents of an item's entry.
func (t definition) projection(x *catalog.IndexDescriptor, it item) item {
	if x.Projection == catalog.ProjectAll && x.Vector == nil {
		return it
	}
	part := item{}
	if x.Projection == catalog.ProjectAll {
		maps.Copy(part, it)
	}
	keep := func(name string) {
		if v, there := it[name]; there {
			part[name] = v
		}
	}
	for _, k := range t.Keys {
		keep(k.Name)
	}
	for _, k := range x.Keys {
		keep(k.Name)
	}
	for _, name := range x.Included {
		keep(name)
	}
	if x.Vector != nil {
		for _, name := range x.Vector.Filters {
			keep(name)
		}
		delete(part, x.Vector.Attribute) // it is stored before the item, in its own form
	}
	return part
}

// expiry returns the first whole second at which an item is expired; ok is false if it never expires.
func (t definition) expiry(it item) (seconds int64, ok bool) {
	v := it[t.TTL.Attribute]
	if t.TTL.State != catalog.TTLEnabled && t.TTL.State != catalog.TTLEnabling || v.kind != "N" || v.text[0] == '-' {
		return 0, false
	}
	second := ceiling(v.text)
	return second.Int64(), second.Cmp(big.NewInt(math.MaxInt64)) < 0
}

// size returns the size of an item by DynamoDB's accounting.
func (it item) size() int {
	size := 0
	for name, v := range it {
		size += len(name) + v.size
	}
	return size
}
