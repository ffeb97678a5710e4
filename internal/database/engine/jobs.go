package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/monotable/monotable/internal/database/engine/job"
	"github.com/monotable/monotable/internal/database/engine/transfer"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// jobRetryDelay is how long a job rests after a failure.
	jobRetryDelay = time.Second
	// jobWaitMax bounds a wait for an instant of the injected clock, which need not run with real time.
	jobWaitMax = time.Second
)

// errJobMoot: what the job was for is gone or done.
var errJobMoot = errors.New("engine: job is moot")

// jobs runs the work that goes on beside requests: each job, and each periodic task, in a goroutine of its
// own, until it is done or the engine is closed.
type jobs struct {
	engine *Engine
	ctx    context.Context //nolint:containedctx // the lifetime of the goroutines, ended by stop
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	working int        // jobs whose time has come and that are not done
	settled *sync.Cond // working is 0

	transferring chan struct{} // has an element for each export and import that is worked on
	putting      chan struct{} // and for each bulk operation, which may be slow on purpose
}

func newJobs(e *Engine) *jobs {
	r := &jobs{engine: e, transferring: make(chan struct{}, transfersAtOnce), putting: make(chan struct{}, transfersAtOnce)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.settled = sync.NewCond(&r.mu)
	return r
}

// resume starts the jobs whose records the store holds.
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

// stored returns the jobs that the store has records of and that are wanted.
func (r *jobs) stored(ctx context.Context, wanted func(job.Record) bool) ([]job.Record, error) {
	snapshot, err := r.engine.store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	return job.Stored(snapshot, wanted)
}

// start runs jobs whose records are stored. A log that is to be dropped tomorrow is left to the periodic
// task that trims logs. After stop nothing is started.
func (r *jobs) start(stored ...job.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, j := range stored {
		if j.Kind == job.DropLog || r.ctx.Err() != nil {
			continue
		}
		due := r.due(j)
		if due {
			r.working++
		}
		r.wg.Go(func() {
			if !due {
				if !r.waitUntil(j.NotBefore) {
					return
				}
				r.count(1)
			}
			defer r.count(-1)
			r.run(j)
		})
	}
}

func (r *jobs) due(j job.Record) bool { return j.NotBefore <= r.engine.options.Now().UnixMilli() }

// count notes jobs that begin or end.
func (r *jobs) count(delta int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.working += delta; r.working == 0 {
		r.settled.Broadcast()
	}
}

// run works on a job until it is done.
func (r *jobs) run(j job.Record) {
	r.untilDone(string(j.Kind), j.Name, func() error {
		err := r.engine.work(r.ctx, &j)
		if errors.Is(err, errJobMoot) {
			err = r.engine.forgetJob(r.ctx, &j)
		}
		return err
	})
}

// untilDone calls do until it succeeds; failures are logged and tried again.
func (r *jobs) untilDone(kind, table string, do func() error) {
	for r.ctx.Err() == nil {
		err := do()
		if err == nil {
			return
		}
		if r.ctx.Err() != nil || errors.Is(err, kv.ErrClosed) {
			return
		}
		if !errors.Is(err, kv.ErrFull) { // which the store logs, once
			r.engine.options.Logger.Error("background job failed and will be tried again",
				"kind", kind, "table", table, "error", err)
		}
		r.rest(jobRetryDelay)
	}
}

// startTransfer works on a transfer until it is done. Of many transfers a few are worked on at once.
func (r *jobs) startTransfer(x *transfer.Record) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	r.working++
	turn := r.transferring
	if x.Kind == transfer.Bulk {
		turn = r.putting
	}
	r.wg.Go(func() {
		defer r.count(-1)
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-r.ctx.Done():
			return
		}
		r.untilDone(string(x.Kind), x.Table, func() error { return r.engine.workOnTransfer(r.ctx, x) })
	})
}

// every calls task at an interval.
func (r *jobs) every(interval time.Duration, what string, task func(context.Context) error) {
	r.wg.Go(func() {
		for r.rest(interval) {
			if err := task(r.ctx); err != nil && r.ctx.Err() == nil && !errors.Is(err, kv.ErrFull) {
				r.engine.options.Logger.Error("periodic task failed", "task", what, "error", err)
			}
		}
	})
}

// waitUntil waits for an instant of the injected clock; false where the engine was closed before.
func (r *jobs) waitUntil(ms int64) bool {
	for {
		wait := time.Duration(ms-r.engine.options.Now().UnixMilli()) * time.Millisecond
		if wait <= 0 {
			return true
		}
		if !r.rest(min(wait, jobWaitMax)) {
			return false
		}
	}
}

// rest waits; false where the engine was closed.
func (r *jobs) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.ctx.Done():
		return false
	}
}

// settle waits until every job whose time has come is done.
func (r *jobs) settle() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.working > 0 {
		r.settled.Wait()
	}
}

// stop ends all goroutines; what they had not finished is resumed at the next Open.
func (r *jobs) stop() {
	r.mu.Lock()
	r.cancel()
	r.mu.Unlock()
	r.wg.Wait()
}

// work does a job, or as much of it as it can.
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

// forgetJob removes the record of a job that no longer has an object.
func (e *Engine) forgetJob(ctx context.Context, j *job.Record) error {
	key := j.Key()
	return e.store.Update(ctx, kv.Intent{Write: [][]byte{key}, Drops: true}, func(txn kv.Txn) error {
		txn.Delete(key)
		return nil
	})
}
