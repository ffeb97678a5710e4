package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// pastSteps is how many snapshots are taken within a delay; a read sees a state at most one step older than the delay. A store
	// that servers share can have limited connections for snapshots, which requests also need. So all Regions share them, too.
	pastSteps, pastStepsShared = 8, 2
	// pastStepMin limits the rate of snapshots.
	pastStepMin = time.Millisecond
)

// past keeps recent snapshots for Options.GSIDelay. Without that option indexes are read as they are, since they are written in
// the same commit as their items. The oldest state is that of Open: it is what reads see for the length of the delay after Open.
type past struct {
	store kv.Store
	delay time.Duration
	step  time.Duration

	mu     sync.Mutex
	states []*pastState // by time, oldest first; never empty before close
	closed bool
}

// pastState is a snapshot that is closed when past and all its readers have released it.
type pastState struct {
	taken    time.Time
	snapshot kv.Snapshot
	holders  int           // guarded by past.mu; includes past
	reading  chan struct{} // has an element during a read: a snapshot has one reader at a time
}

// keepPast keeps the past of the store around all Regions, unless the engine of another one does.
func (e *Engine) keepPast(ctx context.Context) (err error) {
	for _, other := range e.regions.all() {
		if other.past != nil {
			e.past = other.past
			return nil
		}
	}
	if e.past, err = newPast(ctx, e.site.around, e.options); err == nil {
		e.jobs.every(e.past.step, "keep the past of indexes", e.past.advance)
	}
	return err
}

// pastReader is the past's reader for the engine's Region.
func (e *Engine) pastReader() (kv.Reader, func(), error) {
	r, done, err := e.past.reader()
	if err != nil {
		return nil, nil, err
	}
	return e.site.reading(r), done, nil
}

// newPast measures the delay by monotonic time: the database's stands still if the machine's clock was set back, and then no snapshot would
// become old enough to be seen, nor to be released.
func newPast(ctx context.Context, store kv.Store, o Options) (*past, error) {
	steps := time.Duration(pastSteps)
	if o.Shared {
		steps = pastStepsShared
	}
	p := &past{store: store, delay: o.GSIDelay, step: max(o.GSIDelay/steps, pastStepMin)}
	return p, p.advance(ctx)
}

// advance takes the next snapshot and releases those that are no longer needed.
func (p *past) advance(ctx context.Context) error {
	snapshot, err := p.store.Eventual().Snapshot(ctx)
	if err != nil {
		return err
	}
	taken := time.Now() // after the snapshot: the state is at least as old as this time says
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return snapshot.Close()
	}
	p.states = append(p.states, &pastState{taken: taken, snapshot: snapshot, holders: 1, reading: make(chan struct{}, 1)})
	visible := p.visible()
	for _, s := range p.states[:visible] {
		err = errors.Join(err, s.release())
	}
	p.states = append(p.states[:0], p.states[visible:]...)
	return err
}

// visible returns the index of the newest state that is at least as old as the delay, or 0.
func (p *past) visible() int {
	horizon := time.Now().Add(-p.delay)
	i := len(p.states) - 1
	for i > 0 && p.states[i].taken.After(horizon) {
		i--
	}
	return max(i, 0)
}

// reader returns the state for a read of a global secondary index and a function to call after the read. It is the newest
// snapshot that is at least as old as the delay, as a program could see under eventual consistency.
func (p *past) reader() (kv.Reader, func(), error) {
	s := p.hold()
	if s == nil {
		return nil, nil, kv.ErrClosed
	}
	s.reading <- struct{}{}
	return s.snapshot, func() {
		<-s.reading
		p.mu.Lock()
		defer p.mu.Unlock()
		_ = s.release()
	}, nil
}

// hold returns the visible state, to be released, or nil after close.
func (p *past) hold() *pastState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	s := p.states[p.visible()]
	s.holders++
	return s
}

// release drops one reference.
func (s *pastState) release() error {
	if s.holders--; s.holders > 0 {
		return nil
	}
	return s.snapshot.Close()
}

func (p *past) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, s := range p.states {
		_ = s.release()
	}
	p.states = nil
}
