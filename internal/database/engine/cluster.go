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

// namelessGrace is how long a kept snapshot may be unreferenced when another server may be about to reference it.
const namelessGrace = 10 * time.Minute

// join registers this server with those that share the store.
func (e *Engine) join(ctx context.Context, fence *cluster.Store) (*cluster.Member, error) {
	return cluster.Join(ctx, cluster.Options{
		Store: e.store, Fence: fence, Logger: e.options.Logger,
		Form: format.Version(), Admit: format.Check,
		Changed: func(ctx context.Context) error {
			if err := e.checkMoved(ctx); err != nil { // otherwise the lease is not renewed
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
		Looked: e.appendCounts.wakeAll, // other servers may have committed
	})
}

// checkMoved returns an error if the database is being moved to another store or has been moved, according to the store that
// contains the Region's part.
func (e *Engine) checkMoved(ctx context.Context) error {
	snapshot, err := e.site.around.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	return format.Check(snapshot)
}

// definitionsChanged notifies what depends on table definitions: deliveries to Kinesis, and replication between Regions.
func (e *Engine) definitionsChanged() {
	e.regions.changed()
	if e.options.OnDeliveries != nil {
		e.options.OnDeliveries()
	}
}

// leaveTime is how long a closing server may take to give up its leases.
const leaveTime = 2 * time.Second

// leaveServers gives up the server's leases.
func (e *Engine) leaveServers() {
	if e.member == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaveTime)
	defer cancel()
	if err := e.member.Leave(ctx); err != nil {
		e.options.Logger.Warn("could not give up the server's leases: they will expire", "error", err)
	}
}

// leads reports whether this server does the background work.
func (r *jobs) leads() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.term != nil
}

// sweepNamelessKept removes kept snapshots that were unreferenced both at this sweep and at the previous one.
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

// ErrNotCurrent means that the server cannot renew its lease and therefore serves no tables.
var ErrNotCurrent = catalog.ErrNotCurrent

// Current returns nil, or ErrNotCurrent with its cause: a *format.NewerError if a newer program has taken over the store.
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

// Servers returns the servers that share the store, the ID of this one and the store's time; none if this process has the
// store to itself.
func (e *Engine) Servers(ctx context.Context) (all []cluster.Server, self string, now time.Time, err error) {
	if e.member == nil {
		return nil, "", time.Time{}, nil
	}
	all, now, err = cluster.Servers(ctx, e.store)
	return all, e.member.ID(), now, err
}

// awaitServers waits until all servers have seen the current definitions.
func (e *Engine) awaitServers(ctx context.Context) error {
	if e.member == nil {
		return nil
	}
	return e.member.Await(ctx)
}
