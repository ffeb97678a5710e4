// Package monotable is DynamoDB in your process: the API exactly, the data durable.
//
// [Open] opens a directory, [OpenMemory] an empty database in memory. Either gives a real
// *dynamodb.Client of the AWS SDK whose requests never touch a socket ([DB.Client]), and the same
// [net/http.Handler] that the monotable server listens with ([DB.Handler]), so a program that runs on AWS
// runs here unchanged, and the other way round.
//
// Durability: with the default, [DurabilitySync], a write is on disk when the call that made it returns;
// many writes share one sync. A directory belongs to one process at a time; [ErrLocked] says that another
// one has it.
//
// All methods of a DB may be called from any number of goroutines at once.
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

// ErrFrozen is what calls return, wrapped, when the database met an internal fault after which going on could write
// wrong data. It does nothing more until it is opened again; see Options.OnFatal.
var ErrFrozen = kv.ErrFrozen

// ErrMasterKey is what Open returns, wrapped, for a directory that is encrypted under a master key that was not given.
var ErrMasterKey = pebblekv.ErrMasterKey

// ErrLocked is what Open returns, wrapped, when another process has the directory open.
var ErrLocked = kv.ErrLocked

// Durability says when a write may be answered.
type Durability int

const (
	// DurabilitySync answers a write when it is on disk. Many writes share one sync. Failed conditions and
	// strongly consistent reads, too, are answered when what they rest on is on disk.
	DurabilitySync Durability = iota
	// DurabilityInterval syncs every 100 ms: a crash, of the process alone too, loses at most that much.
	DurabilityInterval
	// DurabilityNone leaves syncing to the operating system: a crash of the machine may lose any
	// amount of what was written last. A crash of the process alone may lose a little, too.
	DurabilityNone
)

// Options of a database. The zero value, or nil, works.
type Options struct {
	// Region stands in ARNs and in stream records. Default "us-east-1".
	Region string
	// Regions are served beside Region, each with tables of its own: the Region that a request is signed for names the one it
	// is for, and one that is not served is refused. Unsigned requests are for Region. Default: none, and every request is
	// for Region, whatever it is signed for. Changes, Insights, Stats and metrics call a table of another Region REGION/TABLE.
	Regions []string
	// AccountID stands in ARNs: 12 digits. Default "000000000000".
	AccountID string
	// Durability of writes; without effect in memory.
	Durability Durability
	// DiskReserve is how many bytes of the disk are left free; without effect in memory. Below that, writes other than
	// deletes are refused with a LimitExceededException until there is room again. Default 0: a 50th of the disk, but at
	// least 256 MiB, and at most 8 GiB or a quarter of the disk. Negative: none; a disk that is full then ends writing.
	DiskReserve int64
	// OnFatal is called once, on any goroutine, when the database has frozen with ErrFrozen. A server logs it and
	// ends its process. Without OnFatal the process lives on, and requests get InternalServerError.
	OnFatal func(error)
	// GSIDelay makes reads of global secondary indexes see the state of that long ago, so that a program
	// can be tried against the eventual consistency it will meet on AWS. Default 0: none.
	GSIDelay time.Duration
	// ReplicationDelay is how long a change of a global table waits in the other Regions, so that a program can be tried against
	// replicas that lag. Default 0: changes are brought over as soon as they can be.
	ReplicationDelay time.Duration
	// TableDelay is how long tables stay CREATING, UPDATING and DELETING. Default 0: the answer to the
	// request shows that state, the next request finds it over.
	TableDelay time.Duration
	// EnforceCapacity holds tables to their provisioned or on-demand throughput, and to the account's quotas, as AWS does:
	// requests beyond them are throttled with AWS's errors and reasons. The tag monotable:enforce-capacity of a table, true or
	// false, comes before it.
	EnforceCapacity bool
	// ItemRules say which items may be written. Default nil: any. With those of package design/enforce, an item that the design of its
	// table does not know is refused.
	ItemRules ItemRules
	// StreamShards is how many shards a new stream begins with, 1 to 100. Default 1. A shard that takes more than
	// 1000 records a second is split in two.
	StreamShards int
	// StreamShardRotation is how long a shard of a stream stays open before another takes its place, so that a
	// consumer meets shards that close as it will on AWS. Default 4 h, about as there; negative: for ever.
	StreamShardRotation time.Duration
	// LogMaxBytes is the most room that change logs take together, for streams and point-in-time recovery, about. Beyond it
	// the oldest changes are forgotten before their time: readers of a stream meet TrimmedDataAccessException, and
	// EarliestRestorableDateTime moves. Default 0: as much room as a day of streams and the recovery periods need.
	LogMaxBytes int64
	// KinesisEndpoint is the URL of a service that speaks the API of Kinesis Data Streams. The changes of tables with a Kinesis
	// destination are put into its streams. Default: they are appended to files below KinesisDir.
	KinesisEndpoint string
	// KinesisCredentials sign the requests to KinesisEndpoint. Default: what the environment has, as for any AWS SDK.
	KinesisCredentials aws.CredentialsProvider
	// KinesisDir is the directory of the files that changes are appended to, REGION/ACCOUNT/STREAM.jsonl. Default: "kinesis"
	// below the database's own; a database in memory has none.
	KinesisDir string
	// S3Dir is where exports go and imports come from: each bucket is a directory in it. Default: the directory s3 in
	// that of the database; in memory there is none, and exports and imports are refused.
	S3Dir string
	// S3Endpoint, in place of S3Dir, is the URL of S3 or of a store like it (https://s3.eu-west-1.amazonaws.com).
	// S3Config has its region and credentials; default: those of Region and of the environment.
	S3Endpoint string
	S3Config   *aws.Config
	// MasterKey, 32 bytes, seals what must not lie open in the directory: secrets of access keys, and, where the directory is encrypted, the
	// keys of its files. Default: secrets lie open there. A database that has been opened with one needs it from then on, for
	// authentication, and to open it at all where it is encrypted. PreviousMasterKey is given once, beside a new MasterKey.
	MasterKey, PreviousMasterKey []byte
	// Encrypt has the files of a new directory encrypted, under MasterKey; a directory that is not encrypted is refused: Recrypt makes an
	// encrypted copy. Without it, a directory that is encrypted is opened as such. Without effect in memory.
	Encrypt bool
	// Auth says who may call Handler. Default nil: everyone may.
	Auth *Auth
	// Audit says where it is recorded who did what. Default nil: nowhere.
	Audit *Audit
	// AllowedHosts are the names, in addition to IP addresses, localhost, names without dots, *.localhost and *.internal,
	// by which requests to Handler may address the database: a name, or *.suffix. Without Auth, refusing
	// other names with status 403 keeps web pages out that have their own name point to the database.
	AllowedHosts []string
	// CORSOrigins are the origins (https://app.example.com) whose web pages may use Handler; "*" allows all. Default: none.
	CORSOrigins []string
	// CacheSize is how many bytes of blocks read from disk are kept in memory, at most. Default 256 MB. Without effect in
	// memory.
	CacheSize int64
	// RequestMemory is about the most bytes that requests in flight may take: of Handler, and of clients in the process.
	// Beyond it they wait for a short time, and get a ThrottlingException. Default 512 MB.
	RequestMemory int64
	// WriteMemory is about the most bytes that writes under way may take, with the items they read, and one more of the
	// largest size. Beyond it they wait for each other. Default 256 MB. Without effect in memory.
	WriteMemory int64
	// RequestTimeout is how long a request may take once its input is there. Default 0: for ever.
	RequestTimeout time.Duration
	// LargeOperations is how many operations that read much may run at once, and how many with a very large input. Default:
	// GOMAXPROCS, and two at least.
	LargeOperations int
	// Compactions is how many compactions may run at once. Default 2. Without effect in memory.
	Compactions int
	// MemTableSize is the size of the buffers that writes are collected in before they go to files, four at most.
	// Default 32 MB. Without effect in memory.
	MemTableSize int
	// Now is the machine's clock, which the database's time follows: TTL, idempotency tokens, time stamps. Where it goes
	// back the database's time stands still. In a shared store it tells only what has passed since the store's clock was looked at. Default time.Now.
	Now func() time.Time
	// Rand is the source of ids. Default crypto/rand.
	Rand io.Reader
	// Logger hears of background work and internal faults. Default: nothing is logged.
	Logger *slog.Logger
	// SlowRequest logs requests that take this long or longer, with what they waited for. Default 0: none.
	SlowRequest time.Duration

	guard       *httpguard.Guard // of AllowedHosts and CORSOrigins, set by validate
	unencrypted bool             // what is opened is on a disk, as it is; set by Open
	shared      bool             // other processes may have it open, too; set by OpenStore
}

// FormatVersion is the version of the stored form that this program writes. It opens directories of every earlier version, and none of a
// later one.
func FormatVersion() uint64 { return format.Version() }

// DB is an open database.
type DB struct {
	store   kv.Store
	dir     string                // "" in memory
	left    atomic.Pointer[error] // what requests are refused with when the database has been moved; nil before
	engine  *engine.Engine
	regions []*region // beside the default one
	server  *server.Server
	kinesis *kinesis.Deliverer // nil where there is nowhere to deliver to
	observe *observe.Database
	history *history.History

	identity  *identity.Directory
	following sync.WaitGroup // of changes of identities by other servers
	unfollow  func()         // ends it; nil where there are none
	audit     *audit.Log     // nil where nothing is recorded
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
		Durability: o.Durability.store(), DiskReserve: o.DiskReserve, Logger: o.Logger, OnFatal: o.OnFatal,
		CacheBytes: o.CacheSize, BatchBytes: o.WriteMemory, MemTableBytes: o.MemTableSize, Compactions: o.Compactions,
		MasterKey: o.MasterKey, PreviousMasterKey: o.PreviousMasterKey, Encrypt: o.Encrypt,
	})
	if err != nil {
		return nil, fmt.Errorf("monotable: open %s: %w", dir, err)
	}
	o.unencrypted = !store.Encrypted()
	return open(store, path, o)
}

// sharedPause is how long a process that stands still in an update keeps its keys from others. It is less than a lease lasts (package cluster), so
// that a process which has lost its leases holds nothing any more.
const sharedPause = 4 * time.Second

// OpenStore opens the database in a store that is not a directory of this machine: a PostgreSQL database, by a URL as libpq takes it
// (postgres://USER:PASSWORD@HOST/DATABASE; several hosts with commas, of which the one that takes writes is used). Its tables are made where
// there are none, in the schema that search_path names in the URL, "monotable" by default. Any number of processes may have it open: each of
// them answers any request, and a change of a table returns when all of them know it.
//
// A program that is built with the tag tikv opens a store in a TiKV cluster, too, by the addresses of its placement drivers:
// tikv://PD1:2379,PD2:2379. Several stores can be in one cluster, each with a ?prefix=NAME of its own; the default is "monotable".
//
// Options that are about a directory and its files have
// no effect; capacity is enforced by each process for itself.
func OpenStore(ctx context.Context, address string, o *Options) (*DB, error) {
	o = o.withDefaults()
	if err := o.validate(); err != nil {
		return nil, err
	}
	if err := checkAddress(address, tikvScheme); err != nil {
		return nil, fmt.Errorf("monotable: open store: %w", err)
	}
	store, err := openShared(ctx, address, o)
	if err != nil {
		return nil, fmt.Errorf("monotable: open store: %w", err)
	}
	o.shared = true
	return open(format.Guarded(store), "", o)
}

// openShared opens a store that processes share.
func openShared(ctx context.Context, address string, o *Options) (kv.Store, error) {
	if strings.HasPrefix(address, tikvScheme) {
		return openTiKV(ctx, address, false, o.Logger)
	}
	return postgreskv.Open(ctx, address, postgreskv.Options{Pause: sharedPause, Logger: o.Logger})
}

// tikvScheme is what the URL of a TiKV cluster begins with.
const tikvScheme = "tikv://"

// checkAddress refuses what is neither the URL of a PostgreSQL database nor one of further schemes.
func checkAddress(address string, more ...string) error {
	for _, scheme := range append([]string{"postgres://", "postgresql://"}, more...) {
		if strings.HasPrefix(address, scheme) {
			return nil
		}
	}
	want := strings.Join(append([]string{"postgres://"}, more...), " or ")
	scheme, _, is := strings.Cut(address, "://")
	if !is { // it may have a password
		return errors.New("want a URL that begins with " + want)
	}
	return fmt.Errorf("the URL begins with %q: want %s", scheme+"://", want)
}

// OpenMemory opens an empty database in memory, which Close forgets.
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
		Region: o.Region, Regions: db.engines(), Guard: o.guard, Memory: o.RequestMemory, Turns: o.LargeOperations, Timeout: o.RequestTimeout, Logger: o.Logger,
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

// inspected is what operators can ask beyond DynamoDB's API.
func (db *DB) inspected(o *Options) inspect.Options {
	i := inspect.Options{
		Observe: db.observe, SlowFrom: cmp.Or(o.SlowRequest, observe.SlowDefault), In: db.inRegion, Engine: db.engine, Gauges: db.gauges, Now: db.now, Logger: o.Logger,
	}
	if store, tells := db.store.(interface{ Metrics() observe.Storage }); tells {
		i.Storage = store.Metrics
	}
	return i
}

// newDeliverer returns what delivers to Kinesis destinations; nil where there is nowhere to deliver to.
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
		dir = o.KinesisDir
	case dir == "":
		return nil, nil //nolint:nilnil // there may be none
	default:
		dir = filepath.Join(dir, "kinesis")
	}
	return kinesis.New(kinesis.NewFiles(dir), counts, o.Logger), nil
}

// Handler answers DynamoDB's API over HTTP; it is what the monotable server listens with. It also answers the operations of
// CloudWatch that read metrics: docs/metrics.md has them.
func (db *DB) Handler() http.Handler { return db.server }

// Close ends background work and closes the files. Requests under way must have ended.
func (db *DB) Close() error {
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

// closeHistory settles the minute under way. Metrics are not worth an error of Close.
func (db *DB) closeHistory() {
	if db.history == nil { // the database was not opened
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
	return &filled
}

func (o *Options) validate() error {
	var faults []error
	if len(o.AccountID) != 12 {
		faults = append(faults, fmt.Errorf("monotable: AccountID %q: want 12 digits", o.AccountID))
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
		faults = append(faults, errors.New("monotable: S3Dir and S3Endpoint cannot both be given"))
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

// String returns the word that the serve command's --durability takes.
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

// ParseDurability reads sync, interval or none.
func ParseDurability(word string) (Durability, error) {
	for _, d := range []Durability{DurabilitySync, DurabilityInterval, DurabilityNone} {
		if d.String() == word {
			return d, nil
		}
	}
	return 0, fmt.Errorf("unknown durability %q: want sync, interval or none", word)
}
