// Package monotable is DynamoDB in your process: the exact API, with durable data.
//
// [Open] opens a directory, [OpenMemory] an empty database in memory. Either gives a real *dynamodb.Client of the AWS SDK whose
// requests never touch a socket ([DB.Client]), and the [net/http.Handler] that the monotable server uses ([DB.Handler]). A
// program written for AWS runs here unchanged, and vice versa.
//
// Durability: by default ([DurabilitySync]), a write is on disk when its call returns; many writes share one sync. Only one
// process at a time can open a directory, and only once; further calls get [ErrLocked].
//
// All methods of a DB are safe for concurrent use.
package monotable

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"

	"github.com/monotable/monotable/internal/database/audit"
	"github.com/monotable/monotable/internal/database/cloudwatch"
	"github.com/monotable/monotable/internal/database/cloudwatch/history"
	"github.com/monotable/monotable/internal/database/engine"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/identity"
	"github.com/monotable/monotable/internal/database/inspect"
	"github.com/monotable/monotable/internal/database/kinesis"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/memkv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
	"github.com/monotable/monotable/internal/database/storage/kv/postgreskv"
	"github.com/monotable/monotable/internal/httpguard"
)

// ErrFrozen is returned by all calls, wrapped, after the database met an internal error and stopped rather than risk writing
// wrong data. It does nothing until it is reopened; see Options.OnFatal.
var ErrFrozen = kv.ErrFrozen

// ErrMasterKey is returned by Open, wrapped, for a directory that is encrypted under a master key that was not given.
var ErrMasterKey = pebblekv.ErrMasterKey

// ErrLocked is returned by Open, wrapped, when another process, or this one, has the directory open.
var ErrLocked = kv.ErrLocked

// DamageError is returned, wrapped, when File in the directory Dir is damaged, for the reason Cause: restore the directory from a
// backup.
type DamageError = kv.DamageError

// Durability determines when a write is acknowledged.
type Durability int

const (
	// DurabilitySync acknowledges a write when it is on disk. Many writes share one sync. Failed conditions and strongly
	// consistent reads also wait until the data they observed is on disk.
	DurabilitySync Durability = iota
	// DurabilityInterval syncs every 100 ms. A crash, even of the process alone, loses at most the last 100 ms of writes.
	DurabilityInterval
	// DurabilityNone leaves syncing to the operating system. A crash of the machine may lose any number of the most recent
	// writes; a crash of the process alone may lose a few.
	DurabilityNone
)

// Options configure a database. The zero value and nil are valid.
type Options struct {
	// Region appears in ARNs and in stream records. Default "us-east-1". It cannot become a Region in which the database has other
	// tables, or change while a table has replicas.
	Region string
	// Regions are served in addition to Region, each with its own tables. A request goes to the Region it is signed for; requests
	// for a Region that is not served are rejected. Unsigned requests go to Region. Default: none, and all requests go to Region,
	// whatever Region they are signed for. Changes, Insights, Stats and metrics name a table of another Region REGION/TABLE.
	Regions []string
	// AccountID appears in ARNs: 12 digits. Default "000000000000".
	AccountID string
	// Durability of writes. Ignored in memory.
	Durability Durability
	// DiskReserve is how many bytes of the disk are kept free. Below that, writes other than deletes are rejected with a
	// LimitExceededException until there is space again. Default 0: 2% of the disk, but at least 256 MiB, and at most 8 GiB or a
	// quarter of the disk. Negative: none; a full disk then stops all writes. Ignored in memory.
	DiskReserve int64
	// OnFatal is called once, on any goroutine, when the database has frozen with ErrFrozen. A server logs the error and exits.
	// Without OnFatal the process continues, and requests get InternalServerError.
	OnFatal func(error)
	// GSIDelay makes reads of global secondary indexes return the state of that long ago, to test a program against the eventual
	// consistency of AWS. Default 0: none.
	GSIDelay time.Duration
	// ReplicationDelay is how long changes of a global table take to reach the other Regions, to test a program against lagging
	// replicas. Default 0: changes are replicated as soon as possible.
	ReplicationDelay time.Duration
	// TableDelay is how long tables stay CREATING, UPDATING and DELETING. Default 0: the response to the request shows that
	// state, the next request no longer does.
	TableDelay time.Duration
	// EnforceCapacity enforces the provisioned or on-demand throughput of tables, and the account's quotas, as AWS does: excess
	// requests are throttled with AWS's errors and reasons. A table's tag monotable:enforce-capacity, true or false, overrides
	// it.
	EnforceCapacity bool
	// ItemRules decide which items may be written. Default nil: any. With those of package design/enforce, an item that does
	// not match the design of its table is rejected.
	ItemRules ItemRules
	// StreamShards is the number of shards of a new stream, 1 to 100. Default 1. A shard that receives more than 1000 records a
	// second is split in two.
	StreamShards int
	// StreamShardRotation is how long a stream's shard stays open before a new one replaces it, so that consumers handle closed
	// shards as they must on AWS. Default 4 h, about the same as on AWS. Negative: never.
	StreamShardRotation time.Duration
	// LogMaxBytes is the approximate limit of the total size of the change logs, for streams and point-in-time recovery. Above it
	// the oldest changes are deleted early: stream readers get TrimmedDataAccessException, and EarliestRestorableDateTime
	// advances. Default 0: whatever a day of streams and the recovery periods need.
	LogMaxBytes int64
	// KinesisEndpoint is the URL of a service with the API of Kinesis Data Streams. Changes of tables with a Kinesis destination
	// are written to its streams. Default: they are appended to files below KinesisDir.
	KinesisEndpoint string
	// KinesisCredentials sign requests to KinesisEndpoint. Default: the credentials in the environment, as for any AWS SDK.
	KinesisCredentials aws.CredentialsProvider
	// KinesisDir is the directory of the files to which changes are appended, REGION/ACCOUNT/STREAM.jsonl. Default: "kinesis" in
	// the database's directory; none in memory.
	KinesisDir string
	// S3Dir is the directory for exports and imports; each subdirectory is a bucket. Default: "s3" in the database's directory. A
	// database in memory has none and rejects exports and imports.
	S3Dir string
	// S3Endpoint is the URL of S3 or a compatible store (https://s3.eu-west-1.amazonaws.com), used instead of S3Dir. S3Config has
	// its region and credentials. Default: Region and the credentials in the environment.
	S3Endpoint string
	S3Config   *aws.Config
	// MasterKey, 32 bytes, seals the secrets in the directory: secret access keys and, if the directory is encrypted, its files'
	// keys. Default: secrets are stored unencrypted. A database that was opened with a master key needs it from then on for
	// authentication and, if it is encrypted, to open at all. PreviousMasterKey is set once, together with a new MasterKey, to
	// change the key.
	MasterKey, PreviousMasterKey []byte
	// Encrypt encrypts the files of a new directory under MasterKey. An existing unencrypted directory is rejected: Recrypt makes
	// an encrypted copy. An encrypted directory opens as such even without Encrypt. Ignored in memory.
	Encrypt bool
	// Auth configures who may call Handler. Default nil: every caller may do everything.
	Auth *Auth
	// Audit configures the audit log. Default nil: none.
	Audit *Audit
	// AllowedHosts are the host names, or *.suffix, that requests to Handler may use, in addition to IP addresses, localhost,
	// names without dots, *.localhost and *.internal. Other names get status 403. Without Auth this protects against DNS
	// rebinding: web pages whose own host name is made to resolve to the database.
	AllowedHosts []string
	// CORSOrigins are the origins (https://app.example.com) whose web pages may call Handler; "*" allows all. Default: none.
	CORSOrigins []string
	// CacheSize is the maximum size in bytes of the block cache. Default 256 MB. Ignored in memory.
	CacheSize int64
	// RequestMemory is the approximate limit, in bytes, of the memory for requests in flight, both of Handler and of in-process
	// clients. Further requests wait for a short time and then get a ThrottlingException. Default 512 MB.
	RequestMemory int64
	// WriteMemory is the approximate limit, in bytes, of the memory for writes in progress and the items they read; one write of
	// maximum size may exceed it. Further writes wait. Default 256 MB. Ignored in memory.
	WriteMemory int64
	// RequestTimeout limits the time of a request, counted from when its body has been read. Default 0: no limit.
	RequestTimeout time.Duration
	// LargeOperations is how many operations that read a lot may run at once, and how many with a very large input. Default:
	// GOMAXPROCS, at least two.
	LargeOperations int
	// OnLongOperation is called when an operation turns out to be long, or a flush or compaction of the directory begins, and with
	// false when it ends, from several goroutines at once. Long are pages of Query and Scan of more than 300 KB, other reads of more than
	// 64 KB, and inputs of more than 1 MB. It must return at once. Default: no call.
	OnLongOperation func(begins bool)
	// OnWrite is called for each write to the directory before it waits for the disk, from several goroutines at once. It must
	// return at once. Default: no call.
	OnWrite func()
	// Compactions is the maximum number of concurrent compactions. Default 2. Ignored in memory.
	Compactions int
	// MemTableSize is the size in bytes of a memtable, the buffer in which writes are collected before they are flushed; there
	// are at most four. Default 32 MB, which is also the maximum; the minimum is 256 KB. Ignored in memory.
	MemTableSize int
	// Now is the machine's clock, which the database's time follows for TTL, idempotency tokens and timestamps. The database's
	// time never goes back: if Now does, it stands still. In a shared store, Now only measures the time since the store's clock
	// was last read. It is called by several goroutines at once. Default time.Now.
	Now func() time.Time
	// Rand is the source of random ids, keys and secrets. It need not be safe for concurrent use. Default crypto/rand.
	Rand io.Reader
	// Logger logs background work and internal errors. Default: no logging.
	Logger *slog.Logger
	// SlowRequest logs requests that take at least this long, with what they waited for. Default 0: none.
	SlowRequest time.Duration

	guard       *httpguard.Guard // from AllowedHosts and CORSOrigins, set by validate
	unencrypted bool             // an unencrypted directory on disk; set by Open
	shared      bool             // other processes may have the store open, too; set by OpenStore
}

// FormatVersion is the storage format version that this program writes. It opens directories of all earlier versions and none of
// a later one.
func FormatVersion() uint64 { return format.Version() }

// DB is an open database.
type DB struct {
	store   kv.Store
	dir     string                // "" in memory
	left    atomic.Pointer[error] // the error of all requests after the database has been moved; nil before
	closed  atomic.Bool           // Close has been called
	engine  *engine.Engine
	regions []*region // in addition to the default one
	server  *server.Server
	kinesis *kinesis.Deliverer // nil if there is no destination
	observe *observe.Database
	history *history.History

	identity  *identity.Directory
	following sync.WaitGroup // of identity changes by other servers
	unfollow  func()         // stops following; nil if the store is not shared
	audit     *audit.Log     // nil without an audit log
	masterKey []byte
	region    string
	now       func() time.Time
	logger    *slog.Logger
}

// Open opens the database in dir, which is created if it does not exist.
func Open(dir string, o *Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	path, err := absolute(dir)
	if err != nil {
		return nil, fmt.Errorf("monotable: open: %w", err)
	}
	store, err := pebblekv.Open(path, pebblekv.Options{
		Durability: o.Durability.store(), DiskReserve: o.DiskReserve, Logger: o.Logger, OnFatal: o.OnFatal, OnBackgroundWork: o.OnLongOperation, OnCommit: o.OnWrite,
		CacheBytes: o.CacheSize, BatchBytes: o.WriteMemory, MemTableBytes: o.MemTableSize, Compactions: o.Compactions,
		MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey, Encrypt: o.Encrypt,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	o.unencrypted = !store.Encrypted()
	return open(store, path, o)
}

// sharedPause is how long a stalled process can keep its keys locked in an update. It is shorter than a lease (package cluster),
// so a process that has lost its leases holds no locks.
const sharedPause = 4 * time.Second

// OpenStore opens a database in an external store: a PostgreSQL database, by a URL as libpq accepts it
// (postgres://USER:PASSWORD@HOST/DATABASE; of several hosts, separated by commas, the one that accepts writes is used). Tables
// are created if they do not exist, in the schema given by the URL's search_path, "monotable" by default. Any number of processes
// may open the store: each can serve any request, and a table change returns when all of them have seen it.
//
// A program built with the tag tikv can also open a store in a TiKV cluster, by the addresses of its placement drivers:
// tikv://PD1:2379,PD2:2379. One cluster can hold several stores, each with its own ?prefix=NAME; the default is "monotable".
// For TLS, ?ca=FILE&cert=FILE&key=FILE names the cluster's certificate authority and this process's certificate and key (PEM); all
// stores that a process has open in TiKV at a time must use the same files.
//
// Options about a directory and its files are ignored. Each process enforces capacity for itself.
func OpenStore(ctx context.Context, address string, o *Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := checkAddress(address); err != nil {
		return nil, fmt.Errorf("monotable: open store: %w", err)
	}
	store, err := openShared(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("monotable: open store: %w", err)
	}
	o.shared = true
	return open(format.Guarded(store), "", o)
}

// openShared opens a store that several processes can share.
func openShared(ctx context.Context, address string, o *Options) (kv.Store, error) {
	if strings.HasPrefix(address, tikvScheme) {
		return openTiKV(ctx, address, false, o.Logger)
	}
	return postgreskv.Open(ctx, address, postgreskv.Options{Pause: sharedPause, Logger: o.Logger})
}

// tikvScheme is the scheme of a TiKV cluster's URL.
const tikvScheme = "tikv://"

// checkAddress rejects URLs other than those of PostgreSQL and TiKV.
func checkAddress(address string) error {
	for _, scheme := range []string{"postgres://", "postgresql://", tikvScheme} {
		if strings.HasPrefix(address, scheme) {
			return nil
		}
	}
	const want = "postgres:// or " + tikvScheme
	scheme, _, is := strings.Cut(address, "://")
	if !is { // do not print it: it may contain a password
		return errors.New("want a URL that begins with " + want)
	}
	return fmt.Errorf("the URL begins with %q: want %s", scheme+"://", want)
}

// OpenMemory opens an empty database in memory. Close discards it.
func OpenMemory(o *Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	return open(memkv.New(), "", o)
}

func open(store kv.Store, dir string, o *Options) (*DB, error) {
	counts := observe.New(server.OperationNames()...)
	buckets, err := openBuckets(dir, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("monotable: %w", err), store.Close())
	}
	if err := checkDefaultRegion(context.Background(), store, o.Region); err != nil {
		return nil, errors.Join(fmt.Errorf("monotable: %w", err), store.Close())
	}
	regions := engine.NewRegions()
	db := &DB{store: store, dir: dir, observe: counts, region: o.Region, logger: o.Logger, masterKey: o.MasterKey}
	own, err := db.openEngine(store, o.Region, "", o, regions, buckets)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	db.engine, db.kinesis, db.now = own.engine, own.kinesis, own.engine.Now
	if err := db.openRegions(o, regions, buckets); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	regions.Opened()
	db.history = history.Start(history.Options{
		Store: store, Observe: counts, Tables: db.countedTables, Pending: db.pendingReplication, Now: db.now, Logger: o.Logger,
	})
	options := server.Options{
		Region: o.Region, Regions: db.engines(), Guard: o.guard, Memory: o.RequestMemory, Turns: o.LargeOperations, OnLong: o.OnLongOperation, Timeout: o.RequestTimeout, Logger: o.Logger,
		Observe: counts, Slow: o.SlowRequest, Ready: db.Ready, Moved: db.moved,
		Companions: []server.Companion{cloudwatch.New(db.history, db.insightsRule, db.now, o.Logger), inspect.New(db.inspected(o))},
	}
	if err := db.openIdentity(o, &options); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.audit, err = o.openAudit(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.audit != nil {
		options.Auditor = db.audit
	}
	db.server = server.New(db.engine, options)
	return db, nil
}

// inspected has the operators' requests beyond DynamoDB's API.
func (db *DB) inspected(o *Options) inspect.Options {
	i := inspect.Options{
		Observe: db.observe, SlowFrom: cmp.Or(o.SlowRequest, observe.SlowDefault), In: db.inRegion, Engine: db.engine, Gauges: db.gauges, Now: db.now, Logger: o.Logger,
	}
	if store, ok := db.store.(interface{ Metrics() observe.Storage }); ok {
		i.Storage = store.Metrics
	}
	return i
}

// newDeliverer returns the deliverer to Kinesis destinations, or nil if no destination is configured.
func newDeliverer(dir string, o *Options, counts *observe.Database) (*kinesis.Deliverer, error) {
	if o.KinesisEndpoint != "" {
		credentials := o.KinesisCredentials
		if credentials == nil {
			loaded, err := config.LoadDefaultConfig(context.Background())
			if err != nil {
				return nil, fmt.Errorf("monotable: credentials for Kinesis: %w", err)
			}
			credentials = loaded.Credentials
		}
		return kinesis.New(kinesis.NewService(o.KinesisEndpoint, credentials), counts, o.Logger), nil
	}
	switch {
	case o.KinesisDir != "":
		var err error
		if dir, err = absolute(o.KinesisDir); err != nil {
			return nil, fmt.Errorf("monotable: KinesisDir: %w", err)
		}
	case dir == "":
		return nil, nil //nolint:nilnil // there may be none
	default:
		dir = filepath.Join(dir, "kinesis")
	}
	return kinesis.New(kinesis.NewFiles(dir), counts, o.Logger), nil
}

// Handler serves DynamoDB's API over HTTP; the monotable server uses it. It also serves the operations of CloudWatch that read
// metrics, see docs/metrics.md.
func (db *DB) Handler() http.Handler { return db.server }

// Close ends background work and closes the files. All requests must have returned.
func (db *DB) Close() error {
	db.closed.Store(true)
	db.engine.Rest() // what background work has done counts in the metrics
	for _, r := range db.regions {
		r.engine.Rest()
	}
	db.closeHistory()
	if db.unfollow != nil {
		db.unfollow()
		db.following.Wait()
	}
	var err error
	for _, r := range db.regions {
		err = errors.Join(err, r.close())
	}
	if db.kinesis != nil {
		db.kinesis.Close()
	}
	if db.audit != nil {
		err = errors.Join(err, db.audit.Close())
	}
	return errors.Join(err, db.engine.Close())
}

// closeHistory writes the metrics of the current minute. It only logs errors: metrics must not make Close fail.
func (db *DB) closeHistory() {
	if db.history == nil { // the database was never fully opened
		return
	}
	if err := db.history.Close(); err != nil && !errors.Is(err, kv.ErrClosed) {
		db.logger.Warn("the latest metrics are lost", "error", err)
	}
}

// withDefaults returns a copy with the defaults filled in; o may be nil.
func (o *Options) withDefaults() *Options {
	filled := Options{}
	if o != nil {
		filled = *o
	}
	if filled.Region == "" {
		filled.Region = "us-east-1"
	}
	if filled.AccountID == "" {
		filled.AccountID = "000000000000"
	}
	if filled.Now == nil {
		filled.Now = time.Now
	}
	if filled.Logger == nil {
		filled.Logger = slog.New(slog.DiscardHandler)
	}
	if filled.Rand != nil { // shared by the Regions, users and sessions
		filled.Rand = &lockedReader{r: filled.Rand}
	}
	return &filled
}

// lockedReader lets one goroutine at a time read from r.
type lockedReader struct {
	mu sync.Mutex
	r  io.Reader
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

func (o *Options) validate() error {
	var faults []error
	if len(o.AccountID) != 12 || strings.Trim(o.AccountID, "0123456789") != "" {
		faults = append(faults, fmt.Errorf("monotable: AccountID %q: want 12 digits", o.AccountID))
	}
	for _, name := range append([]string{o.Region}, o.Regions...) {
		if !isRegion(name) {
			faults = append(faults, fmt.Errorf("monotable: Region %q: want a name like us-east-1", name))
		}
	}
	if o.Durability < DurabilitySync || o.Durability > DurabilityNone {
		faults = append(faults, fmt.Errorf("monotable: unknown Durability %d", o.Durability))
	}
	if o.GSIDelay < 0 || o.ReplicationDelay < 0 || o.TableDelay < 0 || o.SlowRequest < 0 {
		faults = append(faults, errors.New("monotable: GSIDelay, ReplicationDelay, TableDelay and SlowRequest cannot be negative"))
	}
	if o.CacheSize < 0 || o.RequestMemory < 0 || o.WriteMemory < 0 || o.MemTableSize < 0 || o.RequestTimeout < 0 || o.Compactions < 0 || o.LargeOperations < 0 {
		faults = append(faults, errors.New("monotable: CacheSize, RequestMemory, WriteMemory, MemTableSize, RequestTimeout, Compactions and LargeOperations cannot be negative"))
	}
	if o.StreamShards < 0 || o.StreamShards > engine.StreamShardsMax {
		faults = append(faults, fmt.Errorf("monotable: StreamShards %d: want 1 to %d", o.StreamShards, engine.StreamShardsMax))
	}
	if endpoint, err := url.Parse(o.KinesisEndpoint); o.KinesisEndpoint != "" && (err != nil || endpoint.Host == "") {
		faults = append(faults, fmt.Errorf("monotable: KinesisEndpoint %q: want a URL like http://localhost:4566", o.KinesisEndpoint))
	}
	if o.LogMaxBytes < 0 {
		faults = append(faults, fmt.Errorf("monotable: LogMaxBytes %d: want 0 or more", o.LogMaxBytes))
	}
	if o.S3Dir != "" && o.S3Endpoint != "" {
		faults = append(faults, errors.New("monotable: S3Dir and S3Endpoint cannot both be set"))
	}
	if err := o.validateMasterKeys(); err != nil {
		faults = append(faults, err)
	}
	if err := o.Auth.validate(); err != nil {
		faults = append(faults, err)
	}
	guard, err := httpguard.New(o.AllowedHosts, o.CORSOrigins)
	if err != nil {
		faults = append(faults, fmt.Errorf("monotable: %w", err))
	}
	o.guard = guard
	return errors.Join(faults...)
}

func (d Durability) store() pebblekv.Durability {
	switch d {
	case DurabilityInterval:
		return pebblekv.Interval
	case DurabilityNone:
		return pebblekv.None
	default:
		return pebblekv.Sync
	}
}

// String returns the value for the serve command's --durability flag.
func (d Durability) String() string {
	switch d {
	case DurabilityInterval:
		return "interval"
	case DurabilityNone:
		return "none"
	default:
		return "sync"
	}
}

// ParseDurability parses sync, interval or none.
func ParseDurability(word string) (Durability, error) {
	for _, d := range []Durability{DurabilitySync, DurabilityInterval, DurabilityNone} {
		if d.String() == word {
			return d, nil
		}
	}
	return 0, fmt.Errorf("unknown durability %q: want sync, interval or none", word)
}
