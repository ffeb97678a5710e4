package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/telemetry"
)

const (
	defaultAddr   = "127.0.0.1:8000"
	defaultRegion = "us-east-1"
	defaultData   = "./data"

	// shutdownWait is how long requests under way may take to end once the server is told to stop.
	shutdownWait = 10 * time.Second

	defaultConnections    = 4096
	defaultRequestTimeout = time.Minute

	// defaultRotation is about how long AWS keeps a shard of a stream open.
	defaultRotation = 4 * time.Hour

	// tracesWait is how long the last traces may take to be sent when the server stops.
	tracesWait = 5 * time.Second

	// defaultSlow is what a request takes that the log mentions.
	defaultSlow = time.Second
)

// serveFlags are the flags of the serve command.
type serveFlags struct {
	addr       string
	data       string
	memory     bool
	durability string
	reserve    string
	region     string
	tlsCert    string
	tlsKey     string
	gsiDelay   time.Duration
	tableDelay time.Duration

	streamShards        int
	streamShardRotation time.Duration
	logMaxBytes         string

	memoryLimit    byteSize
	cacheSize      byteSize
	maxConnections int
	requestTimeout time.Duration

	allowedHosts []string
	corsOrigins  []string

	metricsAddr string
	slow        time.Duration
	pprof       string
	log         logFlags
}

func newServe(env Environment) *cobra.Command { return NewServe(env, Companion{}) }

// Companion is what another program runs in the server's process, beside the database and over it.
type Companion struct {
	// Flags adds flags to those of serve; nil adds none.
	Flags func(*pflag.FlagSet)
	// Start is called when the database is open and its address taken. It ends its work when ctx ends; the database stays
	// open until stop has returned.
	Start func(ctx context.Context, host CompanionHost) (stop func() error, err error)
}

// CompanionHost is what a Companion is told.
type CompanionHost struct {
	DB     *monotable.DB
	Data   string // the directory, "" in memory
	Logger *slog.Logger
	// AllowedHosts are the names that --allowed-host gives, by which requests may address the companion too.
	AllowedHosts []string
}

// NewServe returns the serve command for a program that serves more than the database.
func NewServe(env Environment, companion Companion) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the database",
		Long: `Start the database and serve DynamoDB's API over HTTP until interrupted.

With the default --durability sync, a write is on disk before it is answered; many writes share one
sync. "interval" syncs every 100 ms, "none" leaves it to the operating system: faster, and a crash may
lose the last writes.

Requests are not authenticated: keep the address on loopback, or put something in front that checks. Web pages are kept
out: requests from their origins need --cors-origin, and requests to a public host name need --allowed-host.

GET /-/healthy says that the process responds, GET /-/ready that the database takes reads and writes. On the address of
--metrics-addr they respond while the database is still being opened. The standard environment variables of OpenTelemetry
turn traces on: an endpoint in OTEL_EXPORTER_OTLP_ENDPOINT is enough.`,
		Example: `  monotable serve --data ./data
  monotable serve --memory --addr 127.0.0.1:0
  monotable serve --gsi-delay 50ms              # show a program eventual consistency
  monotable serve --tls-cert cert.pem --tls-key key.pem
  monotable serve --metrics-addr 127.0.0.1:9464 --slow 100ms
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 monotable serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.memory && cmd.Flags().Changed("data") {
				return errors.New("--memory and --data: give one of them; in memory no directory is used")
			}
			return serve(cmd.Context(), env, &flags, companion)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.addr, "addr", defaultAddr, "address to listen on; port 0 picks a free one")
	f.StringVar(&flags.data, "data", defaultData, "directory that holds the data")
	f.BoolVar(&flags.memory, "memory", false, "keep the data in memory, and forget it at the end")
	f.StringVar(&flags.durability, "durability", "sync", "when a write is answered: sync, interval or none")
	f.StringVar(&flags.reserve, "disk-reserve", "auto", "disk space to leave free; with less, only reads and deletes are accepted: auto, none or a size like 2GiB")
	f.StringVar(&flags.region, "region", defaultRegion, "region in ARNs")
	f.StringVar(&flags.tlsCert, "tls-cert", "", "certificate file (PEM); serves HTTPS")
	f.StringVar(&flags.tlsKey, "tls-key", "", "key file (PEM) of --tls-cert")
	f.DurationVar(&flags.gsiDelay, "gsi-delay", 0, "let reads of global secondary indexes lag by this much")
	f.DurationVar(&flags.tableDelay, "table-delay", 0, "keep tables CREATING, UPDATING and DELETING for this long")
	f.IntVar(&flags.streamShards, "stream-shards", 1, "shards that a new stream begins with, 1 to 100")
	f.DurationVar(&flags.streamShardRotation, "stream-shard-rotation", defaultRotation, "replace a stream's shards after this long; 0 is never")
	f.StringVar(&flags.logMaxBytes, "log-max-bytes", "0", "room for change logs, for streams and point-in-time recovery, like 10GiB: over it, the oldest changes are trimmed; 0 is no cap")
	f.Var(&flags.memoryLimit, "memory-limit", "memory that the server takes at most, like 2GiB (default 90 % of the container's limit, else half of the machine's memory)")
	f.Var(&flags.cacheSize, "cache-size", "memory for data read from disk, a part of --memory-limit (default an eighth of it, at most 1GiB)")
	f.IntVar(&flags.maxConnections, "max-connections", defaultConnections, "connections open at once; requests of others are throttled")
	f.DurationVar(&flags.requestTimeout, "request-timeout", defaultRequestTimeout, "time that a request may take; 0 is for ever")
	f.StringSliceVar(&flags.allowedHosts, "allowed-host", nil, "additional `name` by which requests may address the server, or *.suffix; repeatable")
	f.StringSliceVar(&flags.corsOrigins, "cors-origin", nil, "`origin` whose web pages may use the database, or * for all; repeatable (default none)")
	f.StringVar(&flags.metricsAddr, "metrics-addr", "", "address to serve Prometheus metrics on, under /metrics, and /-/ready (off by default)")
	f.DurationVar(&flags.slow, "slow", defaultSlow, "log requests that take this long, with what they waited for; 0 is none")
	f.StringVar(&flags.pprof, "pprof", "", "address to serve Go profiles on, under /debug/pprof/ (off by default)")
	flags.log.register(f)
	if companion.Flags != nil {
		companion.Flags(f)
	}
	cmd.MarkFlagsRequiredTogether("tls-cert", "tls-key")
	return cmd
}

func serve(ctx context.Context, env Environment, flags *serveFlags, companion Companion) error {
	logger, err := flags.log.logger(env.Stderr)
	if err != nil {
		return err
	}
	tlsConfig, err := flags.tls()
	if err != nil {
		return err
	}
	plan, err := planMemory(int64(flags.memoryLimit), int64(flags.cacheSize))
	if err != nil {
		return err
	}
	if !flags.memory {
		plan.tuneCollector(env.Getenv)
		tuneProcessors(env.Getenv)
	}
	m := newMonitor()
	stopBeside, err := flags.serveBeside(ctx, m, logger)
	if err != nil {
		return err
	}
	db, err := flags.open(env, logger, plan)
	if err != nil {
		return errors.Join(err, stopBeside())
	}
	m.opened(db)
	err = flags.serveDB(ctx, env, db, m, tlsConfig, companion, logger)
	m.closing()
	return errors.Join(err, stopBeside(), db.Close())
}

// serveBeside serves what operators ask, on listeners of its own, from before the database is opened.
func (f *serveFlags) serveBeside(ctx context.Context, m *monitor, logger *slog.Logger) (stop func() error, err error) {
	guard, err := httpguard.New(f.allowedHosts, nil)
	if err != nil {
		return nil, fmt.Errorf("--allowed-host: %w", err)
	}
	stopMetrics, err := serveBeside(ctx, f.metricsAddr, "--metrics-addr", "/metrics", m.handler(guard, logger), logger)
	if err != nil {
		return nil, err
	}
	stopPprof, err := serveBeside(ctx, f.pprof, "--pprof", "/debug/pprof/", profiles(), logger)
	if err != nil {
		return nil, errors.Join(err, stopMetrics())
	}
	return func() error { return errors.Join(stopMetrics(), stopPprof()) }, nil
}

// serveDB serves an open database until ctx ends.
func (f *serveFlags) serveDB(ctx context.Context, env Environment, db *monotable.DB, m *monitor, tlsConfig *tls.Config, companion Companion, logger *slog.Logger) error {
	handler, stopTraces, err := traced(ctx, env, db, logger)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return errors.Join(fmt.Errorf("listen on %s: %w (use --addr for another address)", f.addr, err), stopTraces())
	}
	listener = server.LimitConnections(listener, f.maxConnections)
	httpServer := server.HTTPServer(handler, logger)
	m.count(httpServer)
	scheme := "http"
	if tlsConfig != nil {
		httpServer.TLSConfig = tlsConfig
		listener = tls.NewListener(listener, tlsConfig)
		scheme = "https"
	}
	warnIfPublic(logger, listener.Addr())
	endpoint := scheme + "://" + listener.Addr().String()
	stopControl := serveControl(db, m.registry, f, endpoint, logger)
	greet(env, f, endpoint)
	stopCompanion, err := f.accompany(ctx, companion, db, logger)
	if err != nil {
		err = errors.Join(err, listener.Close())
	} else {
		err = errors.Join(serveUntilDone(ctx, httpServer, listener, logger), stopCompanion())
	}
	stopControl()
	return errors.Join(err, stopTraces())
}

// traced returns the database's handler, which sends traces if the environment asks for them.
func traced(ctx context.Context, env Environment, db *monotable.DB, logger *slog.Logger) (handler http.Handler, stop func() error, err error) {
	tracer, shutdown, err := telemetry.Start(ctx, env.Getenv, currentVersion().Version, logger)
	if err != nil {
		return nil, nil, err
	}
	stop = func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracesWait)
		defer cancel()
		if err := shutdown(ctx); err != nil {
			logger.Warn("the last traces were not sent", "error", err)
		}
		return nil
	}
	if tracer == nil {
		return db.Handler(), stop, nil
	}
	s, ok := db.Handler().(interface {
		Traced(t server.Tracer) http.Handler
	})
	if !ok {
		return nil, nil, errors.Join(errors.New("the database's handler cannot be traced"), stop())
	}
	return s.Traced(tracer), stop, nil
}

// fatalStatus is the exit status of a server that met a fault which it must not survive.
const fatalStatus = 2

// endProcess ends the process at once, whatever it is doing: nothing more may be written.
func endProcess(env Environment, err error) {
	fmt.Fprintf(env.Stderr, "monotable: %v\nThe server ends so that no wrong data are written. Nothing acknowledged is lost: "+
		"restart it, and run monotable verify.\n", err)
	os.Exit(fatalStatus)
}

// accompany starts what runs beside the server, if anything does.
func (f *serveFlags) accompany(ctx context.Context, companion Companion, db *monotable.DB, logger *slog.Logger) (stop func() error, err error) {
	if companion.Start == nil {
		return func() error { return nil }, nil
	}
	host := CompanionHost{DB: db, Data: f.data, Logger: logger, AllowedHosts: f.allowedHosts}
	if f.memory {
		host.Data = ""
	}
	return companion.Start(ctx, host)
}

func (f *serveFlags) open(env Environment, logger *slog.Logger, plan memoryPlan) (*monotable.DB, error) {
	durability, err := monotable.ParseDurability(f.durability)
	if err != nil {
		return nil, fmt.Errorf("--durability: %w", err)
	}
	if _, err := httpguard.New(f.allowedHosts, nil); err != nil {
		return nil, fmt.Errorf("--allowed-host: %w", err)
	}
	if _, err := httpguard.New(nil, f.corsOrigins); err != nil {
		return nil, fmt.Errorf("--cors-origin: %w", err)
	}
	logMaxBytes, err := parseSize(f.logMaxBytes)
	if err != nil {
		return nil, fmt.Errorf("--log-max-bytes: %w", err)
	}
	options := &monotable.Options{
		Region: f.region, Durability: durability, GSIDelay: f.gsiDelay, TableDelay: f.tableDelay, Logger: logger,
		StreamShards: f.streamShards, StreamShardRotation: f.streamShardRotation, LogMaxBytes: logMaxBytes, SlowRequest: f.slow,
		OnFatal:      func(err error) { endProcess(env, err) },
		AllowedHosts: f.allowedHosts, CORSOrigins: f.corsOrigins,
	}
	if options.DiskReserve, err = diskReserve(f.reserve); err != nil {
		return nil, err
	}
	plan.apply(options)
	options.RequestTimeout = f.requestTimeout
	if f.maxConnections < 1 {
		return nil, fmt.Errorf("--max-connections %d: want at least 1", f.maxConnections)
	}
	if f.requestTimeout < 0 {
		return nil, fmt.Errorf("--request-timeout %v: want 0 or more", f.requestTimeout)
	}
	if f.streamShards < 1 { // which would be the default
		return nil, fmt.Errorf("--stream-shards %d: want 1 to 100", f.streamShards)
	}
	if f.streamShardRotation == 0 {
		options.StreamShardRotation = -1
	}
	if f.memory {
		return monotable.OpenMemory(options)
	}
	db, err := monotable.Open(f.data, options)
	if errors.Is(err, monotable.ErrLocked) {
		return nil, fmt.Errorf("%s is open in another process: stop that one, or give this one its own --data directory", f.data)
	}
	return db, err
}

// diskReserve reads --disk-reserve as Options.DiskReserve.
func diskReserve(text string) (int64, error) {
	switch text {
	case "auto":
		return 0, nil
	case "none", "0":
		return -1, nil
	}
	bytes, err := parseSize(text)
	if err != nil {
		return 0, fmt.Errorf("--disk-reserve: %w, auto or none", err)
	}
	return bytes, nil
}

// tls returns nil where the server speaks plain HTTP.
func (f *serveFlags) tls() (*tls.Config, error) {
	if f.tlsCert == "" {
		return nil, nil //nolint:nilnil // no TLS is a valid answer
	}
	certificate, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, fmt.Errorf("load --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{
		Certificates: []tls.Certificate{certificate},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
	}, nil
}

// serveUntilDone serves until ctx ends, then lets the requests under way end.
func serveUntilDone(ctx context.Context, s *http.Server, l net.Listener, logger *slog.Logger) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	logger.Info("stopping", "wait_max", shutdownWait)
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if err := s.Shutdown(deadline); err != nil {
		logger.Warn("requests cut off", "error", err)
		return s.Close()
	}
	return nil
}

func warnIfPublic(logger *slog.Logger, addr net.Addr) {
	if tcp, ok := addr.(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		logger.Warn("listening beyond loopback: requests are not authenticated, anyone who reaches this address can read and write everything", "addr", addr)
	}
}
