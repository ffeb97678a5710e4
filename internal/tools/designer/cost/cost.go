// Package cost estimates what a design's patterns and data cost on DynamoDB, from the volumes and rates that it declares.
//
// # Rules
//
// The rules are AWS's (https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html): a read
// rounds the total size of the items it touches up to 4 KB; eventually consistent reads cost half, transactional reads double.
// A write rounds each item up to 1 KB, and costs double in a transaction, condition checks included. Adding, removing or
// updating an index entry is one more write of the entry's size, two if its key changes, none if nothing in it changes;
// transactions do not double it. Expiry is free. An upsert is priced as an update of an existing item, because an upserted
// item is created once and updated from then on; the bounds cover the first call.
//
// An estimate is as good as the declared volumes: sizes are typical sizes, and pages are assumed to be full. Each estimate
// comes with a lower bound, for a call that finds nothing, and an upper bound if the design declares the largest items and
// their maximum number.
package cost

import (
	"math"
	"slices"

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
	// Floor and Ceiling are the minimum and maximum cost of a call; 0 if the design does not say.
	Floor, Ceiling float64
	Items          float64 // number of items a call returns
	// PerKey is the cost of one of many keys; a call has Items of them. Whole is the cost of reading everything that a Scan
	// covers; a call reads a part of it.
	PerKey, Whole float64
}

// OfRead estimates one call of a planned read.
func OfRead(d *design.Design, r plan.Result) Read {
	p := r.Plan
	switch p.Operation {
	case plan.BatchGetItem:
		return ofKeys(r)
	case plan.Scan:
		return ofScan(d, r)
	default:
	}
	size := float64(SizeAt(p.Place))
	items, hot := itemsOf(d, r.Read), hotItemsOf(d, r.Read)
	factor := factorOf(p)
	fan := factor * float64(p.Fanout)
	if p.Over != "" {
		return ofWalk(r, items, size, fan)
	}
	out := Read{Units: ceilUnits(items*size, readUnitBytes) * fan, Floor: fan, Items: items}
	share := p.Place.Entity.Volume.Hottest
	if hot > items {
		out.Units = exact((1-share)*out.Units + share*ceilUnits(hot*size, readUnitBytes)*fan)
		out.Items = (1-share)*items + share*hot
	}
	if most := mostOf(d, r.Read, p); most > 0 {
		out.Ceiling = ceilUnits(most*float64(largestAt(p.Place)), readUnitBytes) * fan
	}
	if len(p.Hydrate) > 0 {
		out.Units += out.Items * ceilUnits(float64(ItemSize(p.Place.Entity)), readUnitBytes) * factor
		out.Ceiling += mostOf(d, r.Read, p) * ceilUnits(float64(p.Place.Entity.Volume.MaxSize), readUnitBytes) * factor
	}
	return out
}

// factorOf is the factor by which a plan's consistency multiplies the cost of a read unit.
func factorOf(p *plan.Plan) float64 {
	if p.Consistent && !p.Place.Global() {
		return 1
	}
	return 0.5
}

// ofWalk estimates a call that walks from bucket to bucket until it has enough items: each bucket is a request, which costs a
// unit even if it finds nothing.
func ofWalk(r plan.Result, items, size, fan float64) Read {
	buckets := 1.0
	out := Read{Floor: fan, Items: items}
	if b := r.Read.Buckets; b != nil {
		buckets = math.Max(1, b.Typical)
		if v := r.Plan.Place.Entity.Volume; v.MaxSize > 0 && r.Read.Page+r.Read.Limit > 0 {
			most := float64(max(r.Read.Page, r.Read.Limit))
			out.Ceiling = (float64(b.Max) + ceilUnits(most*float64(largestAt(r.Plan.Place)), readUnitBytes)) * fan
		}
	}
	out.Units = buckets * ceilUnits(items/buckets*size, readUnitBytes) * fan
	return out
}

// ofKeys estimates a call with the usual number of keys. Each item is rounded up separately.
func ofKeys(r plan.Result) Read {
	p, keys := r.Plan, float64(linesDefault)
	factor := factorOf(p)
	out := Read{PerKey: ceilUnits(float64(SizeAt(p.Place)), readUnitBytes) * factor, Floor: factor}
	most := ceilUnits(float64(largestAt(p.Place)), readUnitBytes) * factor
	if len(p.Hydrate) > 0 {
		out.PerKey += ceilUnits(float64(ItemSize(p.Place.Entity)), readUnitBytes) * factor
		most += ceilUnits(float64(p.Place.Entity.Volume.MaxSize), readUnitBytes) * factor
	}
	if k := r.Read.Keys; k != nil {
		if k.Typical > 0 {
			keys = k.Typical
		}
		if p.Place.Entity.Volume.MaxSize > 0 {
			out.Ceiling = most * float64(k.Max)
		}
	}
	out.Units, out.Items = keys*out.PerKey, keys
	return out
}

// ofScan estimates a call that scans one page, or everything if the read has no pages. A Scan reads every item of the table or
// index, of any entity; a page covers as large a share of them as it holds of the wanted items. A read that no key serves is
// scanned to the end, because its items can be anywhere.
func ofScan(d *design.Design, r plan.Result) Read {
	p, factor := r.Plan, factorOf(r.Plan)
	bytes := 0.0
	for _, e := range d.Entities {
		for _, q := range plan.Places(d, e) {
			if q.Table == p.Place.Table && q.Index == p.Place.Index {
				bytes += Items(d, e) * q.Part() * float64(SizeAt(q))
			}
		}
	}
	wanted := math.Max(1, Items(d, p.Place.Entity)*p.Place.Part())
	out := Read{Whole: ceilUnits(bytes, readUnitBytes) * factor, Floor: factor * float64(p.Fanout), Items: wanted}
	out.Units = out.Whole
	if p.Unserved() {
		out.Items = itemsOf(d, r.Read)
	} else if bound := float64(max(r.Read.Limit, r.Read.Page)); bound > 0 && bound < wanted {
		part := bound / wanted
		out.Units, out.Items = ceilUnits(bytes*part, readUnitBytes)*factor, bound
	}
	out.Units = math.Max(out.Units, out.Floor)
	if len(p.Hydrate) > 0 {
		more := ceilUnits(float64(ItemSize(p.Place.Entity)), readUnitBytes) * factor
		out.Units, out.Whole = out.Units+out.Items*more, out.Whole+wanted*more
	}
	return out
}

// mostOf is the maximum number of items a call touches: one, the limit, the page, or the maximum number that exist; 0 if the
// design does not say, or if a filter may discard any number.
func mostOf(d *design.Design, r *design.Read, p *plan.Plan) float64 {
	e := p.Place.Entity
	switch bound := float64(max(r.Limit, r.Page)); {
	case e.Volume.MaxSize == 0:
		return 0
	case !r.Many:
		return 1
	case bound > 0 && p.Filter == nil && len(p.FilterBy) == 0:
		return bound
	case e.Volume.Per != "" && d.Entity(e.Volume.Per) != nil:
		return e.Volume.Max
	default:
		return 0
	}
}

// itemsOf is the number of items a call returns: one, the limit, the page, or all that exist.
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

// hotItemsOf is the number of items that a call for the busiest key returns; 0 if the design does not say.
func hotItemsOf(d *design.Design, r *design.Read) float64 {
	v := d.Entity(r.Entity)
	switch {
	case v == nil || !r.Many || v.Volume.Per == "" || v.Volume.Hottest == 0 || r.Limit > 0:
		return 0
	case r.Page > 0:
		return math.Min(float64(r.Page), v.Volume.Max)
	default:
		return v.Volume.Max
	}
}

// OfCollection estimates one call of a planned collection.
func OfCollection(d *design.Design, p plan.CollectionPlan) Read {
	c := p.Collection
	bytes, items, most, bounded := 0.0, 0.0, 0.0, true
	largest := 0
	hotBytes, hotItems, hottest := 0.0, 0.0, 0.0 // of a call for the busiest key
	for _, m := range p.Members {
		v := m.Entity.Volume
		typical, greatest := 1.0, 1.0
		if m.Entity.Name != c.Root {
			greatest = v.Max
			if v.Typical > 0 {
				typical = v.Typical
			}
		}
		bytes, items = bytes+typical*float64(SizeAt(m)), items+typical
		hot := typical
		if v.Per != "" && v.Hottest > 0 && m.Entity.Name != c.Root {
			hot, hottest = math.Max(typical, v.Max), math.Max(hottest, v.Hottest)
		}
		hotBytes, hotItems = hotBytes+hot*float64(SizeAt(m)), hotItems+hot
		most, bounded = most+greatest*float64(largestAt(m)), bounded && v.MaxSize > 0 && greatest > 0
		largest = max(largest, largestAt(m))
	}
	if page := float64(c.Page); page > 0 { // a call returns one page, not everything
		bytes, items = bytes*math.Min(1, page/items), math.Min(page, items)
		hotBytes, hotItems = hotBytes*math.Min(1, page/hotItems), math.Min(page, hotItems)
		most = math.Min(most, page*float64(largest))
	}
	factor := 0.5
	if p.Consistent {
		factor = 1
	}
	fan := factor * float64(p.Fanout)
	out := Read{Units: ceilUnits(bytes, readUnitBytes) * fan, Floor: fan, Items: items}
	if hottest > 0 {
		out.Units = exact((1-hottest)*out.Units + hottest*ceilUnits(hotBytes, readUnitBytes)*fan)
		out.Items = (1-hottest)*items + hottest*hotItems
	}
	if bounded {
		out.Ceiling = ceilUnits(most, readUnitBytes) * fan
	}
	if p.RootApart { // without it there is nothing more to read
		i := slices.IndexFunc(p.Members, func(m plan.Place) bool { return m.Entity.Name == c.Root })
		apart := ceilUnits(float64(SizeAt(p.Members[i])), readUnitBytes) * factor
		out.Units, out.Floor = out.Units+apart, factor
		if out.Ceiling > 0 {
			out.Ceiling += ceilUnits(float64(largestAt(p.Members[i])), readUnitBytes) * factor
		}
	}
	return out
}

// Write is the cost of one call of a write, in write request units: a fixed part and a part per line.
type Write struct {
	Fixed, PerLine float64
	Lines          float64 // usual number of lines of a call
	Parts          []WritePart
	// Floor is the cost of a call with one line and without optional entries; Ceiling the cost with the maximum number of
	// lines and the largest items, 0 if the design does not say how large those are.
	Floor, Ceiling float64
}

// Units is the cost of a call with the usual number of lines.
func (w Write) Units() float64 { return exact(w.Fixed + w.PerLine*w.Lines) }

// exact removes the rounding errors of sums, which are printed otherwise: 8.149999999999999.
func exact(units float64) float64 { return math.Round(units*1e9) / 1e9 }

// WritePart is the share of one item, or one index entry.
type WritePart struct {
	Place plan.Place
	Each  bool
	Units float64
}

// linesDefault is used if a design does not say how many lines a write usually has.
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
	bounded, most := true, 1.0
	if l := p.Write.Lines; l != nil {
		most = float64(l.Max)
	}
	atMost := func(place plan.Place, each bool, times float64) {
		lines := 1.0
		if each {
			lines = most
		}
		out.Ceiling += ceilUnits(float64(largestAt(place)), writeUnitBytes) * times * lines
		bounded = bounded && place.Entity.Volume.MaxSize > 0
	}
	add := func(place plan.Place, each bool, share, least, times, most float64) {
		units := ceilUnits(float64(SizeAt(place)), writeUnitBytes)
		out.Parts = append(out.Parts, WritePart{place, each, units * times * share})
		out.Floor += units * least
		atMost(place, each, most)
	}
	for _, item := range p.Items {
		add(item.Place, item.Each, 1, factor, factor, factor)
		turns := map[*design.Index]float64{}
		for _, entry := range item.Entries {
			share, least, times := entry.Part(), 1.0, 1.0
			switch {
			case entry.Effect == plan.EntryUntouched && item.Action == design.Upsert:
				atMost(entry.Place, item.Each, 1) // the first call adds it
				continue
			case entry.Effect == plan.EntryUntouched:
				continue
			case entry.Effect == plan.EntryMoved:
				times = 2
				if item.Action != design.Upsert {
					least = 2
				}
			}
			if entry.Place.Where != nil || entry.Place.Sparse() {
				least = 0
			}
			most := times
			if entry.Place.Entry != "" { // alternative entries: at most one is removed and one added
				most = min(times, 2-turns[entry.Place.Index])
				turns[entry.Place.Index] += most
			}
			add(entry.Place, item.Each, share, least, times, most)
		}
	}
	if !bounded {
		out.Ceiling = 0
	}
	for _, part := range out.Parts {
		if part.Each {
			out.PerLine += part.Units
		} else {
			out.Fixed += part.Units
		}
	}
	out.PerLine, out.Fixed = exact(out.PerLine), exact(out.Fixed)
	return out
}

func ceilUnits(bytes, unit float64) float64 { return math.Max(1, math.Ceil(bytes/unit)) }
