package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/format"
)

// namelessGrace is how long a kept snapshot may be without a name, where another server may be about to give it one.
const namelessGrace = 10 * time.Minute

// join takes a place among the servers that share the store.
func (e *Engine) join(ctx context.Context, fence *cluster.Store) (*cluster.Member, error) {
	return cluster.Join(ctx, cluster.Options{
		Store: e.store, Fence: fence, Logger: e.options.Logger,
		Form: format.Version(), Admit: format.Check,
		Changed: func(ctx context.Context) error {
			if err := e.checkMoved(ctx); err != nil { // the lease is not renewed
				return err
			}
			defer e.definitionsChanged()
			return e.catalog.Refresh(ctx)
		},
		Lead: func(ctx context.Context) {
			e.jobs.wg.Go(func() {
				e.jobs.awaitEnded()
				t := e.lead(ctx)
				if t == nil {
					return
				}
				t.every(e.jobs, rescanInterval, "look for jobs of other servers", e.jobs.resume)
				t.every(e.jobs, namelessGrace, "remove nameless snapshots", e.sweepNamelessKept())
				e.definitionsChanged()
			})
		},
		Retire: func() {
			e.jobs.endTerm()
			e.definitionsChanged()
		},
		Looked: e.landings.wakeAll, // there may be commits of other servers
	})
}

// checkMoved returns an error where the database is being moved to another store, or has been. The store around a Region's tells.
func (e *Engine) checkMoved(ctx context.Context) error {
	snapshot, err := e.site.around.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	return format.Check(snapshot)
}

// definitionsChanged has what follows definitions look at them again: deliveries to Kinesis, and the flows between Regions.
func (e *Engine) definitionsChanged() {
	e.regions.changed()
	if e.options.OnDeliveries != nil {
		e.options.OnDeliveries()
	}
}

// leaveTime is how long a server that is closed may take to give its leases up.
const leaveTime = 2 * time.Second

// leaveServers gives the server's place up.
func (e *Engine) leaveServers() {
	if e.member == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := e.member.Leave(ctx); err != nil {
		e.options.Logger.Warn("the server's leases are left to end by themselves", "error", err)
	}
}

// leads tells whether the server does the work beside requests.
func (r *jobs) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.term != nil
}

// sweepNamelessKept removes the kept snapshots that nothing named this time and the time before.
func (e *Engine) sweepNamelessKept() func(context.Context) error {
	var before []string
	return func(ctx context.Context) error {
		nameless, err := e.namelessKept(ctx)
		if err != nil {
			return err
		}
		for _, name := range nameless {
			if slices.Contains(before, name) {
				e.dropKept(ctx, name)
			}
		}
		before = nameless
		return nil
	}
}

// ErrNotCurrent says that the server cannot renew its lease, and gives no tables out.
var ErrNotCurrent = catalog.ErrNotCurrent

// Current returns nil, or ErrNotCurrent with its cause, a *format.NewerError where a newer program has taken the store.
func (e *Engine) Current() error {
	switch {
	case e.member == nil || e.member.Current():
		return nil
	case e.member.Failure() != nil:
		return fmt.Errorf("%w: %w", ErrNotCurrent, e.member.Failure())
	default:
		return ErrNotCurrent
	}
}

// Servers returns the servers that share the store, the id of this one and the store's time; none where this process has the store for itself.
func (e *Engine) Servers(ctx context.Context) (all []cluster.Server, self string, now time.Time, err error) {
	if e.member == nil {
		return nil, "", time.Time{}, nil
	}
	all, now, err = cluster.Servers(ctx, e.store)
	return all, e.member.ID(), now, err
}

// awaitServers waits until all servers know the definitions as they are.
func (e *Engine) awaitServers(ctx context.Context) error {
	if e.member == nil {
		return nil
	}
	return e.member.Await(ctx)
}
