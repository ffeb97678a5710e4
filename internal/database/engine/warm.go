package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// warmInterval is how often the traffic of tables is measured.
const warmInterval = time.Minute

// traffic is the state of raiseWarm for on-demand tables and indexes. Only that task's goroutine uses it.
type traffic map[trackerID]*trafficOf

type trafficOf struct {
	counts *observe.Capacity
	seen   [2]float64 // read and write units counted so far
	at     time.Time
	growth throttle.Growth
}

// raiseWarm raises the warm throughput of on-demand tables and their indexes with their traffic, whether or not capacity is
// enforced. It uses existing counts, so it costs requests nothing.
func (e *Engine) raiseWarm(ctx context.Context) error {
	if e.traffic == nil {
		e.traffic = traffic{}
	}
	e.forgetLimits()
	now, live, err := e.options.Now(), map[trackerID]bool{}, error(nil)
	byName := map[string]*observe.Table{}
	for _, counts := range e.options.Observe.Tables() {
		byName[counts.Name] = counts
	}
	for _, t := range e.catalog.Tables() {
		counts := byName[e.options.MetricsPrefix+t.Name]
		if !t.OnDemand || t.Descriptor.GoneAt != 0 || counts == nil { // not used, or not counted by name
			continue
		}
		grown := map[keyenc.IndexID]throttle.Rates{}
		follow := func(x *catalog.IndexDescriptor, id keyenc.IndexID, counts *observe.Capacity) {
			of := trackerID{t.ID, id}
			live[of] = true
			warm := schema.WarmOf(t.Descriptor, x)
			was := throttle.Rates{warm.Read, warm.Write}
			if is := e.traffic.observe(of, counts, was, now); is != was {
				grown[id] = is
			}
		}
		follow(nil, 0, &counts.Capacity)
		for i := range t.Descriptor.Indexes {
			if x := &t.Descriptor.Indexes[i]; !x.Local && x.Vector == nil && counts.Indexes()[x.Name] != nil {
				follow(x, x.ID, counts.Indexes()[x.Name])
			}
		}
		if len(grown) > 0 {
			err = errors.Join(err, e.keepWarm(ctx, t, grown))
		}
	}
	for of := range e.traffic {
		if !live[of] {
			delete(e.traffic, of)
		}
	}
	return err
}

// observe returns the warm throughput that follows from the consumption since the last call.
func (tr traffic) observe(of trackerID, counts *observe.Capacity, warm throttle.Rates, now time.Time) throttle.Rates {
	units := [2]float64{counts.Read.Total(), counts.Write.Total()}
	last := tr[of]
	if last == nil || last.counts != counts || !now.After(last.at) {
		tr[of] = &trafficOf{counts: counts, seen: units, at: now}
		return warm
	}
	seconds := now.Sub(last.at).Seconds()
	consumed := [2]float64{(units[0] - last.seen[0]) / seconds, (units[1] - last.seen[1]) / seconds}
	last.seen, last.at = units, now
	return last.growth.Observe(consumed, warm, throttle.Rates{schema.TableUnitsMax, schema.TableUnitsMax}, now)
}

// keepWarm stores the warm throughput of a table (0) and its indexes.
func (e *Engine) keepWarm(ctx context.Context, t *catalog.Table, grown map[keyenc.IndexID]throttle.Rates) error {
	d, err := e.catalog.Change(ctx, t.Name, func(_ kv.Txn, d *catalog.Descriptor) error {
		if d.ID != t.ID || !d.Billing.OnDemand {
			return nil
		}
		for id, rates := range grown {
			raised := &catalog.Units{Read: rates[throttle.Read], Write: rates[throttle.Write]}
			if id == 0 {
				d.Warm = raised
			} else if x := d.IndexByID(id); x != nil {
				x.Warm = raised
			}
		}
		return nil
	})
	if isNotFound(err) {
		return nil
	}
	if err == nil {
		e.spread(ctx, d, 0)
	}
	return err
}
