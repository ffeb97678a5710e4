package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/httpguard"
)

// Limits of the listeners other than the API's.
const (
	auxiliaryHeaderTimeout = 10 * time.Second
	// auxiliaryHeaderMax is for requests that need no more than a line.
	auxiliaryHeaderMax = 8 << 10
	// auxiliaryIdleTimeout is longer than the interval at which metrics are usually read.
	auxiliaryIdleTimeout = 2 * time.Minute
)

var (
	// errRecovering is the reason why a server is not ready before it has opened its database.
	errRecovering = errors.New("the database is opening and recovering its latest writes")
	// errStopping is the reason while it lets running requests end.
	errStopping = errors.New("the server is stopping")
)

// monitor shows operators a server's metrics and whether it is ready. It starts before the database is opened, which
// can take long after a crash.
type monitor struct {
	registry    *prometheus.Registry
	connections prometheus.Gauge
	accepted    prometheus.Counter

	mu        sync.Mutex
	db        *monotable.DB // nil while it is being opened
	stopped   bool
	collector prometheus.Collector
}

func newMonitor() *monitor {
	m := &monitor{
		registry:    prometheus.NewRegistry(),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{Name: "monotable_connections", Help: "Open client connections."}),
		accepted:    prometheus.NewCounter(prometheus.CounterOpts{Name: "monotable_connections_total", Help: "Accepted client connections."}),
	}
	v := currentVersion()
	build := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "monotable_build_info", Help: "Always 1; the labels identify the build.",
		ConstLabels: prometheus.Labels{"version": v.Version, "revision": v.Commit, "goversion": v.Go},
	}, func() float64 { return 1 })
	recovering := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "monotable_recovering", Help: "1 while the database is being opened; it has no other metrics until then.",
	}, func() float64 {
		if m.ready() == errRecovering { //nolint:errorlint // itself
			return 1
		}
		return 0
	})
	m.registry.MustRegister(m.connections, m.accepted, build, recovering,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// opened is called when the database is open.
func (m *monitor) opened(db *monotable.DB) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.db, m.collector = db, db.Collector()
	m.registry.MustRegister(m.collector)
}

// stopping is called when the server stops: it accepts no more connections.
func (m *monitor) stopping() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
}

// closing is called before the database is closed.
func (m *monitor) closing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.registry.Unregister(m.collector)
}

// ready returns why the server is not ready.
func (m *monitor) ready() error {
	m.mu.Lock()
	db, stopped := m.db, m.stopped
	m.mu.Unlock()
	switch {
	case stopped:
		return errStopping
	case db == nil:
		return errRecovering
	default:
		return db.Ready()
	}
}

// count counts the connections of a server.
func (m *monitor) count(s *http.Server) {
	next := s.ConnState
	s.ConnState = func(c net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			m.accepted.Inc()
			m.connections.Inc()
		case http.StateClosed, http.StateHijacked:
			m.connections.Dec()
		case http.StateActive, http.StateIdle:
		}
		if next != nil {
			next(c, state)
		}
	}
}

// handler serves /metrics and the probes. Like the database it rejects requests from web pages: names of tables are
// private.
func (m *monitor) handler(guard *httpguard.Guard, logger *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	}))
	mux.HandleFunc("GET /-/", func(w http.ResponseWriter, r *http.Request) {
		status, text, ok := server.Probe(r.URL.Path, m.ready)
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text) // the client may have disconnected
	})
	return guarded(guard, mux)
}

// guarded rejects requests from web pages whose names were rebound to this machine.
func guarded(guard *httpguard.Guard, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !guard.AllowsHost(r.Host) {
			http.Error(w, server.HostRefusal(r.Host), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serveAuxiliary serves a handler at addr, on its own listener: clients of the database need not see it. It returns a
// function that stops it, which does nothing if addr is "".
func serveAuxiliary(ctx context.Context, addr, flag, path string, handler http.Handler, logger *slog.Logger) (stop func() error, err error) {
	if addr == "" {
		return func() error { return nil }, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s for %s: %w", addr, flag, err)
	}
	s := &http.Server{
		Handler: handler, ReadHeaderTimeout: auxiliaryHeaderTimeout, IdleTimeout: auxiliaryIdleTimeout, MaxHeaderBytes: auxiliaryHeaderMax,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := s.Serve(netutil.LimitListener(listener, auxiliaryConnections)); !errors.Is(err, http.ErrServerClosed) {
			logger.Warn("no longer served", "flag", flag, "error", err)
		}
	}()
	logger.Info("serving "+flag, "url", "http://"+listener.Addr().String()+path)
	return s.Close, nil
}
