package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/server/http1"
	"github.com/monotable/monotable/internal/descriptors"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/console"
)

// shutdownWait is the time that running requests get to end once the server is stopped.
const shutdownWait = 10 * time.Second

func newServe(env Environment) *cobra.Command { return NewServe(env, Companion{}) }

// Companion is another program that runs in the server's process and uses its database.
type Companion struct {
	// Flags adds flags to those of serve; nil adds none.
	Flags func(*pflag.FlagSet)
	// Start is called when the database is open and its address is bound. It stops its work when ctx ends; the
	// database stays open until stop has returned.
	Start func(ctx context.Context, host CompanionHost) (stop func() error, err error)
}

// CompanionHost is the information for a Companion.
type CompanionHost struct {
	DB     *monotable.DB
	Data   string // the directory, "" in memory
	Logger *slog.Logger
	// AllowedHosts are the names given by --allowed-host, by which requests may also address the companion.
	AllowedHosts []string
	// Console is the URL of the console, "" if there is none.
	Console string
	// AddDesign makes the console show tables by a design: the name of its file, whose extension gives the format, and
	// its text.
	AddDesign func(file string, text []byte) error
}

// NewServe returns the serve command for a program that serves more than the database.
func NewServe(env Environment, companion Companion) *cobra.Command {
	var flags serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Start the database",
		Long: `Start the database and serve DynamoDB's API over HTTP until interrupted.

With the default --durability sync, a write is on disk before it is acknowledged; concurrent writes share a sync.
"interval" syncs every 100 ms and "none" leaves it to the operating system: both are faster, but a crash can lose the
most recent writes.

On a loopback address, everyone may do everything. On other addresses, requests must be signed with an access key
(Signature Version 4, as every AWS SDK does) and may do what its policies allow; --auth changes this. If there is no
key yet, the first start creates a root access key and prints it once; to choose it yourself, set
MONOTABLE_ROOT_ACCESS_KEY_ID and MONOTABLE_ROOT_SECRET_ACCESS_KEY. Manage users, roles and policies with monotable
iam, or declare them in the file --iam.

Open the address in a browser to use the console, a web page to view and change tables and items. If requests must be
signed, it asks for an access key and may do what its policies allow. --console=false turns it off.

Other web pages have no access: their origins must be allowed with --cors-origin and, with --auth off, public host
names with --allowed-host.

GET /-/healthy checks that the process responds, GET /-/ready that the database accepts reads and writes. On
--metrics-addr, they also respond while the database is opening. To enable traces, set OpenTelemetry's standard
environment variables: OTEL_EXPORTER_OTLP_ENDPOINT is enough.`,
		Example: `  monotable serve --data ./data
  monotable serve --memory --addr 127.0.0.1:0
  monotable serve --store postgres://monotable@db1,db2/monotable   # in PostgreSQL, on whichever host accepts writes
  monotable serve --store tikv://pd1:2379,pd2:2379,pd3:2379        # in TiKV, in a program built with -tags tikv
  monotable serve --design shop.design.yaml     # the console shows items by entity
  monotable serve --design shop.design.yaml --enforce-design   # reject items that do not match the design
  monotable serve --gsi-delay 50ms              # simulate eventual consistency
  monotable serve --enforce-capacity            # simulate throttling
  monotable serve --tls-cert cert.pem --tls-key key.pem
  monotable serve --addr :8000 --master-key file:/etc/monotable/master.key   # on the network: requests must be signed
  monotable serve --encrypt --master-key command:'vault kv get -field=key secret/monotable'
  monotable serve --auth required --iam iam.yaml --audit /var/log/monotable/audit.jsonl
  monotable serve --metrics-addr 127.0.0.1:9464 --slow 100ms
  OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 monotable serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.store == "" && flags.awaitMove {
				return errors.New("--await-move needs --store, with the same URL as --to of monotable move")
			}
			for name, size := range map[string]byteSize{"memory-limit": flags.memoryLimit, "cache-size": flags.cacheSize} {
				if size == 0 && cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s 0: want a size like 2GiB; omit the flag for the default", name)
				}
			}
			flags.connectionsGiven = cmd.Flags().Changed("max-connections")
			flags.unknownVariables = unknownVariables(cmd, env)
			return serve(cmd.Context(), env, &flags, companion)
		},
	}
	f := cmd.Flags()
	flags.register(f)
	flags.exclude(f)
	if companion.Flags != nil {
		companion.Flags(f)
	}
	requireTogether(f, "tls-cert", "tls-key")
	requireFor(f, "audit", "audit-events", "audit-values", "audit-failure", "audit-max-size", "audit-keep")
	return cmd
}

// surviveClosedPipes lets a server continue without the reader of its log or its audit log. Go ends a process that writes to a standard
// output or error that nothing reads, unless something has asked for the signal.
func surviveClosedPipes() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// untilHangup returns a context that ends when the terminal is closed, which stops the server like Ctrl-C. It does not if SIGHUP rereads
// files, or is ignored, as by nohup.
func (f *serveFlags) untilHangup(ctx context.Context) (context.Context, context.CancelFunc) {
	if f.auth.file != "" || f.audit.file != "" || f.tls.cert != "" || signal.Ignored(syscall.SIGHUP) {
		return context.WithCancel(ctx)
	}
	return signal.NotifyContext(ctx, syscall.SIGHUP)
}

func serve(ctx context.Context, env Environment, flags *serveFlags, companion Companion) error {
	surviveClosedPipes()
	ctx, cancel := flags.untilHangup(ctx)
	defer cancel()
	if flags.untilStdin {
		go func() {
			_, _ = io.Copy(io.Discard, env.stdin())
			cancel()
		}()
	}
	logger, err := flags.log.logger(env.Stderr)
	if err != nil {
		return err
	}
	flags.warnOfVariables(logger)
	certificates, err := flags.tls.open(logger)
	if err != nil {
		return err
	}
	if err := flags.fitConnections(descriptors.ForConnections(), logger); err != nil {
		return err
	}
	auth, err := flags.auth.options(env, flags.addr)
	if err != nil {
		return err
	}
	keys, err := flags.masterKey.read(ctx, env)
	if err != nil {
		return err
	}
	if flags.encrypt && keys.current == nil {
		return errors.New("--encrypt needs --master-key")
	}
	plan, err := planMemory(int64(flags.memoryLimit), int64(flags.cacheSize))
	if err != nil {
		return err
	}
	if plan.limit < minMemory {
		logger.Warn("low memory: large writes to tables with many indexes can exceed it",
			"memory_limit", (*byteSize)(&plan.limit), "recommended_min", new(byteSize(minMemory)))
	}
	plan.tuneCollector(env.Getenv, flags.memory)
	if !flags.memory {
		plan.processors = tuneProcessors(env.Getenv)
	}
	designs, err := readDesigns(env, flags.designs)
	if err != nil {
		return err
	}
	if err := checkFree(ctx, flags.addr); err != nil {
		return err
	}
	m := newMonitor()
	defer context.AfterFunc(ctx, m.stopping)()
	stopAuxiliary, err := flags.serveAuxiliary(ctx, m, logger)
	if err != nil {
		return err
	}
	db, err := flags.open(ctx, env, logger, plan, auth, keys, designs)
	if err != nil {
		return errors.Join(err, stopAuxiliary())
	}
	m.opened(db)
	err = flags.serveDB(ctx, env, db, designs, m, certificates, auth, companion, logger)
	m.closing()
	return errors.Join(err, stopAuxiliary(), db.Close())
}

// serveAuxiliary serves the operators' endpoints, on their own listeners, from before the database is opened.
func (f *serveFlags) serveAuxiliary(ctx context.Context, m *monitor, logger *slog.Logger) (stop func() error, err error) {
	guard, err := httpguard.New(f.allowedHosts, nil)
	if err != nil {
		return nil, fmt.Errorf("--allowed-host: %w", err)
	}
	stopMetrics, err := serveAuxiliary(ctx, f.metricsAddr, "--metrics-addr", "/metrics", m.handler(guard, logger), logger)
	if err != nil {
		return nil, err
	}
	stopPprof, err := serveAuxiliary(ctx, f.pprof, "--pprof", "/debug/pprof/", profiles(guard), logger)
	if err != nil {
		return nil, errors.Join(err, stopMetrics())
	}
	return func() error { return errors.Join(stopMetrics(), stopPprof()) }, nil
}

// serveDB serves an open database until ctx ends.
func (f *serveFlags) serveDB(ctx context.Context, env Environment, db *monotable.DB, designs *console.Designs, m *monitor, certificates *certificates, auth *monotable.Auth, companion Companion, logger *slog.Logger) error {
	handler, stopTraces, err := traced(ctx, env, db, logger)
	if err != nil {
		return err
	}
	listener, err := listen(ctx, f.addr)
	if err != nil {
		return errors.Join(err, stopTraces())
	}
	listener = server.LimitConnections(listener, f.maxConnections)
	if f.console {
		handler = withConsole(handler, f, designs, auth.Required)
	}
	httpServer := server.HTTPServer(handler, logger)
	m.count(httpServer.HTTP())
	scheme := "http"
	var reloads []func(context.Context)
	if f.auth.file != "" {
		reloads = append(reloads, func(ctx context.Context) { f.auth.reload(ctx, db, logger) })
	}
	if f.audit.file != "" {
		reloads = append(reloads, func(context.Context) { reopenAudit(db, logger) })
	}
	if certificates != nil {
		httpServer.HTTP().TLSConfig = certificates.config()
		listener = tls.NewListener(listener, httpServer.HTTP().TLSConfig)
		scheme = "https"
		reloads = append(reloads, certificates.reloadOnHangup)
	}
	if err := f.auth.checkAddress(auth, listener.Addr(), logger); err != nil {
		return errors.Join(err, listener.Close(), stopTraces())
	}
	var root *monotable.AccessKey
	if auth.Required {
		if root, err = db.EnsureRootKey(ctx); err != nil {
			return errors.Join(err, listener.Close(), stopTraces())
		}
	}
	stopReload := atHangup(ctx, reloads...)
	endpoint := scheme + "://" + dialable(listener.Addr())
	stopControl := serveControl(db, m.registry, f, endpoint, logger)
	printFirstSteps(env, f, endpoint, auth.Required, root)
	stopCompanion, err := f.accompany(ctx, companion, db, designs, endpoint, logger)
	if err != nil {
		err = errors.Join(err, listener.Close())
	} else {
		err = errors.Join(serveUntilDone(ctx, httpServer, listener, logger), stopCompanion())
	}
	stopControl()
	stopReload()
	return errors.Join(err, stopTraces())
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if _, malformed := errors.AsType[*net.AddrError](err); malformed {
		return nil, fmt.Errorf("--addr %q: want HOST:PORT, like %s or :8000", addr, defaultAddr)
	}
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w (use --addr for another address)", addr, err)
	}
	return listener, nil
}

// checkFree fails if another process listens on the address, before a data directory is created. The address is bound only when the
// database is open: until then, connections are refused.
func checkFree(ctx context.Context, addr string) error {
	listener, err := listen(ctx, addr)
	if err != nil {
		return err
	}
	return listener.Close()
}

// fatalStatus is the exit status of a server after a fault that it must not survive.
const fatalStatus = 2

// endProcess ends the process immediately: nothing more may be written.
func endProcess(env Environment, err error) {
	fmt.Fprintf(env.Stderr, "monotable: %v\nThe server stops to avoid writing corrupt data. No acknowledged write is lost: "+
		"restart the server and run monotable verify.\n", err)
	os.Exit(fatalStatus)
}

// accompany starts the companion, if there is one.
func (f *serveFlags) accompany(ctx context.Context, companion Companion, db *monotable.DB, designs *console.Designs, endpoint string, logger *slog.Logger) (stop func() error, err error) {
	if companion.Start == nil {
		return func() error { return nil }, nil
	}
	host := CompanionHost{DB: db, Data: f.data, Logger: logger, AllowedHosts: f.allowedHosts, Console: endpoint + console.Path, AddDesign: designs.Add}
	if !f.console {
		host.Console = ""
	}
	if f.memory {
		host.Data = ""
	}
	return companion.Start(ctx, host)
}

// serveUntilDone serves until ctx ends, then lets running requests end.
func serveUntilDone(ctx context.Context, s *http1.Server, l net.Listener, logger *slog.Logger) error {
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	logger.Info("stopping", "wait_max", shutdownWait, "hint", "Ctrl-C again stops at once")
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
	defer cancel()
	if err := s.Shutdown(deadline); err != nil {
		logger.Warn("requests cut off", "error", err)
		return s.Close()
	}
	return nil
}
