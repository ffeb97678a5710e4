package observe

import (
	"context"
	"slices"
	"time"
)

// Request is what is recorded about one request while it is served.
type Request struct {
	ID        string
	Operation int
	// Table is the first table of the request, More are the others. Beyond are the names of those that are counted as Other.
	Table  *Table
	More   []*Table
	Beyond []string
	// Returned is the number of items in the response.
	Returned int64
	// ReadUnits and WriteUnits are the consumed capacity, including that of indexes.
	ReadUnits, WriteUnits float64
	// Detailed asks the store to measure reads, too, because the Request will be shown.
	Detailed bool
	// Latch is the wait for keys held by others, Sync that for the log to reach the disk, Read the time spent in reads of the
	// store.
	Latch, Sync, Read Wait
}

// Wait is a part of a request's time, excluding interruptions.
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

// On records that the request is on a table.
func (r *Request) On(t *Table, name string) {
	if r == nil {
		return
	}
	if t.Name == Other && !slices.Contains(r.Beyond, name) {
		r.Beyond = append(r.Beyond, name)
	}
	switch r.Table {
	case t:
	case nil:
		r.Table = t
	default:
		if !slices.Contains(r.More, t) {
			r.More = append(r.More, t)
		}
	}
}

// Return records that the response has n more items.
func (r *Request) Return(n int64) {
	if r != nil {
		r.Returned += n
	}
}

// ConsumeRead records consumed read units.
func (r *Request) ConsumeRead(units float64) {
	if r != nil {
		r.ReadUnits += units
	}
}

// ConsumeWrite records consumed write units.
func (r *Request) ConsumeWrite(units float64) {
	if r != nil {
		r.WriteUnits += units
	}
}

// WaitedForLatch records a finished wait for keys that began at begun.
func (r *Request) WaitedForLatch(begun time.Time) {
	if r != nil {
		r.Latch.Since(begun)
	}
}

// WaitedForSync records a finished wait for the log that began at begun.
func (r *Request) WaitedForSync(begun time.Time) {
	if r != nil {
		r.Sync.Since(begun)
	}
}

// BeginRead returns the start time of a read, or the zero time if it need not be measured; EndRead ends it.
func (r *Request) BeginRead() time.Time {
	if r == nil || !r.Detailed {
		return time.Time{}
	}
	return time.Now()
}

// EndRead ends the read that began at begun.
func (r *Request) EndRead(begun time.Time) {
	if !begun.IsZero() {
		r.Read.Since(begun)
	}
}

type requestKey struct{}

// Context is a context that carries a Request. It is embedded in the state of the server's request, so that it costs no
// allocation.
type Context struct {
	context.Context //nolint:containedctx // it is one
	Request         Request
}

// Continue replaces the context with one derived from it.
func (c *Context) Continue(derived context.Context) { c.Context = derived }

// Value implements context.Context.
func (c *Context) Value(key any) any {
	if _, ok := key.(requestKey); ok {
		return &c.Request
	}
	return c.Context.Value(key)
}

// From returns the request that a context belongs to, or nil for background work.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(requestKey{}).(*Request)
	return r
}
