// Package observe counts what a database does. It does not depend on an exporter: package metrics converts its counts to
// Prometheus metrics, and a tracer (package server) converts a Request to a span.
//
// # Model
//
//	Database ─┬─ Table (by name, bounded) ─┬─ Operation: latency, returned items, failures by code
//	          │                            ├─ Capacity of the table and of each index
//	          │                            └─ conflicts, failed conditions, throttled items, expired items, stream readers
//	          └─ requests in flight, bytes on the wire, waits for latches and for the disk
//
// The server creates a Request for each request and carries it in the context. The engine adds the tables and the returned items,
// the store the time that the request waited. When the response is ready, Finish adds everything up.
//
// # Invariants
//
//	I1  Only names of existing tables become a Table, at most TablesMax of them. The others share one, Other.
//	I2  Counting only allocates the first time that a table, index, operation or error code occurs.
//
// # Concurrency
//
// Everything except a Request is safe for concurrent use. A Request belongs to the goroutine that serves it. All methods of a nil
// *Request do nothing.
package observe

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// TablesMax is the maximum number of tables counted by name.
const TablesMax = 256

// The names under which requests without a table of their own are counted. They are not valid table names.
const (
	None    = ""          // the request names no table, or none that exists
	Several = "(several)" // the request is on more than one table
	Other   = "(other)"   // tables beyond TablesMax
)

// Database holds the counts of one database. See New.
type Database struct {
	// Requests is the number in flight.
	Requests atomic.Int64
	// Received and Sent are the bytes of request and response bodies on the wire.
	Received, Sent atomic.Int64
	// LatchWaits and SyncWaits are the times that requests waited for keys held by others, and for the log to reach the disk.
	// They exclude requests that did not have to wait.
	LatchWaits, SyncWaits Histogram
	// Slow are the latest requests that took long.
	Slow SlowRequests
	// Sample are the latest requests on the tables being watched.
	Sample Sample

	operations []string
	tables     registry[Table]
	fixed      map[string]*Table // None, Several, Other
}

// New returns a Database for these operations; a Request identifies one by its index.
func New(operations ...string) *Database {
	d := &Database{operations: operations, fixed: map[string]*Table{}}
	for _, name := range []string{None, Several, Other} {
		d.fixed[name] = d.newTable(name)
	}
	return d
}

func (d *Database) newTable(name string) *Table {
	return &Table{Name: name, of: d, operations: make([]atomic.Pointer[Operation], len(d.operations))}
}

// Table returns the counts of a table, which must exist. Beyond TablesMax it returns Other.
func (d *Database) Table(name string) *Table {
	if t := d.tables.get(name, TablesMax, d.newTable); t != nil {
		return t
	}
	return d.fixed[Other]
}

// Retain removes the tables for which keep is false, because they were deleted.
func (d *Database) Retain(keep func(name string) bool) {
	d.tables.retain(func(name string, _ *Table) bool { return keep(name) })
}

// Tables returns all counts by table, sorted by name.
func (d *Database) Tables() []*Table {
	tables := slices.AppendSeq(slices.Collect(maps.Values(d.tables.all())), maps.Values(d.fixed))
	slices.SortFunc(tables, func(a, b *Table) int { return strings.Compare(a.Name, b.Name) })
	return tables
}

// OperationName returns the name of the operation with an index.
func (d *Database) OperationName(i int) string { return d.operations[i] }

// Finish counts a request whose response is ready. failure is the zero Failure for a successful one. A request on tables of
// another Database counts as one without a table, because the index of its operation has another meaning there.
func (d *Database) Finish(r *Request, took time.Duration, failure Failure) {
	t := r.Table
	switch {
	case t == nil || t.of != d:
		t = d.fixed[None]
	case len(r.More) > 0:
		t = d.fixed[Several]
	}
	o := t.operation(r.Operation)
	if failure.Code == "" {
		o.Latency.Observe(took)
	} else {
		o.fail(failure)
	}
	if r.Returned > 0 {
		o.Returned.Add(r.Returned)
	}
	if r.Latch.Total > 0 {
		d.LatchWaits.Observe(r.Latch.Total)
	}
	if r.Sync.Total > 0 {
		d.SyncWaits.Observe(r.Sync.Total)
	}
}
