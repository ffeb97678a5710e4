package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// jobRetryDelay is how long a job waits after a failure.
	jobRetryDelay = time.Second
	// jobWaitMax limits a wait for a time of the injected clock, which may not run like real time.
	jobWaitMax = time.Second
)

// errJobMoot: the object of the job no longer exists, or the job is already done.
var errJobMoot = errors.New("engine: job is moot")

// rescanInterval is how often the leader of several servers looks for jobs stored by the others.
const rescanInterval = time.Second

// jobs runs background work: each job and each periodic task in its own goroutine, until it is done or the engine is closed. Of
// several servers that share the store, the leader runs all jobs and most tasks, in a term that ends when another server takes
// over.
type jobs struct {
	engine *Engine
	ctx    context.Context //nolint:containedctx // the lifetime of the goroutines, ended by stop
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	term    *term      // nil while another server leads
	ended   *term      // the previous term
	working int        // jobs that are due and not done
	settled *sync.Cond // signals that working is 0

	transferring chan struct{} // one element for each export and import in progress
	putting      chan struct{} // one element for each bulk operation in progress, which may be rate-limited
}

// term is a period in which this server leads. A single server has one, from Open to Close.
type term struct {
	ctx     context.Context //nolint:containedctx // of all that is done in the term
	end     context.CancelFunc
	wg      sync.WaitGroup
	running map[string]bool // jobs and transfers, by the keys of their records
}

func newJobs(e *Engine) *jobs {
	r := &jobs{engine: e, transferring: make(chan struct{}, transfersAtOnce), putting: make(chan struct{}, transfersAtOnce)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.settled = sync.NewCond(&r.mu)
	return r
}

// lead starts a term. It returns nil if ctx has ended.
func (r *jobs) lead(ctx context.Context) *term {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	t := &term{running: map[string]bool{}}
	t.ctx, t.end = context.WithCancel(ctx)
	r.term = t
	return t
}

// endTerm ends the current term, if any.
func (r *jobs) endTerm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.term != nil {
		r.term.end()
		r.ended, r.term = r.term, nil
	}
}

// awaitEnded waits for all work of the term that ended last.
func (r *jobs) awaitEnded() {
	r.mu.Lock()
	t := r.ended
	r.mu.Unlock()
	if t != nil {
		t.wg.Wait()
	}
}

// resume starts the stored jobs that are not running.
func (r *jobs) resume(ctx context.Context) error {
	found, err := r.stored(ctx, func(job.Record) bool { return true })
	r.start(found...)
	if err != nil {
		return err
	}
	transfers, err := r.engine.transfersUnderWay(ctx)
	for _, x := range transfers {
		r.startTransfer(x)
	}
	return err
}

// stored returns the stored jobs that are wanted.
func (r *jobs) stored(ctx context.Context, wanted func(job.Record) bool) ([]job.Record, error) {
	snapshot, err := r.engine.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return job.Stored(snapshot, wanted)
}

// start runs stored jobs. Dropping a log that is due later is left to the periodic task that trims logs. Outside a term nothing
// is started: the leader finds the records.
func (r *jobs) start(stored ...job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range stored {
		key := string(j.Key())
		if j.Kind == job.DropLog || !r.begin(key) {
			continue
		}
		t, due := r.term, r.due(j)
		if due {
			r.working++
		}
		t.wg.Go(func() {
			defer r.done(t, key)
			if !due {
				if !r.waitUntil(t.ctx, j.NotBefore) {
					return
				}
				r.count(1)
			}
			defer r.count(-1)
			r.run(t, j)
		})
	}
}

// begin registers work as running. It returns false outside a term or if the work is already running. The caller holds mu.
func (r *jobs) begin(key string) bool {
	if r.term == nil || r.term.ctx.Err() != nil || r.term.running[key] {
		return false
	}
	r.term.running[key] = true
	return true
}

func (r *jobs) done(t *term, key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(t.running, key)
}

func (r *jobs) due(j job.Record) bool { return j.NotBefore <= r.engine.options.Now().UnixMilli() }

// count adds to the number of jobs in progress.
func (r *jobs) count(delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working += delta; r.working == 0 {
		r.settled.Broadcast()
	}
}

// run works on a job until it is done.
func (r *jobs) run(t *term, j job.Record) {
	r.untilDone(t.ctx, string(j.Kind), j.Name, func() error {
		if err := r.engine.awaitServers(t.ctx); err != nil {
			return err
		}
		var stored *job.Record // another server, or an earlier term, may have advanced it
		err := r.engine.readLatest(t.ctx, func(store kv.Reader) (err error) {
			stored, err = job.Read(store, j.Key())
			return err
		})
		if err != nil || stored == nil {
			return err
		}
		if r.engine.member != nil { // the definition stored with the job may not have been read yet
			if err := r.engine.catalog.Refresh(t.ctx); err != nil {
				return err
			}
		}
		err = r.engine.work(t.ctx, stored)
		if errors.Is(err, errJobMoot) {
			err = r.engine.forgetJob(t.ctx, stored)
		}
		return err
	})
}

// untilDone calls do until it succeeds, logging failures.
func (r *jobs) untilDone(ctx context.Context, kind, table string, do func() error) {
	for ctx.Err() == nil {
		err := do()
		if err == nil {
			return
		}
		if ctx.Err() != nil || errors.Is(err, kv.ErrClosed) || errors.Is(err, cluster.ErrDeposed) {
			return
		}
		if !errors.Is(err, kv.ErrFull) { // the store logs that, once
			r.engine.options.Logger.Error("background job failed and will be retried",
				"kind", kind, "table", table, "error", err)
		}
		rest(ctx, jobRetryDelay)
	}
}

// startTransfer works on a transfer until it is done. Only a few transfers run concurrently.
func (r *jobs) startTransfer(x *transfer.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := string(x.Key())
	if !r.begin(key) {
		return
	}
	t := r.term
	r.working++
	turn := r.transferring
	if x.Kind == transfer.Bulk {
		turn = r.putting
	}
	t.wg.Go(func() {
		defer r.done(t, key)
		defer r.count(-1)
		if !await(t.ctx, turn) {
			return
		}
		defer func() { <-turn }()
		r.untilDone(t.ctx, string(x.Kind), x.Table, func() error {
			var stored *transfer.Record
			err := r.engine.readLatest(t.ctx, func(store kv.Reader) (err error) {
				stored, err = transfer.Read(store, x.Kind, x.ID)
				return err
			})
			if err != nil || stored == nil || !stored.UnderWay() {
				return err
			}
			return r.engine.workOnTransfer(t.ctx, stored)
		})
	})
}

// await waits for a free place in turn, which the caller then has. It returns false if ctx ends first.
func await(ctx context.Context, turn chan struct{}) bool {
	select {
	case turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// every calls task at an interval while the engine is open.
func (r *jobs) every(interval time.Duration, what string, task func(context.Context) error) {
	r.wg.Go(func() { r.repeat(r.ctx, interval, what, task) })
}

// every calls task at an interval while the term lasts.
func (t *term) every(r *jobs, interval time.Duration, what string, task func(context.Context) error) {
	t.wg.Go(func() { r.repeat(t.ctx, interval, what, task) })
}

func (r *jobs) repeat(ctx context.Context, interval time.Duration, what string, task func(context.Context) error) {
	for rest(ctx, interval) {
		if err := task(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, kv.ErrFull) && !errors.Is(err, cluster.ErrDeposed) {
			r.engine.options.Logger.Error("periodic task failed", "task", what, "error", err)
		}
	}
}

// waitUntil waits for a time of the injected clock; it returns false if ctx ends first.
func (r *jobs) waitUntil(ctx context.Context, ms int64) bool {
	for {
		wait := time.Duration(ms-r.engine.options.Now().UnixMilli()) * time.Millisecond
		if wait <= 0 {
			return true
		}
		if !rest(ctx, min(wait, jobWaitMax)) {
			return false
		}
	}
}

// rest waits; it returns false if ctx ends first.
func rest(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// settle waits until all jobs that are due are done.
func (r *jobs) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.working > 0 {
		r.settled.Wait()
	}
}

// stop ends all goroutines. Unfinished jobs are resumed at the next Open.
func (r *jobs) stop() {
	r.cancel()
	r.endTerm()
	r.awaitEnded()
	r.wg.Wait()
}

// work does a job, or as much of it as possible.
func (e *Engine) work(ctx context.Context, j *job.Record) error {
	switch j.Kind {
	case job.Backfill:
		return e.backfillIndex(ctx, j)
	case job.DropIndex:
		return e.dropIndex(ctx, j)
	case job.BuildTTL:
		return e.buildTTL(ctx, j)
	case job.DropTTL:
		return e.dropTTL(ctx, j)
	case job.DropTable:
		return e.dropTable(ctx, j)
	case job.DropLog:
		return e.dropLog(ctx, j)
	case job.Restore:
		return e.restore(ctx, j)
	case job.Replica:
		return e.fillReplica(ctx, j)
	case job.Leave:
		return e.leave(ctx, j)
	default:
		return errJobMoot
	}
}

// forgetJob removes the record of a job whose object no longer exists.
func (e *Engine) forgetJob(ctx context.Context, j *job.Record) error {
	key := j.Key()
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Drops: true}, func(txn kv.Txn) error {
		txn.Delete(key)
		return nil
	})
}
