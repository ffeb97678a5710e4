package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/monotable/monotable/systems/internal/auth"
	"github.com/monotable/monotable/systems/internal/system"
)

const (
	// drainWait limits how long requests in flight may take to end.
	drainWait         = 10 * time.Second
	readHeaderTimeout = 10 * time.Second
	readTimeout       = time.Minute
	// writeTimeout applies to requests outside of operations, which have their own. A client that does not read its response
	// occupies a connection and a goroutine.
	writeTimeout = time.Minute
	idleTimeout  = 2 * time.Minute
	// devUser is the user whose token a development server prints at startup.
	devUser = "u-123"

	headerMax = 16 << 10
)

// Serve serves a host and runs its workers until the context ends, then shuts down in order and closes the host. The caller
// closes the database afterwards.
func Serve(ctx context.Context, listener net.Listener, h *Host) error {
	server := newServer(h)
	server.RegisterOnShutdown(h.Drain)
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	var workers sync.WaitGroup
	workers.Go(func() { h.Work(working) })
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var err error
	select {
	case err = <-served:
		err = fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		err = drain(context.WithoutCancel(ctx), server, h.logger)
	}
	h.Drain()
	stopWork()
	workers.Wait()
	return errors.Join(err, h.Close())
}

// newServer limits the duration of everything that a client controls.
func newServer(h *Host) *http.Server {
	return &http.Server{
		Handler: h.Handler(), ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: headerMax, ErrorLog: slog.NewLogLogger(h.logger.Handler(), slog.LevelDebug),
	}
}

func drain(ctx context.Context, server *http.Server, logger *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, drainWait)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		logger.WarnContext(ctx, "requests cut off", "error", err)
		return server.Close()
	}
	return nil
}

// serve runs the command of one system.
func (c *Config) serve(ctx context.Context, s system.System, env Environment) error {
	logger, err := NewLogger(env.Stderr, c.LogLevel, c.LogFormat)
	if err != nil {
		return err
	}
	if err := c.validate(); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("listen on %s: %w (use --addr for another address)", c.Addr, err)
	}
	if c.PublicURL, err = PublicAddress(c.PublicURL, listener.Addr(), net.InterfaceAddrs); err != nil {
		return errors.Join(err, listener.Close())
	}
	base := "http://" + listener.Addr().String()
	database, host, err := c.open(ctx, s, env, base, logger)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	greeting := fmt.Sprintf("%s: %s at %s/%s/ (its page: %s/%s/docs)\n", s.Name, s.Title, base, s.Name, base, s.Name)
	if c.DevIssuer {
		WarnDevIssuer(logger, listener.Addr())
		// The keys must not be in a file that lets others sign.
		token, err := host.Issuer(s.Name).Mint(auth.Claims{Sub: devUser})
		if err != nil {
			return errors.Join(err, listener.Close(), host.Close(), database.Close())
		}
		greeting += fmt.Sprintf("a token of %s, valid for one hour:\n%s\n", devUser, token)
	}
	host.Handle("GET /{$}", http.RedirectHandler("/"+s.Name+"/", http.StatusFound))
	fmt.Fprint(env.Stdout, greeting)
	// Not in Serve: in a process with a database of its own, that says so.
	defer context.AfterFunc(ctx, func() { logger.Info("stopping", "wait_max", drainWait) })()
	return errors.Join(Serve(ctx, listener, host), database.Close())
}

// open opens the database and the system.
func (c *Config) open(ctx context.Context, s system.System, env Environment, base string, logger *slog.Logger) (*Database, *Host, error) {
	// Open the database first: it rejects a directory that has keys but no store.
	database, err := OpenDatabase(ctx, c, env.Getenv, logger)
	if err != nil {
		return nil, nil, err
	}
	host, err := c.host(ctx, s, env, base, logger, database)
	if err != nil {
		return nil, nil, errors.Join(err, database.Close())
	}
	return database, host, nil
}

func (c *Config) host(ctx context.Context, s system.System, env Environment, base string, logger *slog.Logger, database *Database) (*Host, error) {
	key, madeUp, err := c.cursorKey(env.Getenv)
	if err != nil {
		return nil, err
	}
	if madeUp && !c.Memory {
		logger.WarnContext(ctx, "cursors are encrypted with a random key: use --cursor-key so that they survive a restart")
	}
	access, err := c.access(s.Name, env.Getenv, base)
	if err != nil {
		return nil, err
	}
	return NewHost(ctx, Options{
		Database: database, CursorKey: key, Access: map[string]Access{s.Name: access}, CreateTables: c.CreateTables, Stage: c.Stage,
		Logger: logger, Origins: c.Origins, Proxies: c.Proxies, Timeout: c.Timeout, Rate: c.Rate, Getenv: env.Getenv, PublicURL: c.PublicURL,
		Dir:       c.keyPath(env.Getenv, ""),
		NoWorkers: !c.Workers,
	}, s)
}

// WarnDevIssuer warns if the development issuer can be reached from other machines.
func WarnDevIssuer(logger *slog.Logger, addr net.Addr) {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		logger.Warn("the development issuer accepts tokens that were signed without a log-in, and this address is reachable from other machines", "addr", addr)
	}
}
