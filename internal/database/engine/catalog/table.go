package catalog

import (
	"slices"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// KeyAttribute is an attribute that is part of a key.
type KeyAttribute struct {
	Name string
	Kind attr.Kind // KindString, KindNumber or KindBinary
}

// Table is one version of a table's definition, in the form the data plane needs. It is immutable: a change creates a new one
// with the next Version.
type Table struct {
	ID      keyenc.TableID
	Name    string
	Version uint64
	PK      KeyAttribute
	SK      KeyAttribute // Name is "" for a table without a sort key
	Indexes []*Index
	// TTLAttribute is the attribute with the expiry time while TTL is enabled, else "".
	TTLAttribute string
	OnDemand     bool
	Insights     InsightsMode // "" if contributor insights are not enabled
	Enforcement  Enforcement
	// Replica is the Region of the table if it is one of several replicas, whose items have versions; else "".
	Replica string
	// Legacy is true for a replica of version 2017.11.29, whose items have replication attributes.
	Legacy bool
	// Strong is true for a replica of a global table with multi-Region strong consistency.
	Strong bool
	// Descriptor is the full definition; read only.
	Descriptor *Descriptor

	stored     []byte // the stored descriptor
	versionKey []byte
}

// VersionKey returns the key that guards the table's definition: every write checks it. The caller must not modify it.
func (t *Table) VersionKey() []byte { return t.versionKey }

// EnforcementTag is the tag whose value, true or false, determines whether the capacity of a table is enforced.
const EnforcementTag = "monotable:enforce-capacity"

// Enforcement is the meaning of the tag.
type Enforcement uint8

// The enforcements.
const (
	EnforcedByDefault Enforcement = iota // as configured for the database
	Enforced
	NotEnforced
)

// Enforcement returns the meaning of the table's tag; values other than true and false are ignored.
func (d *Descriptor) Enforcement() Enforcement {
	for _, tag := range d.Tags {
		switch {
		case tag.Key != EnforcementTag:
		case tag.Value == "true":
			return Enforced
		case tag.Value == "false":
			return NotEnforced
		}
	}
	return EnforcedByDefault
}

// IndexKind distinguishes the kinds of indexes.
type IndexKind uint8

// The kinds.
const (
	Global IndexKind = iota
	Local
	Vector
)

// VectorSettings are the settings that only vector indexes have.
type VectorSettings struct {
	Attribute  string // contains the vectors
	Dimensions int
	Function   string
	Filters    []KeyAttribute // inline filters
}

// Index is one index.
type Index struct {
	ID   keyenc.IndexID
	Name string
	Kind IndexKind
	PK   []KeyAttribute // 1 to 4; a local index has the table's, a vector index may have none
	SK   []KeyAttribute // 0 to 4; a local index has 1
	// All is true for projection ALL. Otherwise Projected is the sorted list of all attributes in an entry: index keys, table
	// keys, and the included ones. The attribute of a vector index is in neither: its entries have the vector in a form of its
	// own.
	All       bool
	Projected []string
	Vector    *VectorSettings // nil unless it is a vector index
	// Readable is false until the backfill of a new index is complete, and while the index is being deleted. An index that is
	// maintained but not readable may lack entries of old items.
	Readable bool
	// Maintained is false once the index is being deleted: writes no longer update it.
	Maintained bool
	Insights   InsightsMode // "" if contributor insights are not enabled
}

// Index returns the index with a name, or nil.
func (t *Table) Index(name string) *Index {
	for _, x := range t.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// HasKey reports whether name is a key attribute of the table itself.
func (t *Table) HasKey(name string) bool {
	return name != "" && (name == t.PK.Name || name == t.SK.Name)
}

// HasIndexKey reports whether name is a key attribute of an index of the table.
func (t *Table) HasIndexKey(name string) bool {
	named := func(k KeyAttribute) bool { return k.Name == name }
	return slices.ContainsFunc(t.Indexes, func(x *Index) bool {
		return x.Maintained && (slices.ContainsFunc(x.PK, named) || slices.ContainsFunc(x.SK, named))
	})
}

// IndexByID returns the index with an id, or nil.
func (t *Table) IndexByID(id keyenc.IndexID) *Index {
	for _, x := range t.Indexes {
		if x.ID == id {
			return x
		}
	}
	return nil
}

// HasLocalIndex reports whether the table has an index with the table's partition key. Such a table counts the bytes of item
// collections.
func (t *Table) HasLocalIndex() bool {
	return slices.ContainsFunc(t.Indexes, func(x *Index) bool { return x.Kind == Local })
}

// TableOf builds the table of a descriptor that is not, or no longer, in the catalog.
func TableOf(d *Descriptor) *Table { return newTable(d) }

// newTable derives the data plane's view of a descriptor.
func newTable(d *Descriptor) *Table {
	kinds := make(map[string]attr.Kind, len(d.Attributes))
	for _, a := range d.Attributes {
		kinds[a.Name] = attr.KindOf(a.Type)
	}
	t := &Table{
		ID:           d.ID,
		Name:         d.Name,
		Version:      d.Version,
		TTLAttribute: d.TTL.maintained(),
		OnDemand:     d.Billing.OnDemand,
		Insights:     d.Insights.active(),
		Enforcement:  d.Enforcement(),
		Descriptor:   d,
		versionKey:   keyenc.TableVersion(d.ID),
	}
	if d.Replicates() {
		t.Replica, t.Legacy = d.Global.Region, d.Legacy()
	}
	t.Strong = d.IsReplica() && d.Global.Strong
	pk, sk := splitKeys(d.Keys, kinds)
	t.PK = pk[0]
	if len(sk) > 0 {
		t.SK = sk[0]
	}
	t.Indexes = make([]*Index, len(d.Indexes))
	for i := range d.Indexes {
		t.Indexes[i] = newIndex(d, &d.Indexes[i], kinds)
	}
	return t
}

func newIndex(d *Descriptor, x *IndexDescriptor, kinds map[string]attr.Kind) *Index {
	out := &Index{
		ID:         x.ID,
		Name:       x.Name,
		Kind:       Global,
		All:        x.Projection == ProjectAll,
		Readable:   x.State == IndexActive,
		Maintained: x.State != IndexDeleting,
		Insights:   x.Insights.active(),
	}
	if x.Local {
		out.Kind = Local
	}
	out.PK, out.SK = splitKeys(x.Keys, kinds)
	if !out.All {
		out.Projected = projected(d, x)
	}
	if v := x.Vector; v != nil {
		out.Kind = Vector
		out.Vector = &VectorSettings{Attribute: v.Attribute, Dimensions: v.Dimensions, Function: v.Function}
		for _, name := range v.Filters {
			out.Vector.Filters = append(out.Vector.Filters, KeyAttribute{Name: name, Kind: kinds[name]})
		}
	}
	return out
}

// projected returns the names of the attributes in the entries of an index, sorted.
func projected(d *Descriptor, x *IndexDescriptor) (names []string) {
	for _, keys := range [2][]KeyElement{d.Keys, x.Keys} {
		for _, k := range keys {
			names = append(names, k.Name)
		}
	}
	names = append(names, x.Included...)
	if x.Vector != nil {
		names = append(names, x.Vector.Filters...)
		names = slices.DeleteFunc(names, func(name string) bool { return name == x.Vector.Attribute })
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func splitKeys(keys []KeyElement, kinds map[string]attr.Kind) (pk, sk []KeyAttribute) {
	for _, k := range keys {
		a := KeyAttribute{Name: k.Name, Kind: kinds[k.Name]}
		if k.Range {
			sk = append(sk, a)
		} else {
			pk = append(pk, a)
		}
	}
	return pk, sk
}
