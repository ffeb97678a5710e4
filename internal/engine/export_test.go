package engine

import "context"

// Settle waits until every background job whose time has come is done.
func (e *Engine) Settle() { e.jobs.settle() }

// TrimLogs runs the periodic trimming of change logs now.
func (e *Engine) TrimLogs(ctx context.Context) error { return e.trimLogs(ctx) }
