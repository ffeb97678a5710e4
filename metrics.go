package monotable

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/metrics"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// Collector returns the database's metrics for Prometheus: requests, errors, latencies, consumed capacity and sizes by table,
// stream readers, background jobs, and the state of the store on disk. docs/metrics.md lists them with their CloudWatch names.
// The names begin with monotable_. A process with several databases distinguishes them by wrapping each one's registerer:
//
//	prometheus.WrapRegistererWith(prometheus.Labels{"database": "orders"}, registry).MustRegister(db.Collector())
//
// A scrape reads no items. Unregister the collector before closing the database.
func (db *DB) Collector() prometheus.Collector {
	source := metrics.Source{
		Observe: db.observe, Gauges: db.gauges, Ready: db.Ready, Panics: db.server.Panics, Memory: db.server.Memory,
		Now: db.now, Logger: db.logger,
	}
	if store, onDisk := db.store.(*pebblekv.Store); onDisk {
		source.Storage = store.Metrics
	}
	if db.audit != nil {
		source.AuditLost = db.audit.Lost
	}
	return metrics.New(source)
}

// Ready returns nil while the database accepts reads and writes. Otherwise it returns why writes are rejected; for example, after
// a failed disk write only reads continue until the database is reopened. GET /-/ready of [DB.Handler] responds with it.
func (db *DB) Ready() error {
	if err := db.moved(); err != nil {
		return &notReadyError{fmt.Errorf("%w: %w", errMoved, err)}
	}
	if err := db.store.Health(); err != nil {
		return &notReadyError{err}
	}
	if err := db.engine.Current(); err != nil {
		return &notReadyError{err}
	}
	for _, r := range db.regions {
		if err := r.engine.Current(); err != nil {
			return &notReadyError{err}
		}
	}
	return nil
}

// errMoved is why a database is not ready after [DB.Move].
var errMoved = errors.New("the database has been moved")

// notReadyError is why a database accepts no writes, as one sentence for an anonymous probe: unlike its cause it contains no
// paths.
type notReadyError struct{ cause error }

func (e *notReadyError) Unwrap() error { return e.cause }

func (e *notReadyError) Error() string {
	_, newer := errors.AsType[*format.NewerError](e.cause)
	switch {
	case errors.Is(e.cause, errMoved):
		return "the database has been moved: send requests to its new servers"
	case newer:
		return "a newer program, whose format this one does not know, has opened the store: replace this server"
	case errors.Is(e.cause, kv.ErrFull):
		return "the disk is full: writes are rejected until there is room"
	case errors.Is(e.cause, kv.ErrFrozen):
		return "the database stopped after an internal fault: restart it"
	case errors.Is(e.cause, engine.ErrNotCurrent):
		return "the server cannot renew its lease in the store that it shares: see its log"
	case errors.Is(e.cause, kv.ErrUnreachable):
		return "the store does not respond, and is asked again: look at its server"
	case errors.Is(e.cause, kv.ErrFailed):
		return "a disk error ended writing: check the disk and restart the database"
	case errors.Is(e.cause, kv.ErrClosed):
		return "the database is closed"
	default:
		return "the database takes no writes: see its log"
	}
}
