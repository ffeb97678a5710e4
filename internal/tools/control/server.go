package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/monotable/monotable"
)

const (
	requestMax    = 64 << 10 // bytes of a request body
	headerTimeout = 10 * time.Second
	// stopTimeout is the time limit for canceled work to end.
	stopTimeout = 10 * time.Second
	// progressInterval is the minimum time between two lines of progress.
	progressInterval = 100 * time.Millisecond
)

// errStopping is the reason for canceling work when the database is closed.
var errStopping = errors.New("the server that has the database open is stopping")

// Serve lets tools work on db, which this process has open in dir and whose API it serves at endpoint. stop cancels their
// work and returns when it has ended; db can be closed then. metrics are the process's metrics.
func Serve(dir string, db Database, metrics prometheus.Gatherer, endpoint string, logger *slog.Logger) (stop func(), err error) {
	listener, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("listen in %s: %w", dir, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	server := &http.Server{
		Handler:           newHandler(db, metrics, endpoint, logger),
		ReadHeaderTimeout: headerTimeout,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("no longer serving tools", "error", err)
		}
	}()
	return func() {
		cancel(errStopping)
		deadline, done := context.WithTimeout(context.Background(), stopTimeout)
		defer done()
		if err := server.Shutdown(deadline); err != nil {
			logger.Warn("a tool's request was interrupted", "error", errors.Join(err, server.Close()))
		}
		<-served
		if err := removeSocket(dir); err != nil {
			logger.Warn("cannot remove the socket for tools", "error", err)
		}
	}, nil
}

// newHandler serves the requests of clients.
func newHandler(db Database, metrics prometheus.Gatherer, endpoint string, logger *slog.Logger) http.Handler {
	handle := func(mux *http.ServeMux, pattern string, work func(*http.Request, *response) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			level := slog.LevelInfo
			if r.Method == http.MethodGet { // changes nothing, and may be sent every second
				level = slog.LevelDebug
			}
			logger.Log(r.Context(), level, "request of a tool", "request", pattern)
			w.Header().Set("Content-Type", "application/x-ndjson")
			r.Body = http.MaxBytesReader(w, r.Body, requestMax)
			a := &response{lines: json.NewEncoder(w), flush: http.NewResponseController(w).Flush}
			result, err := work(r, a)
			if err != nil && errors.Is(context.Cause(r.Context()), errStopping) {
				err = errStopping
			}
			a.end(result, err)
		})
	}
	mux := http.NewServeMux()
	handle(mux, "GET /{$}", func(*http.Request, *response) (any, error) { return hello{protocol, endpoint}, nil })
	handle(mux, "POST /backup", func(r *http.Request, a *response) (any, error) {
		var in backupRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, fmt.Errorf("backup: %w", err)
		}
		if !filepath.IsAbs(in.Dest) {
			return nil, fmt.Errorf("backup: %q is not an absolute path", in.Dest)
		}
		return struct{}{}, db.Backup(r.Context(), in.Dest, a.progress)
	})
	handle(mux, "POST /compact", func(r *http.Request, _ *response) (any, error) {
		return struct{}{}, db.Compact(r.Context())
	})
	handle(mux, "GET /stats", func(r *http.Request, _ *response) (any, error) { return db.Stats(r.Context()) })
	handle(mux, "GET /insights", func(r *http.Request, _ *response) (any, error) {
		return db.Insights(r.Context(), r.URL.Query().Get("table"))
	})
	handle(mux, "POST /iam", func(r *http.Request, _ *response) (any, error) {
		var in monotable.IAMRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, fmt.Errorf("iam: %w", err)
		}
		return db.IAM(r.Context(), &in)
	})
	handle(mux, "GET /metrics", func(*http.Request, *response) (any, error) {
		families, err := metrics.Gather()
		if err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
		return exposition(families)
	})
	handle(mux, "POST /move", func(r *http.Request, a *response) (any, error) {
		mover, moves := db.(Mover)
		if !moves {
			return nil, errors.New("this database cannot be moved")
		}
		var in moveRequest
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			return nil, fmt.Errorf("move: %w", err)
		}
		return mover.Move(r.Context(), &monotable.MoveOptions{To: in.To, Rate: in.Rate, Encrypt: in.Encrypt, Progress: a.phase, Notice: a.notice})
	})
	handle(mux, "POST /verify", func(r *http.Request, a *response) (any, error) {
		return db.Verify(r.Context(), a.finding, a.progress)
	})
	return mux
}

// response writes the lines of a response. Write errors are ignored: the client has disconnected, and the request's
// context ends.
type response struct {
	lines    *json.Encoder
	flush    func() error
	reported time.Time // of the last progress
}

func (a *response) send(e *event) {
	if a.lines.Encode(e) == nil {
		_ = a.flush()
	}
}

func (a *response) progress(done, total int64) { a.phase("", done, total) }

func (a *response) phase(phase string, done, total int64) {
	now := time.Now()
	if now.Sub(a.reported) < progressInterval {
		return
	}
	a.reported = now
	a.send(&event{Progress: &progress{phase, done, total}})
}

func (a *response) notice(text string) { a.send(&event{Notice: text}) }

func (a *response) finding(f monotable.Finding) { a.send(&event{Finding: &f}) }

func (a *response) end(result any, err error) {
	var data []byte
	if err == nil {
		data, err = json.Marshal(result)
	}
	if err != nil {
		a.send(&event{Error: err.Error()})
		return
	}
	a.send(&event{Result: data})
}
