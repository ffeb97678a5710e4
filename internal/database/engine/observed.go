package engine

import (
	"context"
	"errors"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/api"
	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/observe"
)

// lookup returns a table by the name or ARN in a request, and its counts, and records that the request is on it.
func (e *Engine) lookup(ctx context.Context, nameOrARN string) (*catalog.Table, *observe.Table, error) {
	t, err := e.catalog.Lookup(nameOrARN)
	if err != nil {
		return nil, nil, err
	}
	name := e.options.MetricsPrefix + t.Name
	counts := e.options.Observe.Table(name)
	observe.From(ctx).On(counts, name)
	return t, counts, nil
}

// Counts returns the counts of a table by its name or ARN.
func (e *Engine) Counts(nameOrARN string) (*observe.Table, error) {
	_, counts, err := e.lookup(context.Background(), nameOrARN)
	return counts, err
}

// count counts what the page consumed and returned.
func (p *page) count(r *observe.Request, counts *observe.Table) {
	r.Return(p.passed)
	units := p.ownUnits()
	r.ConsumeRead(units)
	if x := p.plan.source.index; x != nil {
		counts.Index(x.Name).Read.Add(units)
		counts.Capacity.Read.Add(p.fetchUnits)
		r.ConsumeRead(p.fetchUnits)
		return
	}
	counts.Capacity.Read.Add(units)
}

// count counts what the write's last run consumed, and when it appended a record to a stream.
func (w *write) count(e *Engine, r *observe.Request, transactional bool) {
	units := w.tableUnits(transactional)
	w.counts.Write.Add(units)
	r.ConsumeWrite(units)
	for _, x := range w.outcome.indexWrites {
		if x.index.Vector == nil { // vector indexes consume bytes, not units
			w.counts.Index(x.index.Name).Write.Add(x.units)
			r.ConsumeWrite(x.units)
		}
	}
	if w.outcome.logged {
		countRecord(w.counts, w.t, e.options.Now())
	}
	w.rank(e, transactional)
}

// countRecord records that the table's stream, if it has one, got a record.
func countRecord(counts *observe.Table, t *catalog.Table, at time.Time) {
	if s := &t.Descriptor.Stream; s.Enabled {
		counts.Wrote(s.Label, at.UnixMilli())
	}
}

// countFailure counts a rejected single write. As on AWS, a write with a false condition consumes capacity for the item it found.
func (w *write) countFailure(e *Engine, r *observe.Request, err error) {
	known, ok := errors.AsType[*apierr.Error](err)
	if !ok || w.counts == nil {
		return
	}
	if known.Code == apierr.ConditionalCheckFailedException || known.Code == apierr.DuplicateItemException {
		w.counts.ConditionsFailed.Add(1)
		units := w.tableUnits(false)
		w.counts.Write.Add(units)
		r.ConsumeWrite(units)
		w.rank(e, false)
	}
	if known.Code == apierr.TransactionConflictException {
		w.counts.Conflicts.Add(1)
	}
}

// countCanceled counts the cancellation reasons of a transaction, if err says that it was canceled.
func (g writeGroup) countCanceled(err error) {
	known, ok := errors.AsType[*apierr.Error](err)
	if !ok {
		return
	}
	details, canceled := known.Details.(api.TransactionCanceledDetails)
	if !canceled {
		return
	}
	for i, reason := range details.CancellationReasons {
		if g[i].counts == nil {
			continue
		}
		switch *reason.Code {
		case reasonConditionFailed, reasonDuplicate:
			g[i].counts.ConditionsFailed.Add(1)
		case reasonTransactionInWay:
			g[i].counts.Conflicts.Add(1)
		}
	}
}

// countRecords counts the read of a shard; at is the time of the call.
func (e *Engine) countRecords(ctx context.Context, p *recordPage, at time.Time) {
	name := e.options.MetricsPrefix + p.stream.TableName
	r, counts := observe.From(ctx), e.options.Observe.Table(name)
	r.On(counts, name)
	r.Return(int64(len(p.records)))
	upTo := p.lastTime
	if p.atEnd {
		upTo = at.UnixMilli()
	}
	counts.Read(p.stream.Label, p.shard.ID, len(p.records), upTo, !p.shard.Open() && p.next >= p.shard.End)
}
