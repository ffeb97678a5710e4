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

// The throughput limits of a partition per second, and how many partition key values count as few:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const (
	partitionWriteUnits = 1000
	partitionReadUnits  = 3000
	fewValues           = 100
	// ample is the share of the limits below which a partition key with few values is only worth an info.
	ample = 0.25
)

// partitions checks the rules on partitions and tenants, ST3xx.
func (c *checker) partitions() {
	for _, heat := range c.heats() {
		c.hot(heat)
	}
	for _, e := range c.design.Entities {
		c.grows(e)
	}
	c.together()
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

// heat is the load on the partitions of a key with few values, summed over all entities that share them.
type heat struct {
	places        []keyed
	shares        []float64 // for each place, the share of calls that goes to the busiest partition
	values        float64
	period        string // if the key is a time: the period, such as a day, whose items share a value
	busiest       string // the entity with a declared hottest item, if the partition belongs to one of its items
	items         float64
	writes, reads float64 // units per second and partition
}

// heats sums the load for each partition key that has few values, or a single one at any given time.
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
			return h.period == period && h.busiest == busiest && canShare(h.places[0], k)
		})
		if i < 0 {
			all = append(all, &heat{values: n, period: period, busiest: busiest})
			i = len(all) - 1
		}
		all[i].places, all[i].shares = append(all[i].places, k), append(all[i].shares, share)
		all[i].values = max(all[i].values, n)
		all[i].items += cost.Items(c.design, k.Entity) * k.Part()
	}
	for _, h := range all {
		if h.period != "" {
			h.values = 1
		}
		c.load(h)
	}
	return all
}

// busiest returns the entity to whose items the partitions belong, and the share of calls that goes to the busiest one; 0
// if the design does not declare it.
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
			case timed(p.Entity, part): // items of one period share a partition
			default:
				return "", 0
			}
		}
	}
	return name, v.Hottest / shards
}

// timed reports whether a part renders a period of time.
func timed(e *design.Entity, part design.Part) bool {
	f := e.Field(part.Field)
	return f != nil && (f.Type.Kind == design.KindDate || slices.ContainsFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "date" }))
}

// canShare reports whether two places can share a partition.
func canShare(a, b keyed) bool {
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

// periodOf returns the period during which new items have the same partition key; "" if the key has other fields than a
// time.
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
	for _, x := range c.design.Collections {
		p, part := plan.ForCollection(c.design, x), 0.0
		for _, m := range p.Members { // all in one partition
			part = math.Max(part, h.part(m))
		}
		if part > 0 {
			h.reads += cost.OfCollection(c.design, p).Units * x.Rate * part
		}
	}
}

// part returns the share of a place's calls that goes to each partition, or to the busiest one.
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

// hot checks ST301, ST302 and ST307.
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
	c.checkPartitionLoad(h, subject, load)
}

// few reports ST301.
func (c *checker) few(h *heat, subject string, load float64) {
	p := h.places[0]
	severity := Warning
	if load < ample {
		severity = Info
	}
	holds := fmt.Sprintf("has %.0f values: each", h.values)
	if math.Round(h.values) == 1 {
		holds = "has only one value, which"
	}
	switch {
	case h.period != "":
		holds = fmt.Sprintf("is the same for all items of one %s: their partition", h.period)
	case h.items > 0:
		items := "items"
		if math.Round(h.items/h.values) == 1 {
			items = "item"
		}
		holds += fmt.Sprintf(" holds about %.0f %s and", h.items/h.values, items)
	}
	c.find("ST301", subject, p.Pos, "the partition key %q %s takes %.0f of %d write units and %.0f of %d read units a second",
		p.PK[0].Text, holds, h.writes, partitionWriteUnits, h.reads, partitionReadUnits).as(severity).
		fix("add fields to the key that every read knows, or |shard(n); or accept it, stating the number of items").report()
}

// checkPartitionLoad reports ST302 and ST307.
func (c *checker) checkPartitionLoad(h *heat, subject string, load float64) {
	p := h.places[0]
	if growsAtEnd(p) {
		c.find("ST307", subject, p.Pos, "all new items go to the end of the partition %q: splitting it for heat does not help", p.PK[0].Text).
			fix("use |shard(n) in the partition key if the load approaches the limit").report()
	}
	if load < 2*ample {
		return
	}
	shards := math.Floor(load/(2*ample)*shardsOf(p.PK)) + 1 // each below half
	severity := Warning
	consequence := "is close to the limit of a partition"
	if load > 1 {
		severity, consequence = Error, "is over the limit of a partition: requests are throttled"
		if p.Global() {
			consequence += ", and a throttled index throttles writes to the table"
		}
	}
	on := "each partition"
	if h.busiest != "" {
		on = "the busiest " + h.busiest + " in"
	}
	c.find("ST302", subject, p.Pos, "a load of %.0f write units and %.0f read units a second on %s %q %s", h.writes, h.reads, on, p.PK[0].Text, consequence).
		as(severity).fix("use |shard(%.0f) or more in the partition key", shards).report()
}

// shardsOf returns the number of shards that a partition key value already has.
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

// growsAtEnd reports whether the sort key starts with a time, or with an identifier that starts with one.
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

// localPartitionBytes is the maximum size of an item collection, with its index entries, in a table with a local index:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/LSI.html
const localPartitionBytes = 10 << 30

// grows checks ST303: partitions that collect items of an entity that are never removed.
func (c *checker) grows(e *design.Entity) {
	v := e.Volume
	i := slices.IndexFunc(c.languages(), func(k keyed) bool { return k.Entity == e && accumulates(k) })
	if v.Per == "" || e.TTL != nil || i < 0 {
		return
	}
	deleted := slices.ContainsFunc(c.design.Writes, func(w *design.Write) bool {
		return slices.ContainsFunc(w.Steps, func(s *design.Step) bool { return s.Entity == e.Name && s.Action == design.Delete })
	})
	switch {
	case hasLocal(c.design.TableOf(e)) && (v.Max == 0 || v.Max*c.collected(e) > localPartitionBytes):
		c.find("ST303", e.Name, v.Pos, "can exceed 10 GB per %s, the limit of a partition key in a table with a local index: writes are then rejected", v.Per).
			as(Error).fix(growsFix).report()
	case v.Max == 0 && !deleted:
		c.find("ST303", e.Name, v.Pos, "has no bound per %s, does not expire and is never deleted: the partition grows forever", v.Per).
			fix(growsFix).report()
	case !deleted && eventful(c.languages()[i].Place):
		c.find("ST303", e.Name, v.Pos, "accumulates for each %s, does not expire and is never deleted: nothing enforces the bound of %s", v.Per, most(v.Max)).
			as(Info).fix("ttl: if they may expire").report()
	}
}

const growsFix = "volume: { max: … } if there is a bound, ttl: if they may expire, or a period in the partition key"

// accumulates reports whether a partition collects items of the place for as long as their owner exists: not if it is that of
// one period.
func accumulates(k keyed) bool {
	periodic := slices.ContainsFunc(k.PK, func(t *design.Template) bool {
		return slices.ContainsFunc(t.Parts, func(part design.Part) bool {
			return timed(k.Entity, part) || slices.ContainsFunc(part.Funcs, func(fn design.Func) bool { return fn.Name == "band" })
		})
	})
	return (k.Kind == plan.KeyPlace || k.Kind == plan.CopyPlace) && several(k) && !periodic
}

func hasLocal(t *design.Table) bool {
	return slices.ContainsFunc(t.Indexes, func(x *design.Index) bool { return x.Local })
}

// collected returns the bytes that an item adds to its item collection: its own, and those of its entries in local indexes.
func (c *checker) collected(e *design.Entity) float64 {
	entries := map[*design.Index]int{}
	for _, p := range plan.Places(c.design, e) {
		if p.Index != nil && p.Index.Local {
			entries[p.Index] = max(entries[p.Index], cost.SizeAt(p))
		}
	}
	size := cost.ItemSize(e)
	for _, n := range entries {
		size += n
	}
	return float64(size)
}

// together checks ST303 for entities of which none exceeds the limit of an item collection alone, but which share one.
func (c *checker) together() {
	var groups [][]keyed
	for _, k := range c.languages() {
		v := k.Entity.Volume
		if !accumulates(k) || !hasLocal(k.Table) || v.Per == "" || v.Max == 0 || v.Max*c.collected(k.Entity) > localPartitionBytes {
			continue
		}
		i := slices.IndexFunc(groups, func(g []keyed) bool { return g[0].Entity.Volume.Per == v.Per && canShare(g[0], k) })
		switch {
		case i < 0:
			groups = append(groups, []keyed{k})
		case !slices.ContainsFunc(groups[i], func(other keyed) bool { return other.Entity == k.Entity }):
			groups[i] = append(groups[i], k)
		}
	}
	for _, g := range groups {
		var names []string
		bytes := 0.0
		for _, k := range g {
			names, bytes = append(names, k.Entity.Name), bytes+k.Entity.Volume.Max*c.collected(k.Entity)
		}
		if of := g[0].Entity.Volume; bytes > localPartitionBytes {
			c.find("ST303", strings.Join(names, "+"), of.Pos, "together can exceed 10 GB per %s, the limit of a partition key in a table with a local index: writes are then rejected", of.Per).
				as(Error).fix(growsFix).report()
		}
	}
}

// eventful reports whether the sort key starts with a time, like that of recurring events.
func eventful(p plan.Place) bool {
	for _, name := range p.SK[0].Fields() {
		f := p.Entity.Field(name)
		return f != nil && f.Type.Kind == design.KindTime
	}
	return false
}

// several reports whether a partition can hold several items of the place: the sort key has a field that is not in the
// partition key.
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
