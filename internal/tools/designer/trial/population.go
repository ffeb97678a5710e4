package trial

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/monotable/monotable/design"
	"github.com/monotable/monotable/design/table"
	"github.com/monotable/monotable/internal/tools/designer/lower"
	"github.com/monotable/monotable/internal/tools/designer/plan"
)

// generator makes values of a design's types.
type generator struct {
	program *lower.Program
	rng     *rand.Rand
	pools   map[string]*pool
	limits  map[string]limits
	words   []string
	items   int
	now     time.Time
	seed    uint64
	// lean makes no large partition
	lean bool
}

func newGenerator(p *lower.Program, items int, seed uint64, now time.Time) *generator {
	g := &generator{
		program: p, pools: map[string]*pool{}, limits: map[string]limits{}, items: items, now: now, seed: seed,
		rng: rand.New(rand.NewPCG(seed, 0)), //nolint:gosec // data for tests, reproducible from the seed
	}
	for _, s := range p.Design.Structs {
		for _, f := range s.Fields {
			g.limit(s.Name+"."+f.Name, f.Type, limits{bytes: f.MaxBytes, least: f.MinBytes})
		}
	}
	for _, e := range p.Design.Entities {
		for _, f := range e.Fields {
			g.limit(f.Name, f.Type, limits{bytes: f.MaxBytes, least: f.MinBytes})
		}
		for _, place := range plan.Places(p.Design, e) {
			for _, t := range slices.Concat(place.PK, place.SK) {
				g.template(e, t)
			}
		}
	}
	for _, w := range p.Writes {
		for _, s := range w.Design.Steps {
			g.given(p.Design.Entity(s.Entity), s, slices.Concat(w.Inputs, w.Lines))
		}
	}
	return g
}

// given applies the limits of fields to the inputs that are stored in them, added to them, or identify an item by them.
func (g *generator) given(e *design.Entity, s *design.Step, inputs []lower.Input) {
	for _, a := range slices.Concat(s.By, s.Assignments()) {
		f := e.Field(a.Field)
		if f == nil || a.Value == nil {
			continue
		}
		for _, term := range a.Value.Terms {
			for _, in := range inputs {
				if term.Kind == design.ParamTerm && strings.TrimPrefix(term.Name, "line.") == in.Name {
					g.limit(in.Name, in.Type, g.limits[g.poolName(f.Name, f.Type)])
				}
			}
		}
	}
}

// template collects a template's limits on values, and its literals.
func (g *generator) template(e *design.Entity, t *design.Template) {
	for _, part := range t.Parts {
		for word := range strings.SplitSeq(part.Literal, "#") {
			if word != "" && !slices.Contains(g.words, word) && len(g.words) < 12 {
				g.words = append(g.words, word)
			}
		}
		f := e.Field(part.Field)
		if f == nil {
			continue
		}
		for _, fn := range part.Funcs {
			switch fn.Name {
			case "pad", "desc":
				g.limit(f.Name, f.Type, limits{digits: fn.Int()})
			case "ts":
				g.limit(f.Name, f.Type, limits{since: true})
			case "lower", "fold", "slug":
				g.limit(f.Name, f.Type, limits{functions: []string{fn.Name}})
			default:
			}
		}
	}
}

// limit narrows the limits of a field's pool.
func (g *generator) limit(name string, t design.Type, l limits) {
	least := func(a, b int) int {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	key := g.poolName(name, t)
	known := g.limits[key]
	g.limits[key] = limits{
		least: max(known.least, l.least), functions: slices.Concat(known.functions, l.functions),
		bytes: least(known.bytes, l.bytes), digits: least(known.digits, l.digits), since: known.since || l.since,
	}
}

// poolName is the name of the pool for a field: a reference to another item shares the pool of that item's key.
func (g *generator) poolName(name string, t design.Type) string {
	return g.program.Design.NamedLike(name, t) + " " + t.String()
}

// pool returns the pool for a field name and scalar type.
func (g *generator) pool(name string, t design.Type) *pool {
	key := g.poolName(name, t)
	p := g.pools[key]
	if p == nil {
		p = newPool(g.program.Design, g.program.Design.NamedLike(name, t), t, g.limits[key], g.words, g.now, g.seed)
		g.pools[key] = p
	}
	return p
}

// depth bounds nested structures.
const depth = 3

// value draws a value for a field. Some values are drawn often, so that items share them: about a third of the items
// have the same value in a field that others refer to.
func (g *generator) value(name string, t design.Type, deep int) types.AttributeValue {
	switch t.Kind {
	case design.KindStruct:
		m := map[string]types.AttributeValue{}
		for _, f := range g.program.Design.Struct(t.Name).Fields {
			if f.Optional && (deep >= depth || g.rng.IntN(3) == 0) {
				continue
			}
			if v := g.value(t.Name+"."+f.Name, f.Type, deep+1); v != nil {
				lower.Put(m, f.Path, v)
			}
		}
		return &types.AttributeValueMemberM{Value: m}
	case design.KindList:
		list := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
		for range g.some(deep) {
			list.Value = append(list.Value, g.value(name, *t.Elem, deep+1))
		}
		return list
	case design.KindMap:
		m := map[string]types.AttributeValue{}
		for range g.some(deep) {
			m[[]string{"a", "b", "a#b", "名"}[g.rng.IntN(4)]] = g.value(name, *t.Elem, deep+1)
		}
		return &types.AttributeValueMemberM{Value: m}
	case design.KindSet:
		return g.set(name, *t.Elem)
	case design.KindEnum, design.KindBool:
		p := g.pool(name, t)
		return p.at(g.rng.IntN(p.head))
	default:
		return g.skewed(g.pool(name, t))
	}
}

// some is the number of members of a list or map.
func (g *generator) some(deep int) int {
	if deep >= depth {
		return 0
	}
	return g.rng.IntN(4)
}

// set is a set of some members; nil if it is empty, which is not stored.
func (g *generator) set(name string, elem design.Type) types.AttributeValue {
	var members []types.AttributeValue
	for range g.rng.IntN(4) {
		v := g.skewed(g.pool(name, elem))
		if !slices.ContainsFunc(members, func(m types.AttributeValue) bool { return equal(m, v) }) {
			members = append(members, v)
		}
	}
	if len(members) == 0 {
		return nil
	}
	return setValue(elem, members)
}

// skewed draws the first value with probability 1/3, the second with 1/4, otherwise one of the chosen or any.
func (g *generator) skewed(p *pool) types.AttributeValue {
	switch r := g.rng.IntN(100); {
	case r < 33:
		return p.at(0)
	case r < 58:
		return p.at(g.rng.IntN(min(p.head, 5)))
	case r < 85:
		return p.chosen(g.rng)
	default:
		return p.at(g.rng.IntN(max(g.items, 1)))
	}
}

// wide draws from the chosen values and from all.
func (g *generator) wide(p *pool) types.AttributeValue {
	if g.rng.IntN(2) == 0 {
		return p.chosen(g.rng)
	}
	return p.at(g.rng.IntN(max(2*g.items, 1)))
}

// attempts is how often an item is redrawn if it exists already, or cannot be stored.
const attempts = 40

// refused is an entity for which no item could be made.
type refused struct {
	entity *design.Entity
	err    error
}

// populate makes items of every entity in addition to the given ones, up to the generator's number, or the entity's
// volume if that is smaller.
func (g *generator) populate(given []*record) (out []*record, none []refused) {
	identities := newIdentities(given)
	for _, r := range given {
		own := *r // it is changed below: counters, large texts
		own.values = maps.Clone(r.values)
		out = append(out, &own)
	}
	for _, e := range g.program.Design.Entities {
		decoys := g.decoys(e, identities)
		out = append(out, decoys...)
		created := len(decoys)
		var last error
		for i := 0; created < g.share(e) && i < g.share(e)+attempts; i++ {
			r, err := g.fresh(e, i, identities)
			if err != nil {
				last = err
				continue
			}
			out, created = append(out, r), created+1
		}
		if created == 0 && !slices.ContainsFunc(given, func(r *record) bool { return r.entity == e }) {
			none = append(none, refused{e, last})
		}
	}
	if !g.lean {
		g.exceedPage(out)
	}
	count(g.program, out)
	return out, none
}

// share is the number of items for an entity.
func (g *generator) share(e *design.Entity) int {
	if declared := int(max(e.Volume.Count, e.Volume.Max)); e.Volume.Per == "" && declared > 0 {
		return min(g.items, declared)
	}
	return g.items
}

// fresh draws items until one is new and can be stored.
func (g *generator) fresh(e *design.Entity, i int, known *identities) (*record, error) {
	var last error
	for range attempts {
		r := g.record(e, i)
		if _, err := table.Items(r.run, r.values); err != nil {
			last = err
			continue
		}
		if known.add(r) {
			return r, nil
		}
		last = fmt.Errorf("cannot generate more distinct keys for %s", e.Name)
	}
	return nil, last
}

// record draws an item. If a single field identifies the item, item i has value i of it; if several do, the first are
// drawn from few values and the last from many, so that different partitions have the same sort keys.
func (g *generator) record(e *design.Entity, i int) *record {
	r := newRecord(g.program, e)
	key := plan.KeyFields(e)
	for _, f := range e.Fields {
		counter := slices.ContainsFunc(e.Counters, func(c *design.Counter) bool { return c.Field == f.Name })
		at := slices.Index(key, f.Name)
		switch {
		case counter:
			continue // set once all items exist
		case at >= 0 && f.Type.Scalar() && len(key) == 1:
			r.values[f.Name] = g.pool(f.Name, f.Type).at(i)
		case at >= 0 && f.Type.Scalar() && at == len(key)-1:
			r.values[f.Name] = g.wide(g.pool(f.Name, f.Type))
		case f.Optional && g.rng.IntN(10) < 3:
			continue
		default:
			if v := g.value(f.Name, f.Type, 0); v != nil {
				r.values[f.Name] = v
			}
		}
	}
	return r
}

// identities are the values that must be unique: items by their key fields, and markers by theirs. Values that lower,
// fold and slug make equal count as equal.
type identities struct{ seen map[uint64]bool }

func newIdentities(given []*record) *identities {
	known := &identities{seen: map[uint64]bool{}}
	for _, r := range given {
		known.add(r)
	}
	return known
}

// add adds a record unless it, or a unique value of it, exists.
func (k *identities) add(r *record) bool {
	tokens := append([]uint64{r.identity()}, r.markers()...)
	for _, t := range tokens {
		if k.seen[t] {
			return false
		}
	}
	for _, t := range tokens {
		k.seen[t] = true
	}
	return true
}

// count sets the counters of all items to the correct values. A counter may be the sum of other counters, which then must be
// correct first: counters cannot be circular, so there are at most as many passes as counters, and one that finds nothing to do.
func count(p *lower.Program, records []*record) {
	passes := 1
	for _, e := range p.Design.Entities {
		passes += len(e.Counters)
	}
	for range passes {
		correct, sums := true, tallies(p.Design, records)
		for _, r := range records {
			for _, c := range r.entity.Counters {
				if n := numberValue(sums[c][r.identity()].String()); !equal(n, r.values[c.Field]) {
					r.give(c.Field, n)
					correct = false
				}
			}
		}
		if correct {
			return
		}
	}
}

// recounted are records with the correct counters for them alone. The given records do not change.
func recounted(p *lower.Program, records []*record) []*record {
	out := slices.Clone(records)
	for i, r := range out {
		if len(r.entity.Counters) > 0 {
			out[i] = cloned(r)
		}
	}
	count(p, out)
	return out
}
