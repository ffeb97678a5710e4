package engine

import "context"

// Settle waits until every background job whose time has come is done.
func (e *Engine) Settle() { e.jobs.settle() }

// TrimLogs runs the periodic trimming of change logs now.
func (e *Engine) TrimLogs(ctx context.Context) error { return e.trimLogs(ctx) }

// PendingJobs is how many jobs the store has records of.
func (e *Engine) PendingJobs(ctx context.Context) (int, error) {
	found, err := e.jobs.stored(ctx, func(job) bool { return true })
	return len(found), err
}
