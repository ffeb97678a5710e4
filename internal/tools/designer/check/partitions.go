package check

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/internal/tools/designer/cost"
	"github.com/monotable/monotable/internal/tools/designer/keylang"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// What one partition takes a second, and how many values of a partition key are few:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	partitionWriteUnits = 1000
	partitionReadUnits  = 3000
	fewValues           = 100
	// ample is the share of the limits below which a partition key of few values is worth a note only.
	ample = 0.25
)

// partitions are the rules on partitions and tenants, ST3xx.
func (c *checker) partitions() {
	for _, heat := range c.heats() {
		c.hot(heat)
	}
	for _, e := range c.design.Entities {
		c.grows(e)
	}
	for _, r := range c.design.Reads {
		c.tenant(tenantRead{r.Name, r.Pos, r.By, r.Owner, r.Shared, r.Many}, c.design.Entity(r.Entity))
	}
	for _, x := range c.design.Collections {
		of := x.Root
		if of == "" {
			of = x.Of[0]
		}
		c.tenant(tenantRead{x.Name, x.Pos, x.By, x.Owner, x.Shared, false}, c.design.Entity(of))
	}
	for _, w := range c.design.Writes {
		c.hotItem(w)
	}
}

// heat is what the partitions of few keys take: of all entities that share them.
type heat struct {
	places        []keyed
	shares        []float64 // of all calls about each place, what goes to the busiest
	values        float64
	period        string // where the key is a time: all of one day, or hour, have one value
	busiest       string // where the key is of an entity: the one of it that most calls are about
	items         float64
	writes, reads float64 // units a second, of each partition
}

// heats adds up what goes to each partition key that has few values, or one for all that is written at a time.
func (c *checker) heats() []*heat {
	var all []*heat
	for _, k := range c.languages() {
		if k.Kind == plan.MarkerPlace {
			continue
		}
		n, period := 1.0, periodOf(k.Place)
		for _, t := range k.pk {
			count, finite := t.Language().Count()
			if !finite {
				count = math.Inf(1)
			}
			n *= count
		}
		busiest, share := "", 0.0
		if n > fewValues && period == "" {
			if busiest, share = c.busiest(k.Place); share == 0 {
				continue
			}
		}
		i := slices.IndexFunc(all, func(h *heat) bool {
			return h.period == period && h.busiest == busiest && meet(h.places[0], k)
		})
		if i < 0 {
			all = append(all, &heat{values: n, period: period, busiest: busiest})
			i = len(all) - 1
		}
		all[i].places, all[i].shares = append(all[i].places, k), append(all[i].shares, share)
		all[i].values = max(all[i].values, n)
		all[i].items += cost.Items(c.design, k.Entity)
	}
	for _, h := range all {
		if h.period != "" {
			h.values = 1
		}
		c.load(h)
	}
	return all
}

// busiest is the entity of one of which a partition is, and the part of the calls that go to the busiest one; 0 where the design does
// not tell it.
func (c *checker) busiest(p plan.Place) (name string, share float64) {
	v := p.Entity.Volume
	name = v.Per
	if name == "" {
		name = p.Entity.Name
	}
	of := c.design.Entity(name)
	if v.Hottest == 0 || of == nil {
		return "", 0
	}
	shards := 1.0
	for _, t := range p.PK {
		for _, part := range t.Parts {
			spreads := slices.IndexFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "shard" || fn.Name == "mod" })
			switch {
			case part.Field == "" || slices.Contains(ownerFields(p.Entity, of), part.Field):
			case spreads >= 0:
				shards *= max(1, float64(part.Funcs[spreads].Int()))
			case timed(p.Entity, part): // all of one time are together
			default:
				return "", 0
			}
		}
	}
	return name, v.Hottest / shards
}

// timed reports whether a part is a period of time.
func timed(e *design.Entity, part design.Part) bool {
	f := e.Field(part.Field)
	return f != nil && (f.Type.Kind == design.KindDate || slices.ContainsFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "date" }))
}

// meet reports whether two places can have a partition in common.
func meet(a, b keyed) bool {
	if a.Table != b.Table || a.Index != b.Index {
		return false
	}
	for i := range a.pk {
		if _, found := keylang.Intersect(a.pk[i].Language(), b.pk[i].Language()); !found {
			return false
		}
	}
	return true
}

// periodOf is the time for which new items have one partition key; "" where it has more in it than a time.
func periodOf(p plan.Place) string {
	period := ""
	for _, t := range p.PK {
		for _, part := range t.Parts {
			f := p.Entity.Field(part.Field)
			if f == nil {
				continue
			}
			i := slices.IndexFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "date" })
			switch {
			case i >= 0:
				period = map[string]string{"yyyy": "year", "yyyy-MM": "month", "yyyy-MM-dd": "day", "yyyy-MM-ddTHH": "hour"}[part.Funcs[i].Arg]
			case f.Type.Kind == design.KindDate && len(part.Funcs) == 0:
				period = "day"
			default:
				return ""
			}
		}
	}
	return period
}

func (c *checker) load(h *heat) {
	for _, w := range c.design.Writes {
		of := cost.OfWrite(plan.ForWrite(c.design, w))
		for _, part := range of.Parts {
			times := w.Rate
			if part.Each {
				times *= of.Lines
			}
			h.writes += part.Units * times * h.part(part.Place)
		}
	}
	for _, r := range c.design.Reads {
		if result := plan.ForRead(c.design, r); result.Plan.Operation != plan.Scan {
			h.reads += cost.OfRead(c.design, result).Units * r.Rate * h.part(result.Plan.Place)
		}
	}
}

// part is how much of the calls about a place goes to each of the partitions, or to the busiest one.
func (h *heat) part(p plan.Place) float64 {
	i := slices.IndexFunc(h.places, func(k keyed) bool { return k.String() == p.String() && k.Copy == p.Copy })
	switch {
	case i < 0:
		return 0
	case h.busiest != "":
		return h.shares[i]
	default:
		return 1 / h.values
	}
}

// hot is ST301, ST302 and ST307.
func (c *checker) hot(h *heat) {
	names := make([]string, len(h.places))
	for i, k := range h.places {
		names[i] = k.String()
	}
	subject := strings.Join(names, "+")
	load := math.Max(h.writes/partitionWriteUnits, h.reads/partitionReadUnits)
	if h.busiest == "" {
		c.few(h, subject, load)
	}
	if load < ample {
		return
	}
	c.strain(h, subject, load)
}

// few is ST301.
func (c *checker) few(h *heat, subject string, load float64) {
	p := h.places[0]
	severity := Warning
	if load < ample {
		severity = Info
	}
	holds := fmt.Sprintf("has %.0f value(s): each", h.values)
	switch {
	case h.period != "":
		holds = fmt.Sprintf("is the same for all that is of one %s: its partition", h.period)
	case h.items > 0:
		holds += fmt.Sprintf(" holds about %.0f items and", h.items/h.values)
	}
	c.find("ST301", subject, p.Pos, "the partition key %q %s takes %.0f of %d write units and %.0f of %d read units a second",
		p.PK[0].Text, holds, h.writes, partitionWriteUnits, h.reads, partitionReadUnits).as(severity).
		fix("more in the key: what the reads always know, or |shard(n); or accept it with the number of items").report()
}

// strain is ST302 and ST307.
func (c *checker) strain(h *heat, subject string, load float64) {
	p := h.places[0]
	if growsAtEnd(p) {
		c.find("ST307", subject, p.Pos, "new items all go to the end of the partition %q: DynamoDB cannot split it for heat", p.PK[0].Text).
			fix("|shard(n) in the partition key, if the load comes near the limit").report()
	}
	if load < 2*ample {
		return
	}
	shards := math.Floor(load/(2*ample)*shardsOf(p.PK)) + 1 // each below half
	severity := Warning
	consequence := "is near what a partition takes"
	if load > 1 {
		severity, consequence = Error, "is more than a partition takes: it throttles"
		if p.Global() {
			consequence += ", and a throttled index throttles the table's writes"
		}
	}
	on := "each"
	if h.busiest != "" {
		on = "the busiest " + h.busiest + " in"
	}
	c.find("ST302", subject, p.Pos, "%.0f write units and %.0f read units a second on %s %q %s", h.writes, h.reads, on, p.PK[0].Text, consequence).
		as(severity).fix("|shard(%.0f) or more in the partition key", shards).report()
}

// shardsOf is in how many shards the partition of one value lies already.
func shardsOf(pk []*design.Template) float64 {
	shards := 1.0
	for _, t := range pk {
		for _, part := range t.Parts {
			for _, fn := range part.Funcs {
				if fn.Name == "shard" || fn.Name == "mod" {
					shards *= float64(fn.Int())
				}
			}
		}
	}
	return shards
}

// growsAtEnd reports whether the sort key begins with a time, or with an identifier that does.
func growsAtEnd(p keyed) bool {
	if len(p.SK) == 0 {
		return false
	}
	for _, part := range p.SK[0].Parts {
		f := p.Entity.Field(part.Field)
		if f == nil {
			continue
		}
		switch f.Type.Kind {
		case design.KindTime, design.KindULID, design.KindKSUID, design.KindDate:
			return !slices.ContainsFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "hash" || fn.Name == "shard" || fn.Name == "mod" })
		default:
			return false
		}
	}
	return false
}

// localPartitionBytes is how much one partition key can hold in a table with a local index:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
const localPartitionBytes = 10 << 30

// grows is ST303: of a partition that holds many items of an entity, which nothing takes away.
func (c *checker) grows(e *design.Entity) {
	v := e.Volume
	i := slices.IndexFunc(c.languages(), func(k keyed) bool {
		return k.Entity == e && (k.Kind == plan.KeyPlace || k.Kind == plan.CopyPlace) && several(k)
	})
	if v.Per == "" || e.TTL != nil || i < 0 {
		return
	}
	deleted := slices.ContainsFunc(c.design.Writes, func(w *design.Write) bool {
		return slices.ContainsFunc(w.Steps, func(s *design.Step) bool { return s.Entity == e.Name && s.Action == design.Delete })
	})
	local := slices.ContainsFunc(c.design.TableOf(e).Indexes, func(x *design.Index) bool { return x.Local })
	const fix = "volume: { max: … } if there is a bound, ttl: if they may go, or a period in the partition key"
	switch {
	case local && (v.Max == 0 || v.Max*float64(cost.ItemSize(e)) > localPartitionBytes):
		c.find("ST303", e.Name, v.Pos, "can be more for each %s than the 10 GB that a partition key holds in a table with a local index: writes are refused then", v.Per).
			as(Error).fix(fix).report()
	case v.Max == 0 && !deleted:
		c.find("ST303", e.Name, v.Pos, "has no bound for each %s, does not expire and is never deleted: the partition grows for ever", v.Per).
			fix(fix).report()
	case !deleted && eventful(c.languages()[i].Place):
		c.find("ST303", e.Name, v.Pos, "comes again and again for each %s, does not expire and is never deleted: nothing keeps them at %s", v.Per, most(v.Max)).
			as(Info).fix("ttl: if they may go").report()
	}
}

// eventful reports whether the sort key begins with a time, as that of what comes again and again.
func eventful(p plan.Place) bool {
	for _, name := range p.SK[0].Fields() {
		f := p.Entity.Field(name)
		return f != nil && f.Type.Kind == design.KindTime
	}
	return false
}

// several reports whether a partition can hold several items of the place: the sort key has a field that the partition
// key has not.
func several(k keyed) bool {
	var pk []string
	for _, t := range k.PK {
		pk = append(pk, t.Fields()...)
	}
	for _, t := range k.SK {
		if slices.ContainsFunc(t.Fields(), func(f string) bool { return !slices.Contains(pk, f) }) {
			return true
		}
	}
	return false
}
