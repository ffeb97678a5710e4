package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/internal/tools/designer/enforce"
	"github.com/monotable/monotable/internal/tools/dynamodblocal"
)

const (
	defaultAddr   = "127.0.0.1:8000"
	defaultRegion = "us-east-1"
	defaultData   = "./data"

	defaultConnections    = 4096
	defaultRequestTimeout = time.Minute

	// defaultRotation is approximately how long AWS keeps a shard of a stream open.
	defaultRotation = 4 * time.Hour

	// defaultSlow is the duration from which a request is logged as slow.
	defaultSlow = time.Second
)

// serveFlags are the flags of the serve command.
type serveFlags struct {
	addr             string
	data             string
	memory           bool
	store            string
	awaitMove        bool
	durability       string
	reserve          string
	region           string
	regions          []string
	tls              tlsFlags
	gsiDelay         time.Duration
	replicationDelay time.Duration
	tableDelay       time.Duration
	enforceCapacity  bool
	enforceDesign    bool

	streamShards        int
	streamShardRotation time.Duration
	logMaxBytes         byteSize

	kinesisEndpoint string
	kinesisDir      string
	s3Dir           string
	s3Endpoint      string

	memoryLimit      byteSize
	cacheSize        byteSize
	maxConnections   int
	connectionsGiven bool // set by the user
	unknownVariables []unknownVariable
	requestTimeout   time.Duration

	auth         authFlags
	masterKey    masterKeyFlags
	encrypt      bool
	audit        auditFlags
	allowedHosts []string
	corsOrigins  []string

	console     bool
	designs     []string
	untilStdin  bool
	metricsAddr string
	slow        time.Duration
	pprof       string
	log         logFlags
}

// register declares the flags.
func (f *serveFlags) register(set *pflag.FlagSet) {
	set.StringVar(&f.addr, "addr", defaultAddr, "address to listen on; port 0 picks a free one")
	set.StringVar(&f.data, "data", defaultData, "directory that holds the data")
	set.BoolVar(&f.memory, "memory", false, "keep the data in memory only")
	set.StringVar(&f.store, "store", "", "`URL` of a PostgreSQL database to store the data in instead of a directory; several servers may share it: postgres://USER@HOST[,HOST…]/DATABASE; the password can be in PGPASSWORD. Or of a TiKV cluster, in a program built with -tags tikv: tikv://PD[,PD…][?prefix=NAME][&ca=FILE&cert=FILE&key=FILE for TLS]")
	set.BoolVar(&f.awaitMove, "await-move", false, "wait until a database has been moved to --store and open it, instead of creating a new one")
	set.StringVar(&f.durability, "durability", "sync", "when a write is acknowledged: sync, interval or none")
	set.StringVar(&f.reserve, "disk-reserve", "auto", "disk space to keep free: auto, none or a size like 2GiB; below it, only reads and deletes are accepted")
	set.StringVar(&f.region, "region", defaultRegion, "region in ARNs")
	set.StringSliceVar(&f.regions, "regions", nil, "comma-separated additional Regions to serve, each with its own tables, selected by the Region for which requests are signed (default: requests for any Region go to --region)")
	f.tls.register(set)
	set.DurationVar(&f.gsiDelay, "gsi-delay", 0, "let reads of global secondary indexes lag by this much")
	set.DurationVar(&f.replicationDelay, "replication-delay", 0, "let the replicas of global tables lag by this much")
	set.DurationVar(&f.tableDelay, "table-delay", 0, "keep tables CREATING, UPDATING and DELETING for this long")
	set.BoolVar(&f.enforceCapacity, "enforce-capacity", false, "throttle requests above the throughput of tables, as AWS does; a table's tag monotable:enforce-capacity (true or false) takes precedence")
	set.BoolVar(&f.enforceDesign, "enforce-design", false, "reject writes of items that do not match the design of their table, from --design or monotable design attach; tables without a design accept any item")
	set.IntVar(&f.streamShards, "stream-shards", 1, "initial number of shards of a new stream, 1 to 100")
	set.DurationVar(&f.streamShardRotation, "stream-shard-rotation", defaultRotation, "replace a stream's shards after this time; 0 means never")
	set.Var(&f.logMaxBytes, "log-max-bytes", "disk space for change logs (streams and point-in-time recovery), like 10GiB; above it, the oldest changes are trimmed (default no limit)")
	set.StringVar(&f.kinesisEndpoint, "kinesis-endpoint", "", "`URL` of a Kinesis-compatible service for the changes of tables with a Kinesis destination")
	set.StringVar(&f.kinesisDir, "kinesis-dir", "", "without --kinesis-endpoint: directory for the changes of those tables, as files of JSON lines (default kinesis in the data directory)")
	set.StringVar(&f.s3Dir, "s3-dir", "", "`directory` with the buckets for exports and imports, one subdirectory per bucket (default s3 in --data)")
	set.StringVar(&f.s3Endpoint, "s3-endpoint", "", "`URL` of S3 or a compatible store for exports and imports; credentials are found as in the AWS SDKs")
	set.Var(&f.memoryLimit, "memory-limit", "memory the server may use, like 2GiB (default 90 % of the container's limit, or half of the machine's memory)")
	set.Var(&f.cacheSize, "cache-size", "memory for the block cache, part of --memory-limit (default from an eighth of 1GiB to almost a third of 64GiB)")
	set.IntVar(&f.maxConnections, "max-connections", defaultConnections, "maximum number of open connections, within the limit of open files; requests on further connections are throttled")
	set.DurationVar(&f.requestTimeout, "request-timeout", defaultRequestTimeout, "time limit of a request; 0 means no limit")
	f.auth.register(set)
	f.masterKey.register(set)
	set.BoolVar(&f.encrypt, "encrypt", false, "encrypt the files of a new data directory with --master-key, and refuse to open an unencrypted one")
	f.audit.register(set)
	set.StringSliceVar(&f.allowedHosts, "allowed-host", nil, "additional host `name` to accept in the Host header, or *.suffix; repeatable or comma-separated")
	set.StringSliceVar(&f.corsOrigins, "cors-origin", nil, "`origin` whose web pages may use the database, or * for all; repeatable or comma-separated (default none)")
	set.BoolVar(&f.console, "console", true, "serve the console, a web page to view and change tables and items, at /_console/")
	designFlag(set, &f.designs)
	set.BoolVar(&f.untilStdin, "until-stdin-closes", false, "stop when standard input is closed, for example because the parent process has exited")
	set.StringVar(&f.metricsAddr, "metrics-addr", "", "address for Prometheus metrics, at /metrics, and for /-/ready (off by default)")
	set.DurationVar(&f.slow, "slow", defaultSlow, "log requests that take at least this long, and what they waited for; 0 turns it off")
	set.StringVar(&f.pprof, "pprof", "", "address for Go profiles, at /debug/pprof/ (off by default)")
	f.log.register(set)
}

// exclude declares which flags for the location of the data contradict each other.
func (f *serveFlags) exclude(set *pflag.FlagSet) {
	excludeFlags(set, "in memory, no directory is used", "memory", "data")
	excludeFlags(set, "in memory, there are no files", "memory", "encrypt")
	excludeFlags(set, "", "memory", "store")
	excludeFlags(set, "", "s3-dir", "s3-endpoint")
	for _, flag := range []string{"durability", "disk-reserve", "encrypt", "cache-size"} {
		excludeFlags(set, "the store has its own files", "store", flag)
	}
}

// open opens the database according to the flags.
func (f *serveFlags) open(ctx context.Context, env Environment, logger *slog.Logger, plan memoryPlan, auth *monotable.Auth, keys masterKeys, designs *console.Designs) (*monotable.DB, error) {
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
	options := &monotable.Options{
		Region: f.region, Regions: f.regions, Durability: durability, GSIDelay: f.gsiDelay, ReplicationDelay: f.replicationDelay, TableDelay: f.tableDelay, Logger: logger,
		EnforceCapacity: f.enforceCapacity,
		StreamShards:    f.streamShards, StreamShardRotation: f.streamShardRotation, LogMaxBytes: int64(f.logMaxBytes), SlowRequest: f.slow,
		KinesisEndpoint: f.kinesisEndpoint, KinesisDir: f.kinesisDir,
		OnFatal:      func(err error) { endProcess(env, err) },
		AllowedHosts: f.allowedHosts, CORSOrigins: f.corsOrigins,
		S3Dir: f.s3Dir, S3Endpoint: f.s3Endpoint, Auth: auth,
		MasterKey: keys.current, PreviousMasterKey: keys.previous, Encrypt: f.encrypt,
	}
	if f.enforceDesign {
		options.ItemRules = enforce.New(enforce.Options{Given: designs.Given})
	}
	if options.Audit, err = f.audit.options(env); err != nil {
		return nil, err
	}
	if options.DiskReserve, err = diskReserve(f.reserve); err != nil {
		return nil, err
	}
	plan.apply(options)
	options.RequestTimeout = f.requestTimeout
	for _, d := range []struct {
		flag  string
		value time.Duration
	}{{"request-timeout", f.requestTimeout}, {"slow", f.slow}, {"gsi-delay", f.gsiDelay}, {"replication-delay", f.replicationDelay}, {"table-delay", f.tableDelay}, {"stream-shard-rotation", f.streamShardRotation}} {
		if d.value < 0 {
			return nil, fmt.Errorf("--%s %v: want 0 or more", d.flag, d.value)
		}
	}
	if err := f.checkNames(); err != nil {
		return nil, err
	}
	if f.streamShards < 1 || f.streamShards > 100 { // 0 would mean the default
		return nil, fmt.Errorf("--stream-shards %d: want 1 to 100", f.streamShards)
	}
	if f.streamShardRotation == 0 {
		options.StreamShardRotation = -1
	}
	switch {
	case f.memory:
		return monotable.OpenMemory(options)
	case f.store != "":
		if f.awaitMove {
			logger.Info("waiting for the database to be moved to the store")
			if err := monotable.AwaitMove(ctx, f.store); err != nil {
				return nil, err
			}
		}
		return monotable.OpenStore(ctx, f.store, options)
	}
	db, err := monotable.Open(f.data, options)
	if errors.Is(err, monotable.ErrLocked) {
		return nil, fmt.Errorf("%s is open in another process: stop that process, or use another --data directory", f.data)
	}
	return db, err
}

// checkNames rejects Regions and URLs that nothing could use.
func (f *serveFlags) checkNames() error {
	if !dynamodblocal.IsRegion(f.region) {
		return fmt.Errorf("--region %q: want a name like us-east-1", f.region)
	}
	for _, name := range f.regions {
		if !dynamodblocal.IsRegion(name) {
			return fmt.Errorf("--regions %q: want names like us-east-1,eu-west-1", name)
		}
	}
	for _, e := range []struct{ flag, text, example string }{
		{"kinesis-endpoint", f.kinesisEndpoint, "http://localhost:4566"}, {"s3-endpoint", f.s3Endpoint, "https://s3.eu-west-1.amazonaws.com"},
	} {
		if at, err := url.Parse(e.text); e.text != "" && (err != nil || at.Host == "") {
			return fmt.Errorf("--%s %q: want a URL like %s", e.flag, e.text, e.example)
		}
	}
	return nil
}

// diskReserve parses --disk-reserve for Options.DiskReserve.
func diskReserve(text string) (int64, error) {
	switch text {
	case "auto":
		return 0, nil
	case "none", "0":
		return -1, nil
	}
	bytes, err := parseSize(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("--disk-reserve: %w, auto or none", err)
	case bytes == 0: // 0MiB
		return -1, nil
	}
	return bytes, nil
}
