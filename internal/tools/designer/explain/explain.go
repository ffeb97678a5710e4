// Package explain describes how DynamoDB serves the patterns of a design: the request of each read, its cost and
// consistency, the alternative places and why they do not serve, and the items that each write affects.
//
// It presents the decisions of packages plan and cost, as text or as values, and makes none itself.
package explain

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// Pattern is one read, collection or write explained.
type Pattern struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // read, collection or write
	Doc  string `json:"doc,omitempty"`
	// Summary is the question, or the change, in words.
	Summary string `json:"summary"`
	// Request is the DynamoDB request; nil for a write, and for a collection that nothing serves.
	Request *plan.Request `json:"request,omitempty"`
	Place   string        `json:"place,omitempty"`
	// Freshness says whether the read sees an acknowledged write.
	Freshness string  `json:"freshness,omitempty"`
	ReadUnits float64 `json:"readUnits,omitempty"`
	// Lacks are the deficiencies of the chosen place; Near are the other places.
	Lacks []string `json:"lacks,omitempty"`
	Near  []Near   `json:"near,omitempty"`

	// LeastUnits and MostUnits are the bounds of ReadUnits or WriteUnits; MostUnits is 0 if the design does not say.
	// UnitsPerKey is the cost of each key; ReadUnits counts Keys of them. WholeUnits is the cost of a whole Scan.
	UnitsPerKey float64 `json:"unitsPerKey,omitempty"`
	Keys        float64 `json:"keys,omitempty"`
	WholeUnits  float64 `json:"wholeUnits,omitempty"`

	LeastUnits float64 `json:"leastUnits,omitempty"`
	MostUnits  float64 `json:"mostUnits,omitempty"`

	Items      []Item  `json:"items,omitempty"` // of a write
	WriteUnits float64 `json:"writeUnits,omitempty"`
	// UnitsPerLine is the cost of each line of the list; WriteUnits counts Lines of them.
	UnitsPerLine float64 `json:"unitsPerLine,omitempty"`
	Lines        float64 `json:"lines,omitempty"`
	Transaction  bool    `json:"transaction,omitempty"`
	Batch        bool    `json:"batch,omitempty"`
}

// Near is a place that was not chosen.
type Near struct {
	Place     string   `json:"place"`
	Serves    bool     `json:"serves"`              // as well as the chosen place, at ReadUnits
	ReadUnits float64  `json:"readUnits,omitempty"` // 0 if no request can read it there
	Lacks     []string `json:"lacks,omitempty"`
}

// Item is one item that a write touches, or one for each line.
type Item struct {
	Action  string   `json:"action"`
	Place   string   `json:"place"`
	Key     string   `json:"key"`
	Each    bool     `json:"each,omitempty"`
	When    string   `json:"when,omitempty"`
	Units   float64  `json:"units"`
	Entries []string `json:"entries,omitempty"` // "GSI1 added (1)"
}

// All explains every pattern of a design in the order of the text: reads, collections, writes.
func All(d *design.Design) []Pattern {
	out := []Pattern{}
	for _, r := range d.Reads {
		out = append(out, Read(d, r))
	}
	for _, c := range d.Collections {
		out = append(out, Collection(d, c))
	}
	for _, w := range d.Writes {
		out = append(out, Write(d, w))
	}
	return out
}

// Read explains a read.
func Read(d *design.Design, r *design.Read) Pattern {
	result := plan.ForRead(d, r)
	p := result.Plan
	request := p.Request()
	out := Pattern{
		Name: r.Name, Kind: "read", Doc: r.Doc, Summary: describe(r), Request: &request, Place: p.Place.String(),
		Freshness: freshness(p, r.FreshMillis),
	}
	of := cost.OfRead(d, result)
	out.readCost(of)
	if of.PerKey > 0 {
		out.UnitsPerKey, out.Keys = of.PerKey, of.Items
	}
	out.WholeUnits = of.Whole
	if p.Place.Kind != plan.MarkerPlace { // a marker has only the way to its item
		out.Lacks = shortfalls(result.Lacks)
	}
	for _, miss := range result.Others {
		near := Near{Place: miss.Place.String(), Lacks: shortfalls(miss.Lacks)}
		if miss.Plan != nil {
			near.Serves = len(miss.Lacks) == 0
			near.ReadUnits = cost.OfRead(d, plan.Result{Read: r, Plan: miss.Plan}).Units
		}
		out.Near = append(out.Near, near)
	}
	return out
}

func (p *Pattern) readCost(r cost.Read) {
	p.ReadUnits, p.LeastUnits, p.MostUnits = r.Units, r.Floor, r.Ceiling
}

// describe describes a read in words.
func describe(r *design.Read) string {
	var out strings.Builder
	joiner := " of a given "
	switch {
	case r.Count:
		out.WriteString("how many " + r.Entity + " items there are")
	case r.Scan:
		out.WriteString("all " + r.Entity + " items")
	case r.Each:
		out.WriteString("the " + r.Entity)
		joiner = " of each given "
	case r.Many:
		out.WriteString("the " + r.Entity + " items")
	default:
		out.WriteString("one " + r.Entity)
	}
	for _, f := range r.By {
		out.WriteString(joiner + f)
		joiner = " and "
	}
	if r.Bucket != "" {
		out.WriteString(", in the bucket of a given " + r.Bucket)
	}
	if r.Prefix != "" {
		out.WriteString(", whose " + r.Prefix + " starts with a given prefix")
	}
	if r.Range != "" {
		out.WriteString(", with " + r.Range + " between bounds")
	}
	if r.Filter != nil {
		out.WriteString(", where " + r.Filter.Text)
	}
	for i, o := range r.Order {
		out.WriteString([]string{", by ", ", then "}[min(i, 1)] + o.Field)
		if o.Desc {
			out.WriteString(" descending")
		}
	}
	switch {
	case r.Limit > 0:
		fmt.Fprintf(&out, ", the first %d", r.Limit)
	case r.Page > 0:
		fmt.Fprintf(&out, ", %d a page", r.Page)
	}
	return out.String()
}

// freshness describes how stale a result can be, and the declared limit if that is a duration.
func freshness(p *plan.Plan, millis int) string {
	length := func(millis int) string { return (time.Duration(millis) * time.Millisecond).String() }
	x := p.Place.Index
	switch {
	case p.Consistent && !p.Place.Global() && millis > 0:
		return "strong: every acknowledged write is visible; a lag of " + length(millis) + " is allowed, but an eventual read can lag by " + length(design.LagDefault)
	case p.Place.Global() && millis > 0:
		return "eventual: " + x.Name + " is assumed to lag by at most " + length(x.Lag()) + ", and " + length(millis) + " is allowed"
	case p.Place.Global() && x.LagMillis > 0:
		return "eventual: " + x.Name + " is assumed to lag by at most " + length(x.Lag())
	case millis > 0:
		return "eventual: writes of the last " + length(design.LagDefault) + " may be missing, and " + length(millis) + " is allowed"
	case p.Place.Global():
		return "eventual: a global index usually lags behind the table by milliseconds"
	case p.Consistent:
		return "strong: every acknowledged write is visible"
	default:
		return "eventual: writes of the last second may be missing; consistent: true costs twice as much"
	}
}

func shortfalls(list []plan.Shortfall) []string {
	var out []string
	for _, l := range list {
		out = append(out, l.String())
	}
	return out
}

// Collection explains a collection.
func Collection(d *design.Design, c *design.Collection) Pattern {
	p := plan.ForCollection(d, c)
	out := Pattern{
		Name: c.Name, Kind: "collection", Doc: c.Doc,
		Summary: strings.Join(c.Of, " with ") + " of a given " + strings.Join(c.By, " and "),
	}
	if len(p.Members) == 0 {
		for _, miss := range p.Misses {
			name := "the table"
			if miss.Index != nil {
				name = miss.Index.Name
			}
			var shortfalls []string
			if none := slices.Concat(miss.Without, miss.Apart); len(none) > 0 {
				shortfalls = append(shortfalls, "has no partition with "+strings.Join(none, ", "))
			}
			if len(miss.ByTurns) > 0 {
				shortfalls = append(shortfalls, "has alternative entries of "+strings.Join(miss.ByTurns, ", ")+" in the partition, of which an item has one at a time: read each by its name in via")
			}
			out.Near = append(out.Near, Near{Place: name, Lacks: shortfalls})
		}
		return out
	}
	request := p.Request()
	out.Request = &request
	out.readCost(cost.OfCollection(d, p))
	var places []string
	for _, m := range p.Members {
		places = append(places, m.String())
	}
	out.Place = strings.Join(places, " + ")
	out.Freshness = freshness(&plan.Plan{Place: p.Members[0], Consistent: p.Consistent}, c.FreshMillis)
	return out
}

// Write explains a write.
func Write(d *design.Design, w *design.Write) Pattern {
	p := plan.ForWrite(d, w)
	c := cost.OfWrite(p)
	out := Pattern{
		Name: w.Name, Kind: "write", Doc: w.Doc, WriteUnits: c.Units(), LeastUnits: c.Floor, MostUnits: c.Ceiling, UnitsPerLine: c.PerLine, Lines: c.Lines, Transaction: p.Transaction(), Batch: w.Batch,
	}
	var steps []string
	for _, s := range w.Steps {
		step := string(s.Action) + " " + s.Entity
		if s.Each {
			step += " for each line"
		}
		if s.Name != "" {
			step += " (" + s.Name + ")"
		}
		steps = append(steps, step)
	}
	out.Summary = strings.Join(steps, ", ")
	parts := c.Parts
	for _, i := range p.Items {
		item := Item{Action: string(i.Action), Place: i.Place.String(), Each: i.Each, Units: parts[0].Units}
		parts = parts[1:]
		if i.Place.Kind != plan.KeyPlace && i.Action == design.Create {
			item.Action = "put"
		}
		var key []string
		for _, k := range i.Key() {
			key = append(key, k.Value)
		}
		item.Key = strings.Join(key, " / ")
		item.When = when(i)
		for _, e := range i.Entries {
			if e.Effect == plan.EntryUntouched {
				continue
			}
			item.Entries = append(item.Entries, fmt.Sprintf("%s %s (%.4g%s)", e.Place.Name, e.Effect, parts[0].Units, share(e)))
			parts = parts[1:]
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// share says for which share of the items the entry is counted, if not all may have it.
func share(e plan.EntryWrite) string {
	switch {
	case e.Share > 0 && e.Share != 1:
		return fmt.Sprintf(": %.4g %% of the calls", 100*e.Share)
	case e.Certain || e.Place.Where == nil && !e.Place.Sparse():
		return ""
	case e.Place.Share == 0:
		return ": sparse; all items are counted, since no share is declared"
	default:
		return fmt.Sprintf(": %.4g %% of the items", 100*e.Place.Share)
	}
}

// when is the condition under which an item is written, "" if there is none.
func when(i plan.ItemWrite) string {
	stepped := i.Step != nil && i.Step.When != nil && i.Step.Entity == i.Place.Entity.Name && i.Place.Kind != plan.MarkerPlace
	switch {
	case i.Action == design.Create && (!stepped || i.Step.Action != design.Create):
		return "it does not exist"
	case stepped:
		return i.Step.When.Text
	default:
		return ""
	}
}
