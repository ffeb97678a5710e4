// Package catalog keeps the definitions of tables and indexes: their stored form, a cache of them, and
// the changes of their life cycle.
package catalog

import (
	"github.com/monotable/monotable/internal/dynamo/attr"
	"github.com/monotable/monotable/internal/storage/keyenc"
)

// KeyAttribute is an attribute that is part of a key.
type KeyAttribute struct {
	Name string
	Kind attr.Kind // KindString, KindNumber or KindBinary
}

// Table is one version of a table's definition. It is immutable: a change makes a new one with the next
// Version. What only the control plane needs (billing, tags, stream, times …) is added by its owner.
type Table struct {
	ID      keyenc.TableID
	Name    string
	Version uint64
	PK      KeyAttribute
	SK      KeyAttribute // Name is "" for a table without sort key
	Indexes []*Index
	// TTLAttribute is the attribute that holds the expiry time while TTL is enabled, else "".
	TTLAttribute string
	OnDemand     bool
}

// IndexKind tells a local from a global secondary index.
type IndexKind uint8

// The kinds.
const (
	Global IndexKind = iota
	Local
)

// Index is one secondary index.
type Index struct {
	ID   keyenc.IndexID
	Name string
	Kind IndexKind
	PK   []KeyAttribute // 1 to 4; a local index has the table's
	SK   []KeyAttribute // 0 to 4; a local index has 1
	// All is true for projection ALL. Otherwise Projected holds every attribute name that an entry
	// carries, sorted: index keys, table keys, and the included ones.
	All       bool
	Projected []string
	// Readable is false until the backfill of a new index has ended, and while it is being deleted.
	Readable bool
	// Maintained is false once the index is being deleted: writes no longer keep it.
	Maintained bool
}

// Index returns the index of that name, nil where there is none.
func (t *Table) Index(name string) *Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}
