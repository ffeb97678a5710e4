package engine

import (
	"context"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/engine/capacity"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/insights"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// reading is an admitted read of one table or index. Its owner calls end when the read is over. It is nil if the table's capacity
// is not enforced.
type reading struct {
	engine *Engine
	least  throttle.Demand
	grant  throttle.Grant
	begun  time.Time
}

// admitRead admits a read that starts at a partition hash of a table or of its index x, which may be nil. An error is for the
// client.
func (e *Engine) admitRead(ctx context.Context, t *catalog.Table, x *catalog.Index, counts *observe.Table, hash uint16, c capacity.Consistency) (*reading, error) {
	if !e.enforces(t) {
		return nil, nil //nolint:nilnil // as the type says
	}
	now := e.clock.machine()
	e.configure(ctx, t)
	r := &reading{engine: e, begun: now, least: throttle.Demand{
		ID: limitID(t, x), Op: throttle.Read, Hash: hash, Units: capacity.ReadUnits(0, c),
	}}
	var refusals []throttle.Refusal
	if r.grant, refusals = e.enforcement.limiter.Take([]throttle.Demand{r.least}, now); refusals != nil {
		return nil, e.throttled(t, counts, refusals)
	}
	return r, nil
}

// admitItem is admitRead for an item, by its store key.
func (e *Engine) admitItem(ctx context.Context, t *catalog.Table, counts *observe.Table, key []byte, c capacity.Consistency) (*reading, error) {
	r, err := e.admitRead(ctx, t, nil, counts, hashOf(key), c)
	if err != nil {
		e.rankItem(insights.Throttled, t, key, 1)
	}
	return r, err
}

// charge charges the finished read its full cost.
func (r *reading) charge(units float64) {
	if r == nil {
		return
	}
	rest := r.least
	rest.Units = units - r.least.Units
	r.spend(rest)
}

func (r *reading) spend(demands ...throttle.Demand) {
	r.engine.enforcement.limiter.Spend(demands, r.engine.clock.machine())
	r.grant = throttle.Grant{}
}

// end returns the admitted units of a read that was not charged.
func (r *reading) end() {
	if r != nil {
		r.grant.Refund()
	}
}

// transactionReading is an admitted transaction of reads. It is nil if no table's capacity is enforced.
type transactionReading struct {
	engine  *Engine
	demands []throttle.Demand // by item
}

// admitTransaction admits located reads, all or none.
func (e *Engine) admitTransaction(ctx context.Context, gets []transactGet) (*transactionReading, error) {
	now := e.clock.machine()
	r := &transactionReading{engine: e}
	for i := range gets {
		g := &gets[i]
		if !e.enforces(g.t) {
			continue
		}
		e.configure(ctx, g.t)
		if r.demands == nil {
			r.demands = make([]throttle.Demand, len(gets))
		}
		r.demands[i] = throttle.Demand{
			Item: i, ID: limitID(g.t, nil), Op: throttle.Read, Hash: hashOf(g.key), Units: capacity.ReadUnits(0, capacity.Transactional),
		}
	}
	if r.demands == nil {
		return nil, nil //nolint:nilnil // as the type says
	}
	_, refusals := e.enforcement.limiter.Take(r.demands, now)
	if refusals == nil {
		return r, nil
	}
	errs := make([]error, len(gets))
	for i := range gets {
		own := slices.DeleteFunc(slices.Clone(refusals), func(r throttle.Refusal) bool { return r.Item != i })
		if len(own) > 0 {
			errs[i] = e.throttled(gets[i].t, gets[i].counts, own)
			e.rankItem(insights.Throttled, gets[i].t, gets[i].key, 1)
		}
	}
	return nil, canceledFor(errs)
}

// charge charges one of the reads. A read is paid for even if others fail.
func (r *transactionReading) charge(item int, units float64) {
	if r == nil {
		return
	}
	d := r.demands[item]
	d.Units = units - d.Units
	r.engine.enforcement.limiter.Spend([]throttle.Demand{d}, r.engine.clock.machine())
}

// chargeRead charges a read of an item that was not admitted beforehand.
func (e *Engine) chargeRead(t *catalog.Table, key []byte, units float64) {
	if e.enforces(t) {
		d := throttle.Demand{ID: limitID(t, nil), Op: throttle.Read, Hash: hashOf(key), Units: units}
		e.enforcement.limiter.Spend([]throttle.Demand{d}, e.clock.machine())
	}
}

// hashOf returns the partition hash of a key or key prefix.
func hashOf(key []byte) uint16 {
	hash, err := keyenc.HashOf(key)
	if err != nil {
		return 0 // the first hash, at which a full scan begins
	}
	return hash
}

// admitPage admits a page and determines how many bytes there is capacity for.
func (e *Engine) admitPage(ctx context.Context, plan *pagePlan) (*reading, error) {
	s := &plan.source
	r, err := e.admitRead(ctx, s.table, s.index, plan.counts, hashOf(plan.lo), plan.consistency)
	if err != nil {
		e.rankPartition(insights.Throttled, s, plan.clauses, 1)
	}
	if err != nil || r == nil {
		return nil, err
	}
	left := e.enforcement.limiter.Available(r.least.ID, throttle.Read, r.least.Hash, r.begun)
	plan.affordable = int((left + r.least.Units) / capacity.ReadUnits(0, plan.consistency) * capacity.ReadUnitBytes)
	return r, nil
}

// spread is how a page's bytes are distributed over partition hashes, which occur in order.
type spread []struct {
	hash  uint16
	bytes int
}

// grain is how many hashes a spread combines.
const grain = 256

func (s *spread) add(hash uint16, bytes int) {
	if n := len(*s); n == 0 || (*s)[n-1].hash/grain != hash/grain {
		*s = append(*s, struct {
			hash  uint16
			bytes int
		}{hash, 0})
	}
	(*s)[len(*s)-1].bytes += bytes
}

// chargePage charges a page to the partitions it has read, each for its share.
func (r *reading) chargePage(p *page) {
	if r == nil {
		return
	}
	units := p.units()
	if len(p.spread) == 0 {
		r.charge(units)
		return
	}
	left := units - r.least.Units // the last partition gets the rounding difference
	demands := make([]throttle.Demand, len(p.spread))
	for i, part := range p.spread {
		demands[i] = r.least
		demands[i].Hash = part.hash
		demands[i].Units = (units - r.least.Units) * float64(part.bytes) / float64(max(1, p.evaluatedBytes))
		if i == len(p.spread)-1 {
			demands[i].Units = left
		}
		left -= demands[i].Units
	}
	r.spend(demands...)
}
