package derive

import (
	"github.com/monotable/monotable/internal/database/dynamo/itemenc"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/vector"
)

// SetVector makes e the entry of a stored item of table t in the vector index x, in the memory that e has. It is not ok, and
// e undefined, where the item is not in the index: it is nil, lacks the vector or the partition key, or holds values there
// that do not fit. New items of the last sort are refused (FirstVectorFault, FirstMisfit); older ones stay outside.
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

// FirstVectorFault finds the vector index, the first by name, whose attribute holds a value that is no vector for it; x is
// nil where there is none.
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
