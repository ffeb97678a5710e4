package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/monotable/monotable/internal/database/dynamo/apierr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// Regions are the engines of one server, one for each Region, on parts of the same store. Their tables may be replicas of a
// global table.
type Regions struct {
	mu      sync.Mutex
	engines map[string]*Engine
	opened  chan struct{} // closed when all engines are open
	once    sync.Once
	counts  atomic.Pointer[[]*appendCounts] // of the engines

	strong strongWrites

	restoring chan struct{} // one element for each restore that is running
}

// NewRegions returns the Regions of a server. Each engine opened with it belongs to it.
func NewRegions() *Regions {
	return &Regions{engines: map[string]*Engine{}, opened: make(chan struct{}), restoring: make(chan struct{}, restoresAtOnce)}
}

// Opened signals that all engines are open, which starts replication.
func (r *Regions) Opened() {
	r.once.Do(func() {
		for _, e := range r.all() {
			e.removeMissing(context.Background())
		}
		close(r.opened)
	})
}

// all returns the engines of the served Regions.
func (r *Regions) all() []*Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.engines))
}

func (r *Regions) add(e *Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.engines[e.options.Region] = e
	all := make([]*appendCounts, 0, len(r.engines))
	for _, x := range r.engines {
		all = append(all, &x.appendCounts)
	}
	r.counts.Store(&all)
}

// appendCounts returns those of all engines. It is lock-free, because every write calls it.
func (r *Regions) appendCounts() []*appendCounts {
	if all := r.counts.Load(); all != nil {
		return *all
	}
	return nil
}

// get returns the engine of a Region, or nil if the server does not serve it.
func (r *Regions) get(region string) *Engine {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.engines[region]
}

// names returns the names of the served Regions.
func (r *Regions) names() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(r.engines)), ", ")
}

// served returns the engine of a Region, or an error that says how to serve it.
func (r *Regions) served(region string) (*Engine, error) {
	if e := r.get(region); e != nil {
		return e, nil
	}
	return nil, apierr.ReplicaRegionUnserved.With(region, r.names())
}

// changed wakes the replication of every Region after a change of a definition.
func (r *Regions) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.engines {
		e.flows.wake()
	}
}

// checkRegion rejects a store with replicas of another Region: the other replicas would no longer get their changes, and one could
// become a replica of itself.
func (e *Engine) checkRegion() error {
	for _, t := range e.catalog.Tables() {
		if d := t.Descriptor; d.IsReplica() && d.Global.Region != e.options.Region {
			return fmt.Errorf("the database's default Region is %s, not %s: its table %s is the replica there. Use --region %[1]s (Options.Region), and --regions (Options.Regions) for the others",
				d.Global.Region, e.options.Region, d.Name)
		}
	}
	return nil
}

// enclosed is a store that is part of another one.
type enclosed interface {
	Around() kv.Store
	Outer(keys [][]byte) [][]byte
	Within(txn kv.Txn) kv.Txn
	Reading(r kv.Reader) kv.Reader
}

// site is where an engine's store is located: in another store, or on its own.
type site struct {
	around  kv.Store
	outer   func(keys [][]byte) [][]byte
	within  func(txn kv.Txn) kv.Txn
	reading func(r kv.Reader) kv.Reader
}

func siteOf(store kv.Store) site {
	if part, ok := store.(enclosed); ok {
		return site{refusingStore{part.Around()}, part.Outer, part.Within, part.Reading}
	}
	return site{
		refusingStore{store},
		func(keys [][]byte) [][]byte { return keys }, func(txn kv.Txn) kv.Txn { return txn },
		func(r kv.Reader) kv.Reader { return r },
	}
}

// member is a Region's share of an update that writes in several Regions.
type member struct {
	engine *Engine
	intent kv.Intent
	txn    kv.Txn // set during the update

	seen      *observedTxn
	checkTerm func(kv.Reader) error
}

// jointly runs fn in one transaction that holds the keys of all intents, and commits in all Regions or in none. The other fields
// of the intents must be equal.
func (r *Regions) jointly(ctx context.Context, members []*member, fn func() error) error {
	first := members[0]
	in := first.intent
	in.Write, in.Check = nil, nil
	for _, m := range members {
		in.Write = append(in.Write, m.engine.site.outer(m.intent.Write)...)
		in.Check = append(in.Check, m.engine.site.outer(m.intent.Check)...)
		var term [][]byte
		term, m.checkTerm = m.engine.fence.Term(ctx) // the update bypasses the fence
		in.Check = append(in.Check, m.engine.site.outer(term)...)
		m.seen = new(observedTxn)
	}
	err := first.engine.site.around.Update(ctx, in, func(txn kv.Txn) error {
		for _, m := range members {
			m.seen.begin(m.engine.site.within(txn), m.engine.clock)
			m.txn = m.seen
			if err := m.checkTerm(m.txn); err != nil {
				return err
			}
		}
		if err := fn(); err != nil {
			return err
		}
		for _, m := range members {
			m.seen.advance()
		}
		return nil
	})
	for _, m := range members {
		m.seen.settle(&m.engine.appendCounts, &m.engine.sweeps, err)
	}
	return err
}

// replicaMember is a replica whose definition is changed together with those of the other replicas.
type replicaMember struct {
	member
	before *catalog.Descriptor
	d      *catalog.Descriptor // the definition, set during fn of changeReplicas, and afterwards the new one
}

// changeReplicas changes the definitions of replicas in one commit, together with new replicas in the Regions of more, whose
// intents name their keys. edit may run more than once.
func (r *Regions) changeReplicas(ctx context.Context, replicas []*replicaMember, more []*member, edit func() error) error {
	members := more
	for _, x := range replicas {
		x.intent = kv.Intent{Write: x.before.Keyring(), Frees: true}
		members = append(members, &x.member)
	}
	for _, m := range more {
		m.intent.Frees = true
	}
	err := r.jointly(ctx, members, func() error { return editReplicas(replicas, edit) })
	if err != nil {
		return err
	}
	for _, x := range replicas {
		if err := x.engine.catalog.Reload(ctx, x.before.Name); err != nil {
			return err
		}
	}
	r.changed()
	return nil
}

// editReplicas runs edit with access to all definitions, and stores them, by nesting the edits of the catalogs.
func editReplicas(replicas []*replicaMember, edit func() error) error {
	if len(replicas) == 0 {
		return edit()
	}
	x := replicas[0]
	_, err := x.engine.catalog.Edit(x.txn, x.before, func(_ kv.Txn, d *catalog.Descriptor) error {
		x.d = d
		return editReplicas(replicas[1:], edit)
	})
	return err
}

// group returns the replicas of a global table, this engine's first. A Region that is not served is an error.
func (e *Engine) group(ctx context.Context, d *catalog.Descriptor) ([]*replicaMember, error) {
	all := []*replicaMember{{member: member{engine: e}, before: d}}
	if d.Global == nil {
		return all, nil
	}
	for _, other := range d.Global.Replicas {
		x, err := e.regions.served(other.Region)
		if err != nil {
			return nil, err
		}
		theirs, err := x.catalog.Get(ctx, d.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, &replicaMember{member: member{engine: x}, before: theirs})
	}
	return all, nil
}
