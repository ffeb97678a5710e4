package observe

import (
	"context"
	"slices"
	"time"
)

// Request is what is noted about one request while it is served.
type Request struct {
	ID        string
	Operation int
	// Table is the first table of the request, More are the others.
	Table *Table
	More  []*Table
	// Returned is how many items the response has.
	Returned int64
	// Detailed asks the store to time reads too: something will show the Request.
	Detailed bool
	// Latch is the wait for keys that others held, Sync that for the log to reach the disk, Read the time in reads of
	// the store.
	Latch, Sync, Read Wait
}

// Wait is a stretch of a request's time; one that was interrupted counts without the interruptions.
type Wait struct {
	Begun time.Time // the first time
	Total time.Duration
	Times int
}

// Since adds the time from begun until now.
func (w *Wait) Since(begun time.Time) {
	if w.Times == 0 {
		w.Begun = begun
	}
	w.Times++
	w.Total += time.Since(begun)
}

// On notes that the request is on a table.
func (r *Request) On(t *Table) {
	switch {
	case r == nil || r.Table == t:
	case r.Table == nil:
		r.Table = t
	default:
		if !slices.Contains(r.More, t) {
			r.More = append(r.More, t)
		}
	}
}

// Return notes that the response has n more items.
func (r *Request) Return(n int64) {
	if r != nil {
		r.Returned += n
	}
}

// WaitedForLatch notes a wait for keys that began at begun and is over.
func (r *Request) WaitedForLatch(begun time.Time) {
	if r != nil {
		r.Latch.Since(begun)
	}
}

// WaitedForSync notes a wait for the log that began at begun and is over.
func (r *Request) WaitedForSync(begun time.Time) {
	if r != nil {
		r.Sync.Since(begun)
	}
}

// BeginRead returns when a read begins, the zero time if nobody asks; EndRead notes that it is over.
func (r *Request) BeginRead() time.Time {
	if r == nil || !r.Detailed {
		return time.Time{}
	}
	return time.Now()
}

// EndRead notes that the read that began at begun is over.
func (r *Request) EndRead(begun time.Time) {
	if !begun.IsZero() {
		r.Read.Since(begun)
	}
}

type requestKey struct{}

// Context is a context that carries a Request. It lives in the memory of whoever serves the request, so that
// carrying one allocates nothing.
type Context struct {
	context.Context //nolint:containedctx // it is one
	Request         Request
}

// Continue replaces the context by one that was derived from it.
func (c *Context) Continue(derived context.Context) { c.Context = derived }

// Value implements context.Context.
func (c *Context) Value(key any) any {
	if _, ok := key.(requestKey); ok {
		return &c.Request
	}
	return c.Context.Value(key)
}

// From returns the request that a context belongs to, nil for work that is no request's.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}
