// Package cost estimates what a design's patterns and data cost on DynamoDB, from the volumes and rates that it
// declares.
//
// # Rules
//
// They are AWS's (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html):
// a read rounds the sum of what a request touches up to 4 KB, half of that where it is eventually consistent,
// double in a transaction. A write rounds each item up to 1 KB, double in a transaction, a condition check
// included. An index entry that is added, removed or updated is one more write of its own size, two where its key
// changes, none where nothing of it changes, and not doubled by transactions. Expiry costs nothing.
//
// An estimate is as good as the volumes: sizes are typical ones, and a page is taken to be full.
package cost

import (
	"math"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

const (
	readUnitBytes  = 4 << 10
	writeUnitBytes = 1 << 10
)

// Read is the cost of one call of a read.
type Read struct {
	Units float64 // read request units
	Items float64 // how many items a call returns
	// Evaluated is how many items a call touches, more than Items where a filter drops some.
	Evaluated float64
}

// OfRead estimates one call of a planned read.
func OfRead(d *design.Design, r plan.Result) Read {
	p := r.Plan
	size := float64(SizeAt(p.Place))
	items := itemsOf(d, r.Read)
	evaluated := items
	if p.Operation == plan.Scan {
		evaluated = math.Max(Items(d, p.Place.Entity), items)
		size = float64(ItemSize(p.Place.Entity))
	}
	factor := 0.5
	if p.Consistent && !p.Place.Global() {
		factor = 1
	}
	units := math.Max(1, math.Ceil(evaluated*size/readUnitBytes)) * factor * float64(p.Fanout)
	if len(p.Hydrate) > 0 {
		units += items * ceilUnits(ItemSize(p.Place.Entity), readUnitBytes) * factor
	}
	return Read{Units: units, Items: items, Evaluated: evaluated}
}

// itemsOf is how many items a call returns: one, the limit, the page, or what there is.
func itemsOf(d *design.Design, r *design.Read) float64 {
	e := d.Entity(r.Entity)
	bound := float64(max(r.Limit, r.Page))
	switch {
	case !r.Many:
		return 1
	case bound > 0:
		if typical := e.Volume.Typical; e.Volume.Per != "" && typical > 0 && r.Limit == 0 {
			return math.Min(bound, math.Max(1, typical))
		}
		return bound
	case e.Volume.Typical > 0:
		return e.Volume.Typical
	default:
		return 1
	}
}

// OfCollection estimates one call of a planned collection.
func OfCollection(d *design.Design, p plan.CollectionPlan) Read {
	bytes, items := 0.0, 0.0
	for _, m := range p.Members {
		n := 1.0
		if m.Entity.Name != p.Collection.Root && m.Entity.Volume.Typical > 0 {
			n = m.Entity.Volume.Typical
		}
		bytes, items = bytes+n*float64(SizeAt(m)), items+n
	}
	factor := 0.5
	if p.Collection.Consistent {
		factor = 1
	}
	return Read{Units: math.Max(1, math.Ceil(bytes/readUnitBytes)) * factor * float64(p.Fanout), Items: items, Evaluated: items}
}

// Write is the cost of one call of a write, in write request units: a fixed part and one for each line.
type Write struct {
	Fixed, PerLine float64
	Lines          float64 // how many lines a call usually has
	Parts          []WritePart
}

// Units of a call with the usual number of lines.
func (w Write) Units() float64 { return w.Fixed + w.PerLine*w.Lines }

// WritePart is the share of one item, or one index entry.
type WritePart struct {
	Place plan.Place
	Each  bool
	Units float64
}

// linesDefault is taken where a design does not say how many lines a write usually has.
const linesDefault = 3

// OfWrite estimates one call of a planned write.
func OfWrite(p plan.WritePlan) Write {
	out := Write{}
	if l := p.Write.Lines; l != nil {
		if out.Lines = l.Typical; out.Lines == 0 {
			out.Lines = linesDefault
		}
	}
	factor := 1.0
	if p.Transaction() {
		factor = 2
	}
	for _, item := range p.Items {
		out.Parts = append(out.Parts, WritePart{item.Place, item.Each, ceilUnits(SizeAt(item.Place), writeUnitBytes) * factor})
		for _, entry := range item.Entries {
			units := ceilUnits(SizeAt(entry.Place), writeUnitBytes)
			switch entry.Effect {
			case plan.EntryUntouched:
				continue
			case plan.EntryMoved:
				units *= 2
			default:
			}
			out.Parts = append(out.Parts, WritePart{entry.Place, item.Each, units})
		}
	}
	for _, part := range out.Parts {
		if part.Each {
			out.PerLine += part.Units
		} else {
			out.Fixed += part.Units
		}
	}
	return out
}

func ceilUnits(bytes, unit int) float64 { return math.Max(1, math.Ceil(float64(bytes)/float64(unit))) }
