package derive

import (
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/vector"
)

// SetVector sets e to the entry of a stored item of table t in the vector index x, reusing e's memory. ok is false, and e
// undefined, if the item is not in the index: it is nil, lacks the vector or the partition key, or has values there that do not
// fit. New items of the last kind are rejected (FirstVectorFault, FirstInvalidKey); older ones stay out of the index.
func (e *Entry) SetVector(t *catalog.Table, x *catalog.Index, stored itemenc.Item) (ok bool, err error) {
	if stored == nil {
		return false, nil
	}
	v, found, err := stored.Lookup(x.Vector.Attribute)
	if err != nil || !found {
		return false, err
	}
	if e.Value, ok, err = vector.Append(e.Value[:0], v, x.Vector.Dimensions); err != nil || !ok {
		return false, err
	}
	if e.Key, ok, err = AppendEntryKey(e.Key[:0], t, x, stored); err != nil || !ok {
		return false, err
	}
	if x.All {
		e.Value, err = stored.Replace(e.Value, []string{x.Vector.Attribute}, nil)
	} else {
		e.Value, err = stored.Project(e.Value, x.Projected)
	}
	if err != nil {
		return false, err
	}
	components, projected, err := vector.Split(e.Value, x.Vector.Dimensions)
	e.Size = len(x.Vector.Attribute) + len(components) + projected.Size()
	return err == nil, err
}

// FirstVectorFault returns the first vector index by name whose attribute has a value that is not a valid vector; x is nil if
// there is none.
func FirstVectorFault(t *catalog.Table, of Attributes) (x *catalog.Index, fault vector.Fault, err error) {
	for _, other := range t.Indexes {
		if other.Vector == nil || !other.Maintained || x != nil && other.Name > x.Name {
			continue
		}
		v, err := of(other.Vector.Attribute)
		if err != nil {
			return nil, fault, err
		}
		if v.IsZero() {
			continue
		}
		if f := vector.Check(v, other.Vector.Dimensions); f.Kind != vector.NoFault {
			x, fault = other, f
		}
	}
	return x, fault, nil
}
