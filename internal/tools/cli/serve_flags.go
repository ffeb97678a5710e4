package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/pflag"

	"github.com/monotable/monotable"
	"github.com/monotable/monotable/internal/httpguard"
	"github.com/monotable/monotable/internal/tools/console"
	"github.com/monotable/monotable/internal/tools/designer/enforce"
)

const (
	defaultAddr   = "127.0.0.1:8000"
	defaultRegion = "us-east-1"
	defaultData   = "./data"

	defaultConnections    = 4096
	defaultRequestTimeout = time.Minute

	// defaultRotation is about how long AWS keeps a shard of a stream open.
	defaultRotation = 4 * time.Hour

	// defaultSlow is how long a request takes before the log mentions it.
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
	connectionsGiven bool // by the user, not by default
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
	set.BoolVar(&f.memory, "memory", false, "keep the data in memory, and forget it at the end")
	set.StringVar(&f.store, "store", "", "keep the data in a PostgreSQL database, by its `URL`, in place of a directory; several servers may share it: postgres://USER@HOST[,HOST…]/DATABASE; the password may stand in PGPASSWORD; or in a TiKV cluster, in a program built with -tags tikv: tikv://PD[,PD…][?prefix=NAME]")
	set.BoolVar(&f.awaitMove, "await-move", false, "wait until a database has been moved to --store, and open it then, rather than making a new one")
	set.StringVar(&f.durability, "durability", "sync", "when a write is answered: sync, interval or none")
	set.StringVar(&f.reserve, "disk-reserve", "auto", "disk space to keep free; with less left, only reads and deletes are accepted: auto, none or a size like 2GiB")
	set.StringVar(&f.region, "region", defaultRegion, "region in ARNs")
	set.StringSliceVar(&f.regions, "regions", nil, "Regions to serve beside --region, each with tables of its own, by the Region that requests are signed for; a list with commas (default: requests for any Region are for --region)")
	f.tls.register(set)
	set.DurationVar(&f.gsiDelay, "gsi-delay", 0, "let reads of global secondary indexes lag by this much")
	set.DurationVar(&f.replicationDelay, "replication-delay", 0, "let the replicas of global tables lag by this much")
	set.DurationVar(&f.tableDelay, "table-delay", 0, "keep tables CREATING, UPDATING and DELETING for this long")
	set.BoolVar(&f.enforceCapacity, "enforce-capacity", false, "throttle requests beyond the throughput of tables, as AWS does; a table's tag monotable:enforce-capacity (true or false) comes before it")
	set.BoolVar(&f.enforceDesign, "enforce-design", false, "refuse writes of items that the design of their table does not know, the one of --design or that monotable design attach has kept; tables without a design take any item")
	set.IntVar(&f.streamShards, "stream-shards", 1, "shards that a new stream begins with, 1 to 100")
	set.DurationVar(&f.streamShardRotation, "stream-shard-rotation", defaultRotation, "replace a stream's shards after this long; 0 is never")
	set.Var(&f.logMaxBytes, "log-max-bytes", "disk space for change logs (streams and point-in-time recovery), like 10GiB; beyond it the oldest changes are trimmed (default no cap)")
	set.StringVar(&f.kinesisEndpoint, "kinesis-endpoint", "", "`URL` of a Kinesis-compatible service that takes the changes of tables with a Kinesis destination")
	set.StringVar(&f.kinesisDir, "kinesis-dir", "", "directory that takes the changes of those tables as files of JSON lines where there is no --kinesis-endpoint (default kinesis in the data directory)")
	set.StringVar(&f.s3Dir, "s3-dir", "", "`directory` of the buckets of exports and imports: each bucket is a directory in it (default the directory s3 in --data)")
	set.StringVar(&f.s3Endpoint, "s3-endpoint", "", "`URL` of S3 or a store like it for exports and imports; credentials come from the environment, as the AWS SDKs find them")
	set.Var(&f.memoryLimit, "memory-limit", "memory the server may use, like 2GiB (default 90 % of the container's limit, or half of the machine's memory)")
	set.Var(&f.cacheSize, "cache-size", "memory for the block cache, part of --memory-limit (default an eighth of it, at most 1GiB)")
	set.IntVar(&f.maxConnections, "max-connections", defaultConnections, "open connections, lowered to what the limit of open files allows; requests on further ones are throttled")
	set.DurationVar(&f.requestTimeout, "request-timeout", defaultRequestTimeout, "time limit of a request; 0 is no limit")
	f.auth.register(set)
	f.masterKey.register(set)
	set.BoolVar(&f.encrypt, "encrypt", false, "encrypt the files of a new data directory under --master-key, and refuse one that is not encrypted")
	f.audit.register(set)
	set.StringSliceVar(&f.allowedHosts, "allowed-host", nil, "additional `name` that a Host header may carry, or *.suffix; repeatable, or a list with commas")
	set.StringSliceVar(&f.corsOrigins, "cors-origin", nil, "`origin` whose web pages may use the database, or * for all; repeatable, or a list with commas (default none)")
	set.BoolVar(&f.console, "console", true, "serve the console, a web page to see and change tables and items, at /_console/")
	designFlag(set, &f.designs)
	set.BoolVar(&f.untilStdin, "until-stdin-closes", false, "stop when standard input ends, as it does when the program that started the server ends")
	set.StringVar(&f.metricsAddr, "metrics-addr", "", "address to serve Prometheus metrics on, under /metrics, and /-/ready (off by default)")
	set.DurationVar(&f.slow, "slow", defaultSlow, "log requests that take at least this long, and what they waited for; 0 is off")
	set.StringVar(&f.pprof, "pprof", "", "address to serve Go profiles on, under /debug/pprof/ (off by default)")
	f.log.register(set)
}

// checkPlace refuses flags that say different things of where the data is.
func (f *serveFlags) checkPlace(set *pflag.FlagSet) error {
	given := set.Changed
	switch {
	case f.memory && given("data"):
		return errors.New("--memory and --data: give one of them; in memory no directory is used")
	case f.memory && f.encrypt:
		return errors.New("--memory and --encrypt: give one of them; in memory there are no files")
	case f.store == "" && f.awaitMove:
		return errors.New("--await-move: give --store too, the URL that monotable move has as --to")
	case f.store == "":
		return nil
	case f.memory:
		return errors.New("--memory and --store: give one of them")
	}
	for _, flag := range []string{"durability", "disk-reserve", "encrypt", "cache-size"} {
		if given(flag) {
			return fmt.Errorf("--store and --%s: give one of them; the store has its own files", flag)
		}
	}
	return nil
}

// open opens the database as the flags say.
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
	if f.streamShards < 1 { // which would be the default
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
