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

// payment is what writes of one request take of the capacity of their tables and indexes. It is taken within the
// transaction of the store, when the cost is known; a transaction that runs again takes it again. The zero payment has
// taken nothing. It lies in the first of the writes, so that it costs nothing where nothing is enforced.
type payment struct{ grant *throttle.Grant }

// throttledError is the error of writes that there is no capacity for.
type throttledError struct {
	errs []error // by write; nil for those that there is capacity for
}

// others are those of the writes that there is capacity for; with none of them, there is an error.
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

// take takes what the last runs of writes have cost, of all of them or of none: then the error is a *throttledError.
func (p *payment) take(ctx context.Context, e *Engine, g writeGroup, transactional bool) error {
	p.refund()
	var demands []throttle.Demand
	now := e.options.Now()
	for i, w := range g {
		if w.origin == logenc.OriginClient && e.enforces(w.t) {
			e.configure(ctx, w.t, now)
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

// takeSingle is take for one write by itself, which has run and may have failed. As on AWS, one whose condition is false is
// paid as well.
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

// settle gives back what was taken for writes that ended with err.
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

// isPaid reports whether a single write that failed consumes what the item that it found would.
func isPaid(failure error) bool {
	if _, ok := errors.AsType[*conditionError](failure); ok {
		return true
	}
	known, ok := errors.AsType[*apierr.Error](failure)
	return ok && known.Code == apierr.DuplicateItemException
}

// appendDemands appends what the write's last run has cost. Local indexes are in their table's partition.
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
		case catalog.Vector: // which consumes bytes and not units
		}
	}
	return demands
}
