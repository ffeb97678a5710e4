package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// payment is the capacity that the writes of one request have taken from their tables and indexes. It is taken within the store's
// transaction, when the cost is known; a transaction that is retried takes it again. The zero payment has taken nothing. It is
// embedded in the first write, so it costs nothing when capacity is not enforced.
type payment struct{ grant *throttle.Grant }

// throttledError is the error of writes without available capacity.
type throttledError struct {
	errs []error // by write; nil for those with capacity
}

// others returns the writes that had capacity, or an error if none had.
func (t *throttledError) others(g writeGroup) (others writeGroup, err error) {
	for i, w := range g {
		if t.errs[i] == nil {
			others = append(others, w)
		} else {
			err = cmp.Or(err, t.errs[i])
		}
	}
	if others != nil {
		return others, nil
	}
	return nil, err
}

func (t *throttledError) Error() string { return fmt.Sprint("engine: throttled: ", t.errs) }

// take takes the cost of the last run of the writes, of all or none. If there is not enough capacity the error is a
// *throttledError.
func (p *payment) take(ctx context.Context, e *Engine, g writeGroup, transactional bool) error {
	p.refund()
	var demands []throttle.Demand
	now := e.clock.machine()
	for i, w := range g {
		if w.origin == logenc.OriginClient && e.enforces(w.t) {
			e.configure(ctx, w.t)
			demands = w.appendDemands(demands, i, transactional)
		}
	}
	if demands == nil {
		return nil
	}
	grant, refusals := e.enforcement.limiter.Take(demands, now)
	if refusals == nil {
		p.grant = &grant
		return nil
	}
	byWrite := make([][]throttle.Refusal, len(g))
	for _, r := range refusals {
		byWrite[r.Item] = append(byWrite[r.Item], r)
	}
	refused := &throttledError{make([]error, len(g))}
	for i, w := range g {
		if byWrite[i] != nil {
			refused.errs[i] = e.throttled(w.t, w.counts, byWrite[i])
			w.rankThrottled(e, byWrite[i])
		}
	}
	return refused
}

// takeSingle is take for a single write, which may have failed. As on AWS, a write with a false condition is charged, too.
func (p *payment) takeSingle(ctx context.Context, e *Engine, w *write, failure error) error {
	if failure != nil && !isPaid(failure) {
		return failure
	}
	if !e.enforces(w.t) {
		return failure
	}
	err := p.take(ctx, e, writeGroup{w}, false)
	if refused, ok := errors.AsType[*throttledError](err); ok {
		return refused.errs[0]
	}
	return failure
}

// settle returns what was taken for writes that failed with err.
func (p *payment) settle(err error) {
	if err != nil && !isPaid(err) {
		p.refund()
	}
}

func (p *payment) refund() {
	if p.grant != nil {
		p.grant.Refund()
	}
}

// isPaid reports whether a failed single write consumes capacity for the item it found.
func isPaid(failure error) bool {
	if _, ok := errors.AsType[*conditionError](failure); ok {
		return true
	}
	known, ok := errors.AsType[*apierr.Error](failure)
	return ok && known.Code == apierr.DuplicateItemException
}

// appendDemands appends the cost of the write's last run. Local indexes share their table's partition.
func (w *write) appendDemands(demands []throttle.Demand, item int, transactional bool) []throttle.Demand {
	at := len(demands)
	demands = append(demands, throttle.Demand{
		Item: item, ID: limitID(w.t, nil), Op: throttle.Write, Hash: hashOf(w.key), Units: w.tableUnits(transactional),
	})
	for _, x := range w.outcome.indexWrites {
		switch x.index.Kind {
		case catalog.Local:
			demands[at].Units += x.units
		case catalog.Global:
			d := throttle.Demand{Item: item, ID: limitID(w.t, x.index), Op: throttle.Write, Hash: x.hash, Units: x.units - x.leftUnits}
			if demands = append(demands, d); x.leftUnits > 0 {
				d.Hash, d.Units = x.leftHash, x.leftUnits
				demands = append(demands, d)
			}
		case catalog.Vector: // vector indexes consume bytes, not units
		}
	}
	return demands
}
