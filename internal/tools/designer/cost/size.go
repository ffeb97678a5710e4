package cost

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// itemOverhead is what DynamoDB adds to the stored bytes of each item and each entry.
const itemOverhead = 100

// sizeDefault is the size of an item if the design does not declare one.
const sizeDefault = 400

// ItemSize is the typical size of an entity's item in bytes.
func ItemSize(e *design.Entity) int {
	if e.Volume.Size > 0 {
		return e.Volume.Size
	}
	return sizeDefault
}

// SizeAt is the typical size of what is found at a place. If the place has only some of the fields, it is their share
// of the item's size, weighted by the typical sizes of their types.
func SizeAt(p plan.Place) int { return shareAt(p, ItemSize(p.Entity)) }

// largestAt is the same for the largest item.
func largestAt(p plan.Place) int { return shareAt(p, p.Entity.Volume.MaxSize) }

func shareAt(p plan.Place, size int) int {
	whole, part := 0, 0
	for _, f := range p.Entity.Fields {
		n := FieldSize(f)
		whole += n
		if p.Has(f.Name) {
			part += n
		}
	}
	if whole == 0 || part == whole {
		return size
	}
	return max(size*part/whole, 40)
}

// FieldSize is the typical size of a field in bytes: its name and a typical value.
func FieldSize(f *design.Field) int { return len(f.Path[len(f.Path)-1]) + typicalBytes(f.Type) }

// typicalBytes is the typical size of a value of a type.
func typicalBytes(t design.Type) int {
	switch t.Kind {
	case design.KindUUID:
		return 36
	case design.KindULID, design.KindKSUID:
		return 26
	case design.KindTime, design.KindEmail:
		return 24
	case design.KindText:
		return 40
	case design.KindSecret:
		return 60
	case design.KindBool:
		return 1
	case design.KindInt, design.KindMoney, design.KindTTL:
		return 5
	case design.KindStruct, design.KindList, design.KindSet, design.KindMap:
		return 100
	default:
		return 12
	}
}

// WriteUnits is the cost of one write at each of the places, outside transactions.
func WriteUnits(places []plan.Place) float64 {
	units := 0.0
	for _, p := range places {
		units += ceilUnits(float64(SizeAt(p)), writeUnitBytes) * p.Part()
	}
	return units
}

// Items is the typical number of items of an entity.
func Items(d *design.Design, e *design.Entity) float64 {
	return count(d, e, nil, func(v design.Volume) float64 { return v.Typical })
}

// count follows the chain of per. An entity that is per itself, directly or indirectly, has no number.
func count(d *design.Design, e *design.Entity, seen []string, each func(design.Volume) float64) float64 {
	switch {
	case e == nil || slices.Contains(seen, e.Name):
		return 0
	case e.Volume.Per == "":
		return e.Volume.Count
	default:
		return each(e.Volume) * count(d, d.Entity(e.Volume.Per), append(seen, e.Name), each)
	}
}
