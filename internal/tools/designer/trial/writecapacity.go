package trial

import (
	"fmt"
	"slices"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/database/dynamo/attr/sdk"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
	"github.com/monotable/monotable/internal/tools/designer/provision"
)

// consumed compares the capacity that a write has consumed with the cost model's price of its items before and after, and
// their number with the plan's.
func (g *writing) consumed(w *world, run *lower.Write, in table.Input, call table.Call, seen traffic, was, is map[string]table.Item) *mismatch {
	if call.Attempts > 1 {
		return nil // failed attempts are paid for, too
	}
	fixed, each := run.Plan.Actions()
	if planned := fixed + each*len(in.Lines); len(seen.writes) > planned {
		return &mismatch{
			kind: Capacity, got: fmt.Sprintf("the write affects %d items", len(seen.writes)), want: fmt.Sprintf("at most %d, by its plan", planned),
		}
	}
	p := plan.WritePlan{Write: &design.Write{Batch: run.Design.Batch}}
	for _, t := range seen.writes {
		p.Items = append(p.Items, w.touched(t, was, is))
	}
	formula := cost.OfWrite(p).Units()
	if len(p.Items) == 0 {
		formula = 0
	}
	g.trial.meter(run.Design.Name).add(call.WriteUnits, formula)
	if call.WriteUnits == formula {
		return nil
	}
	m := &mismatch{
		kind: Capacity, got: fmt.Sprintf("%g write units consumed", call.WriteUnits),
		want: fmt.Sprintf("%g, by the cost model, for %d items and their index entries", formula, len(p.Items)),
	}
	for _, item := range p.Items {
		m.detail = append(m.detail, fmt.Sprintf("%s, %d bytes", item.Action, item.Place.Entity.Volume.Size))
		for _, e := range item.Entries {
			m.detail = append(m.detail, fmt.Sprintf("  entry in %s %s, %d bytes", e.Place.Index.Name, e.Effect, e.Place.Entity.Volume.Size))
		}
	}
	return m
}

// touched describes one item of a write for the cost model: with its size before or after, and the effects on its entries.
func (w *world) touched(t touch, was, is map[string]table.Item) plan.ItemWrite {
	i := slices.IndexFunc(w.specs, func(s provision.Spec) bool { return s.Name == t.table })
	home := w.program.Design.Tables[i]
	key := keyOf(w.program.Tables[i], t.item)
	before, after := was[key], is[key]
	place := plan.Place{Entity: &design.Entity{}, Table: home}
	out := plan.ItemWrite{Action: design.Update, Place: sized(place, max(sdk.Item(before).Size(), sdk.Item(after).Size()))}
	if t.check {
		out.Action = design.Check
		return out
	}
	for _, x := range home.Indexes {
		entry := place
		entry.Index, entry.Kind = x, plan.EntryPlace
		old, next := w.entry(entry, before), w.entry(entry, after)
		e := plan.EntryWrite{Place: sized(entry, max(sdk.Item(old).Size(), sdk.Item(next).Size())), Effect: plan.EntryUpdated}
		switch {
		case old == nil && next == nil:
			continue
		case old == nil:
			e.Effect = plan.EntryAdded
		case next == nil:
			e.Effect = plan.EntryRemoved
		case sdk.Item(old).Equal(sdk.Item(next)):
			e.Effect = plan.EntryUntouched
		case slices.ContainsFunc(slices.Concat(x.PK, x.SK), func(k design.KeyAttribute) bool { return !equal(old[k.Name], next[k.Name]) }):
			// One is removed and one added, each of a different size.
			gone := plan.EntryWrite{Place: sized(entry, sdk.Item(old).Size()), Effect: plan.EntryRemoved}
			out.Entries = append(out.Entries, gone)
			e.Place, e.Effect = sized(entry, sdk.Item(next).Size()), plan.EntryAdded
		}
		out.Entries = append(out.Entries, e)
	}
	return out
}

// entry is the part of an item that an index contains; nil if it is not in the index.
func (w *world) entry(p plan.Place, it table.Item) table.Item {
	if it == nil || slices.ContainsFunc(slices.Concat(p.Index.PK, p.Index.SK), func(k design.KeyAttribute) bool { return it[k.Name] == nil }) {
		return nil
	}
	return w.projection(p, it)
}
