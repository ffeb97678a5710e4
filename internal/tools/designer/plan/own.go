package plan

import (
	"slices"

	"github.com/monotable/monotable/design"
)

// Own reports whether a field is an identifier unique to each item: a generated kind of ID that is not the ID of another
// entity with several such items.
func Own(d *design.Design, e *design.Entity, f *design.Field) bool {
	switch f.Type.Kind {
	case design.KindUUID, design.KindULID, design.KindKSUID:
	default:
		return false
	}
	key := KeyFields(e)
	if !slices.Contains(key, f.Name) {
		return false
	}
	for _, other := range d.Entities {
		theirs := KeyFields(other)
		if other == e || !slices.Contains(theirs, f.Name) || len(theirs) >= len(key) || Belongs(d, other, e) {
			continue
		}
		if !slices.ContainsFunc(theirs, func(t string) bool { return !slices.Contains(key, t) }) {
			return false
		}
	}
	return true
}

// Belongs reports whether the volume of an entity is per item of another, directly or indirectly.
func Belongs(d *design.Design, e, to *design.Entity) bool {
	for range d.Entities {
		if e = d.Entity(e.Volume.Per); e == nil {
			return false
		}
		if e == to {
			return true
		}
	}
	return false
}
