package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/schema"
	"github.com/monotable/monotable/internal/database/engine/throttle"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
)

// enforcement enforces the capacity of tables, as configured by Options.EnforceCapacity and their tags. Writes are admitted when
// their cost is known, before they are committed (enforce_write.go). Reads are admitted with their minimum cost and charged the
// rest when they are done (enforce_read.go). Usage is kept in memory only: after a restart, tables count as idle since their
// creation. Capacity is refilled by the machine's clock: the database's stands still if that was set back.
type enforcement struct {
	limiter throttle.Limiter

	mu         sync.Mutex
	configured map[keyenc.TableID]configuration
}

// configuration is which version of a table's definition the limiter has, and when it must be updated again, because throughput
// changes when a table stops being UPDATING. 0 means never.
type configuration struct {
	version uint64
	until   int64
}

// enforces reports whether a table's capacity is enforced.
func (e *Engine) enforces(t *catalog.Table) bool {
	return t.Enforcement == catalog.Enforced || t.Enforcement == catalog.EnforcedByDefault && e.options.EnforceCapacity
}

// enforcesOn is enforces for a future definition.
func (e *Engine) enforcesOn(d *catalog.Descriptor) bool {
	tag := d.Enforcement()
	return tag == catalog.Enforced || tag == catalog.EnforcedByDefault && e.options.EnforceCapacity
}

func limitID(t *catalog.Table, x *catalog.Index) throttle.ID {
	if x == nil || x.Kind != catalog.Global { // a local index shares its table's limits
		return throttle.ID{Table: uint32(t.ID)}
	}
	return throttle.ID{Table: uint32(t.ID), Index: uint16(x.ID)}
}

// configure makes sure that the limiter has the current definition of a table.
func (e *Engine) configure(ctx context.Context, t *catalog.Table) {
	c, now := &e.enforcement, e.options.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	known, ok := c.configured[t.ID]
	if ok && known.version >= t.Version && (known.until == 0 || now.UnixMilli() < known.until) {
		return
	}
	if c.configured == nil {
		c.configured = map[keyenc.TableID]configuration{}
	}
	d, next := t.Descriptor, configuration{version: t.Version}
	unused := now.Sub(time.UnixMilli(d.Created))
	configureOne := func(x *catalog.IndexDescriptor) {
		throughput, maxima, settledAt, id := d.Billing.Throughput, d.OnDemand, d.SettledAt, throttle.ID{Table: uint32(t.ID)}
		if x != nil {
			throughput, maxima, settledAt, id.Index = x.Throughput, x.OnDemand, x.SettledAt, uint16(x.ID)
		}
		if throughput.Was != nil && now.UnixMilli() < settledAt {
			throughput = *throughput.Was
			next.until = max(next.until, settledAt)
		}
		_, bytes, err := e.statistics(ctx, t.ID, keyenc.IndexID(id.Index))
		if err != nil {
			bytes = 0 // the request itself will report the error
		}
		warm := schema.WarmOf(d, x)
		e.enforcement.limiter.Configure(id, limitsOf(d.Billing.OnDemand, throughput, warm, maxima, bytes), unused, e.clock.machine())
	}
	configureOne(nil)
	for i := range d.Indexes {
		if x := &d.Indexes[i]; !x.Local && x.Vector == nil {
			configureOne(x)
		}
	}
	c.configured[t.ID] = next
}

// limitsOf returns the limits of a table or index.
func limitsOf(onDemand bool, throughput catalog.Throughput, warm catalog.Units, maxima *catalog.Maxima, bytes int64) throttle.Settings {
	rates := throttle.Rates{warm.Read, warm.Write}
	s := throttle.Settings{Partitions: throttle.Partitions(rates, bytes)}
	if !onDemand {
		s.Limits[throttle.Provisioned] = throttle.Rates{throughput.Read, throughput.Write}
		return s
	}
	s.Limits[throttle.KeyRange] = rates
	s.Limits[throttle.AccountLimit] = throttle.Rates{schema.TableUnitsMax, schema.TableUnitsMax}
	if maxima != nil {
		s.Limits[throttle.MaxOnDemand] = throttle.Rates{max(0, maxima.Read), max(0, maxima.Write)}
	}
	return s
}

// forgetLimits discards the usage of deleted tables and indexes.
func (e *Engine) forgetLimits() {
	live := map[throttle.ID]bool{}
	tables := map[keyenc.TableID]bool{}
	for _, t := range e.catalog.Tables() {
		tables[t.ID], live[limitID(t, nil)] = true, true
		for _, x := range t.Indexes {
			live[limitID(t, x)] = true
		}
	}
	e.enforcement.limiter.Retain(func(id throttle.ID) bool { return live[id] })
	e.enforcement.mu.Lock()
	defer e.enforcement.mu.Unlock()
	for id := range e.enforcement.configured {
		if !tables[id] {
			delete(e.enforcement.configured, id)
		}
	}
}

// throttled counts a throttled item of a table and returns the error for it.
func (e *Engine) throttled(t *catalog.Table, counts *observe.Table, refusals []throttle.Refusal) *apierr.Error {
	sentence := sentenceFor(t, refusals)
	var reasons []api.ThrottlingReason
	for len(refusals) > 0 { // those of one table or index are adjacent
		n := 1
		for n < len(refusals) && refusals[n].ID == refusals[0].ID {
			n++
		}
		index, arn := "", e.catalog.TableARN(t.Name)
		if id := refusals[0].ID.Index; id != 0 {
			index = t.IndexByID(keyenc.IndexID(id)).Name
			arn += "/index/" + index
		}
		var limits []string
		for _, r := range refusals[:n] {
			if limit := r.Reason.String(); !slices.Contains(limits, limit) {
				limits = append(limits, limit)
				reason := r.Reason.Of(index != "")
				reasons = append(reasons, api.ThrottlingReason{Reason: &reason, Resource: &arn})
			}
		}
		counts.Throttle(index, refusals[0].Reason.Op == throttle.Read, limits...)
		refusals = refusals[n:]
	}
	err := sentence.With()
	if err.Code == apierr.ThrottlingException {
		err.Details = api.ThrottlingExceptionDetails{ThrottlingReasons: reasons}
	} else {
		err.Details = api.ThrottlingDetails{ThrottlingReasons: reasons}
	}
	return err
}

// sentenceFor returns AWS's message for refusals: the account's quota first, then the table, then the index.
func sentenceFor(t *catalog.Table, refusals []throttle.Refusal) apierr.Sentence {
	exceeds := func(l throttle.Limit) bool {
		return slices.ContainsFunc(refusals, func(r throttle.Refusal) bool { return r.Reason.Limit == l })
	}
	ofTable := slices.ContainsFunc(refusals, func(r throttle.Refusal) bool { return r.ID.Index == 0 })
	switch {
	case exceeds(throttle.AccountLimit):
		return apierr.AccountQuotaExceeded
	case exceeds(throttle.MaxOnDemand):
		return apierr.MaximaExceeded
	case !t.OnDemand && ofTable:
		return apierr.TableThroughputExceeded
	case !t.OnDemand:
		return apierr.IndexThroughputExceeded
	case ofTable:
		return apierr.TableCapacityExceeded
	default:
		return apierr.IndexCapacityExceeded
	}
}

// isThrottled reports whether an error is a throttling error.
func isThrottled(err error) bool {
	known, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return false
	}
	switch known.Details.(type) {
	case api.ThrottlingDetails, api.ThrottlingExceptionDetails:
		return true
	}
	return false
}

// checkQuotas checks a table's future throughput against the account's quotas, if capacity is enforced.
func (e *Engine) checkQuotas(d *catalog.Descriptor) error {
	if !e.enforcesOn(d) {
		return nil
	}
	var others catalog.Units
	for name, t := range e.catalog.Tables() {
		if name != d.Name {
			u := schema.ProvisionedUnits(t.Descriptor)
			others.Read += u.Read
			others.Write += u.Write
		}
	}
	return schema.CheckQuotas(d, others)
}
