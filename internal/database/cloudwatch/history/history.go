// Package history keeps some hours of a database's metrics, minute by minute, under AWS's names.
//
// # Model
//
//	observe.Database ──count──► totals ──since──► one Sample per Series ──write──► one record per minute in the store
//
// Once a minute the counters of package observe are read, and the difference to the previous values is written as the record of
// the minute. Requests do no extra work. The current minute is not in the store yet: Read computes it on demand, so a request is
// visible as soon as it has been answered.
//
// # Invariants
//
//	I1  Everything counted belongs to exactly one minute: the current one when it was written.
//	I2  A crash loses at most the current minute. Close writes it.
//	I3  A minute has at most seriesMax series and recordMax bytes, and minutes are kept for Kept.
//
// # Concurrency
//
// All methods are safe for concurrent use.
package history

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// restMin is the minimum time between two looks at the clock. The database's stands still while the machine's, which was set back,
// catches up, and may do so a millisecond before the end of a minute.
const restMin = 100 * time.Millisecond

// closeTime is how long Close waits for a store that does not respond before it gives up the current minute.
const closeTime = 3 * time.Second

// Options configure a History; all but Pending are required.
type Options struct {
	Store   kv.Store
	Observe *observe.Database
	Tables  func() Tables
	// Pending returns the changes that have not arrived in other Regions, of tables for which AWS has this metric; nil if there
	// are none.
	Pending func(context.Context) (Pending, error)
	Now     func() time.Time
	Logger  *slog.Logger
}

// History records metrics until it is closed.
type History struct {
	options Options
	stop    context.CancelFunc
	stopped chan struct{}

	mu     sync.Mutex
	minute int64  // the current minute
	before totals // at its start
}

// Start starts to record. Earlier counts belong to the current minute.
func Start(o Options) *History {
	ctx, stop := context.WithCancel(context.Background())
	h := &History{options: o, stop: stop, stopped: make(chan struct{}), minute: minuteOf(o.Now())}
	go h.run(ctx)
	return h
}

func minuteOf(t time.Time) int64 { return max(0, t.Unix()/60) }

// run writes each minute when it ends.
func (h *History) run(ctx context.Context) {
	defer close(h.stopped)
	for {
		now := h.options.Now()
		timer := time.NewTimer(max(restMin, now.Truncate(time.Minute).Add(time.Minute).Sub(now)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
			if minuteOf(h.options.Now()) == minuteOf(now) {
				continue
			}
			if err := h.Settle(ctx); err != nil && ctx.Err() == nil {
				h.options.Logger.Warn("metrics of one minute were lost", "error", err)
			}
		}
	}
}

// Settle writes the current minute's record and starts the next minute.
func (h *History) Settle(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	tables := h.options.Tables()
	pending, failed := h.pending(ctx)
	counted := count(h.options.Observe, tables, true)
	measured := counted.since(h.before)
	addProvisioned(measured, tables)
	addPending(measured, pending)
	minute := h.minute
	h.before, h.minute = counted, max(h.minute, minuteOf(h.options.Now()))
	h.forgetDeleted()
	return errors.Join(failed, write(ctx, h.options.Store, minute, measured))
}

func (h *History) pending(ctx context.Context) (Pending, error) {
	if h.options.Pending == nil {
		return nil, nil //nolint:nilnil // there are none
	}
	return h.options.Pending(ctx)
}

// forgetDeleted removes deleted tables from those counted by name. It looks up the existing tables after the counted ones, so
// that a table created concurrently is not removed.
func (h *History) forgetDeleted() {
	tables := sync.OnceValue(h.options.Tables)
	h.options.Observe.Retain(func(name string) bool { return tables()[name] != nil })
}

// Read calls visit with the measurements in [from, to), minute by minute. A series may be visited twice in a minute, with two
// samples to be merged.
func (h *History) Read(ctx context.Context, from, to time.Time, visit func(minute time.Time, s Series, m Sample)) error {
	h.mu.Lock()
	tables, underWay := h.options.Tables(), h.minute
	now := count(h.options.Observe, tables, false).since(h.before)
	h.mu.Unlock()
	addProvisioned(now, tables)
	pending, err := h.pending(ctx)
	if err != nil {
		return err
	}
	addPending(now, pending)
	first := max(minuteOf(from), underWay-keptMinutes+1)
	end := minuteOf(to.Add(time.Minute - time.Nanosecond))
	at := func(minute int64) time.Time { return time.Unix(minute*60, 0).UTC() }
	if first <= underWay && underWay < end {
		for s, m := range now {
			visit(at(underWay), s, m)
		}
	}
	if first >= end {
		return nil
	}
	return read(ctx, h.options.Store, first, end, func(minute int64, s Series, m Sample) { visit(at(minute), s, m) })
}

// Close writes the current minute, if the store accepts it within some seconds, and stops recording. The store must still be
// open.
func (h *History) Close() error {
	h.stop()
	<-h.stopped
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return h.Settle(ctx)
}
