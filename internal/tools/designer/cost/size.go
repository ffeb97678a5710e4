package cost

import (
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// itemOverhead is what DynamoDB counts for each item, and each entry, beside its bytes, in storage.
const itemOverhead = 100

// sizeDefault stands for an item whose size the design does not say.
const sizeDefault = 400

// ItemSize is the typical size of an entity's item in bytes.
func ItemSize(e *design.Entity) int {
	if e.Volume.Size > 0 {
		return e.Volume.Size
	}
	return sizeDefault
}

// SizeAt is the typical size of what is found at a place. Of a place that has only some of the fields it is the share
// that those have of the item, by what values of their types usually take.
func SizeAt(p plan.Place) int { return shareAt(p, ItemSize(p.Entity)) }

// largestAt is the same of the largest item.
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

// FieldSize is what a field usually takes in bytes: its name and a typical value.
func FieldSize(f *design.Field) int { return len(f.Path[len(f.Path)-1]) + typicalBytes(f.Type) }

// typicalBytes is what a value of a type usually takes.
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

// WriteUnits are what one write at each of the places takes, outside transactions.
func WriteUnits(places []plan.Place) float64 {
	units := 0.0
	for _, p := range places {
		units += ceilUnits(float64(SizeAt(p)), writeUnitBytes) * p.Part()
	}
	return units
}

// Items is how many items of an entity there are, typically.
func Items(d *design.Design, e *design.Entity) float64 {
	return count(d, e, nil, func(v design.Volume) float64 { return v.Typical })
}

// count follows the chain of per. An entity that is per itself, by whatever way, has no number.
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
