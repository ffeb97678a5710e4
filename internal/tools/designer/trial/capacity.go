package trial

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// sized is a place whose items have a given size, in the form that the cost model expects.
func sized(p plan.Place, bytes int) plan.Place {
	p.Entity = &design.Entity{Name: p.Entity.Name, Volume: design.Volume{Size: max(bytes, 1)}}
	return p
}

// readUnits is the cost model's price of one request that reads a number of bytes.
func readUnits(p *plan.Plan, at plan.Place, operation plan.Operation, bytes int) float64 {
	return cost.OfRead(&design.Design{}, plan.Result{Read: &design.Read{}, Plan: &plan.Plan{
		Operation: operation, Place: sized(at, bytes), Fanout: 1, Consistent: p.Consistent,
	}}).Units
}

// consumed compares the capacity that a read has consumed with the cost model's price of the items it read. If a filter has
// discarded some, these are only known if one page has all of them.
func (g *reading) consumed(w *world, in table.Input, seen traffic, metered bool) *mismatch {
	p := g.read.Plan
	formula, measured := 0.0, 0.0
	for _, page := range seen.pages {
		bytes := page.bytes
		if page.found != page.looked || page.counted {
			var known bool
			if bytes, known = g.looked(w, in, page); !known {
				return nil
			}
		}
		measured += page.units
		formula += readUnits(p, p.Place, plan.Query, bytes)
	}
	reached := g.reached(w, in)
	if g.read.Run.Key != nil && len(reached) > 0 {
		formula += readUnits(p, p.Place, plan.GetItem, w.size(p.Place, w.at(reached[0], p.Place)))
	}
	if g.read.Run.Hydrate || p.Place.Kind == plan.MarkerPlace {
		if len(seen.pages) > 0 && (seen.looked != len(reached) || len(seen.pages) > 1) {
			return nil // it is not known which items were read again
		}
		home := plan.Places(g.design, p.Place.Entity)[0]
		for _, r := range reached {
			formula += readUnits(p, home, plan.GetItem, w.size(home, w.at(r, home)))
		}
	}
	for _, c := range seen.read {
		measured += units(&c)
	}
	if metered && measured > 0 { // empty ranges make no request
		g.trial.meter(g.read.Design.Name).add(measured, formula)
	}
	if measured == formula {
		return nil
	}
	return &mismatch{
		kind: Capacity, got: fmt.Sprintf("%g read units consumed", measured),
		want: fmt.Sprintf("%g, by the cost model, for the items examined", formula),
	}
}

// reached are the items at the place of the read that its request has to examine.
func (g *reading) reached(w *world, in table.Input) []*record {
	var out []*record
	for _, r := range w.records {
		if g.reaches(r, in) && w.at(r, g.read.Plan.Place) != nil {
			out = append(out, r)
		}
	}
	return out
}

// looked is the total size of the items that a page of a Query examined, if it examined its whole partition.
func (g *reading) looked(w *world, in table.Input, page queried) (bytes int, known bool) {
	n := 0
	if g.read.Run.Scan && g.read.Plan.Place.Index == nil { // it examines the whole table
		for r, items := range w.stored {
			for _, it := range items {
				if it != nil && r.run.Table == g.read.Run.Entity.Table {
					bytes, n = bytes+sdk.Item(it).Size(), n+1
				}
			}
		}
		return bytes, n == page.looked && !page.more
	}
	for _, r := range g.reached(w, in) {
		if it := w.at(r, g.read.Plan.Place); partitionIn(g.read.Run.PK, it) == page.partition {
			bytes, n = bytes+w.size(g.read.Plan.Place, it), n+1
		}
	}
	return bytes, n == page.looked && !page.more
}

// planAt is a plan that reads all of a place.
func planAt(p plan.Place) *plan.Plan { return &plan.Plan{Operation: plan.Query, Place: p, Fanout: 1} }

// consumed does the same for a collection. It compares nothing if the partition has items of other entities, which are paid
// for and left out, or if more than one request reads the root.
func (g *gathering) consumed(w *world, in table.Input, seen traffic) *mismatch {
	c := g.collection
	looked, formula, measured := 0, 0.0, 0.0
	if c.Run.RootApart {
		if c.Plan.Fanout > 1 || len(seen.pages) == 0 || seen.pages[0].looked > 1 {
			return nil
		}
		root, bytes := c.Plan.Members[c.Run.Root], 0
		for _, r := range w.records {
			if it := w.at(r, root); g.member(c.Run.Root).reaches(r, in) && it != nil {
				bytes, looked = bytes+w.size(root, it), looked+1
			}
		}
		measured += seen.pages[0].units
		formula += readUnits(&plan.Plan{Consistent: c.Plan.Consistent}, root, plan.Query, bytes)
		seen.pages = seen.pages[1:]
	}
	for _, page := range seen.pages {
		if page.more {
			return nil
		}
		measured += page.units
		bytes := 0
		for i, place := range c.Plan.Members {
			t := g.member(i)
			for _, r := range w.records {
				if it := w.at(r, place); t.reaches(r, in) && it != nil && g.between(w, r, i, in) && partitionIn(c.Run.PK, it) == page.partition {
					bytes, looked = bytes+w.size(place, it), looked+1
				}
			}
		}
		formula += cost.OfCollection(&design.Design{}, plan.CollectionPlan{
			Collection: &design.Collection{}, Consistent: c.Plan.Consistent, Members: []plan.Place{sized(c.Plan.Members[0], bytes)}, Fanout: 1,
		}).Units
	}
	if looked != seen.looked {
		return nil
	}
	g.trial.meter(c.Design.Name).add(measured, formula)
	if measured == formula {
		return nil
	}
	return &mismatch{
		kind: Capacity, got: fmt.Sprintf("%g read units consumed", measured),
		want: fmt.Sprintf("%g, by the cost model, for the %d items examined", formula, looked),
	}
}

// partitionIn identifies the partition of an item where a read looks, in the form of partitionOf.
func partitionIn(pk []table.KeyAttribute, it table.Item) string {
	var out []string
	for i, a := range pk {
		out = append(out, ":p"+strconv.Itoa(i)+scalarText(it[a.Name]))
	}
	slices.Sort(out)
	return strings.Join(out, "\x00")
}

// size is the size of an item at a place; an index has only some attributes.
func (w *world) size(p plan.Place, it table.Item) int {
	if p.Index == nil {
		return sdk.Item(it).Size()
	}
	return sdk.Item(w.projection(p, it)).Size()
}

// projection is the part of an item that an index contains.
func (w *world) projection(p plan.Place, it table.Item) table.Item {
	spec := w.spec(p)
	x := spec.Indexes[slices.IndexFunc(spec.Indexes, func(x provision.IndexSpec) bool { return x.Name == p.Index.Name })]
	if x.Projection == "ALL" {
		return it
	}
	names := slices.Concat([]string{spec.PK, spec.SK}, x.PK, x.SK, x.Attributes)
	out := maps.Clone(it)
	maps.DeleteFunc(out, func(name string, _ types.AttributeValue) bool { return !slices.Contains(names, name) })
	return out
}

func (w *world) spec(p plan.Place) provision.Spec {
	i := slices.IndexFunc(w.program.Design.Tables, func(t *design.Table) bool { return t.Name == p.Table.Name })
	return w.specs[i]
}

// meter sums the consumed capacity of a pattern's calls, and the cost model's prices of them.
type meter struct {
	calls             int
	measured, formula float64
}

func (m *meter) add(measured, formula float64) {
	m.calls++
	m.measured += measured
	m.formula += formula
}
