// Package engine executes DynamoDB's operations on a kv.Store.
//
// There is one file for each operation, with a method of Engine. Code that operations share is in files named after its purpose:
// executing writes (write.go, mutate.go), walking the items of a Query or Scan (read_source.go, page.go). Code that needs neither
// a transaction nor the catalog is in separate packages: valid table definitions and their descriptions (schema), what is derived
// from a stored item (derive), the records of jobs and backups (job, backup), the version of the storage format (format), and the
// verifier (verify), which can only read a store.
//
// # Transfers
//
// Exports, imports and bulk operations (transfers.go) are jobs whose records are kept, because the API describes them after they
// have ended.
//
// # Jobs
//
// Work that outlasts its request is a job: filling a new index, removing a deleted one's entries, building or removing TTL
// entries, filling a restored table (restore.go), removing the data of a deleted table. A job's record is written in the
// transaction that makes the work necessary and removed in the one that completes it, so Open finds unfinished jobs. Jobs change
// the state of indexes and of TTL. Table states that only take time are timestamps in the table's descriptor (package catalog),
// which no job has to end.
//
//	UpdateTable ─► version n+1: writes maintain the new index             allocating
//	job         ─► version n+2                                            backfilling
//	            ─► entries of the existing items, chunk by chunk
//	            ─► version n+3: reads may use it                          active
//
// # Invariants
//
//	I1  Everything derived from an item (index entries, TTL entry, counters, change-log record) is written in
//	    the item's own transaction. Verify checks it; the engine's scripts and tests end with a Verify.
//	I2  A write uses a table's definition only while it is current: it holds the table's version shared,
//	    and a change of the definition holds it exclusively.
//	I3  An index that is not yet readable may lack entries of items older than itself, but has no wrong ones.
//	    Writes and the backfill hold the item's key, so each entry is created, and counted, once.
//	I4  A change-log record belongs to exactly one shard of a stream, even for readers during a change of
//	    shards: both hold the table's version and the stream's record (stream_life.go).
//	I5  All times come from one clock, which never goes back (clock.go), and all randomness from Options.Rand.
//	I6  The number of a change is its time: numbers order changes by time, exactly, within an item and in a log.
//	I7  A change log keeps exactly what the table's definition requires (catalog.Log).
//	I8  Of the servers that share a store, one does the background work, in terms (package cluster). Its
//	    updates fail when its term is over.
//
// # Errors
//
// A client's error is an *apierr.Error: the engine provides the facts, package apierr AWS's message for them. Any other error is
// a failure of the server or its disk and is only logged.
package engine

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/bucket"
	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/engine/stream"
	"github.com/monotable/monotable/internal/database/engine/verify"
	"github.com/monotable/monotable/internal/database/observe"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

// StreamShardsMax is the maximum number of open shards of a stream.
const StreamShardsMax = stream.ShardsMax

// Options configure an engine. The zero value is valid.
type Options struct {
	Region    string // default us-east-1
	AccountID string // default 000000000000
	// MetricsPrefix precedes the names of tables in Observe and Gauges.
	MetricsPrefix string
	Now           func() time.Time // the machine's clock; default time.Now
	Rand          io.Reader        // default crypto/rand
	Logger        *slog.Logger     // default: discard
	// Observe counts requests. Default: counts that are not exported.
	Observe *observe.Database
	// GSIDelay makes reads of global secondary indexes return the state of that long ago. Default 0.
	GSIDelay time.Duration
	// TableDelay is how long a table stays CREATING, UPDATING or DELETING. Default 0: the response to the request shows the
	// state, the next request no longer does.
	TableDelay time.Duration
	// TTLInterval is how often expired items are removed. Default 1 s; negative: only by ExpireNow.
	TTLInterval time.Duration
	// EnforceCapacity enforces the capacity of tables as AWS does. A table's tag can override it (catalog.EnforcementTag).
	EnforceCapacity bool
	// ItemRules are asked for the rule that the items of clients' writes must follow. Default: none, and any item may be written.
	ItemRules ItemRules
	// StreamShards is the number of shards of a new stream, 1 to StreamShardsMax. Default 1.
	StreamShards int
	// StreamShardRotation is how long a shard stays open before a new one replaces it. Default 4 h; negative: never.
	StreamShardRotation time.Duration
	// StreamShardLoad is the number of records a second, over some seconds, at which a shard is split in two. Default 1000;
	// negative: never.
	StreamShardLoad int
	// OnDeliveries is called when the result of Deliveries has changed. Default: there is no delivery, and destinations cannot be
	// enabled.
	OnDeliveries func()
	// Regions are those of the server. Default: only the engine's own, and tables cannot have replicas.
	Regions *Regions
	// ReplicationDelay is how long a change waits before it is applied in this Region. Default 0.
	ReplicationDelay time.Duration
	// Buckets is the store of exports and imports. Default: none; exports and imports are rejected.
	Buckets bucket.Store
	// LogMaxBytes is the approximate limit of the total size of change logs; above it the oldest changes are deleted early.
	// Default 0: no limit.
	LogMaxBytes int64
	// Shared means that other servers also have the store open (package cluster).
	Shared bool
	// Unencrypted means that the store's files on disk are not encrypted. Tables that request encryption then cause a warning.
	Unencrypted bool

	transfers transferSizes // small in tests
}

func (o Options) withDefaults() Options {
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	if o.AccountID == "" {
		o.AccountID = "000000000000"
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = observe.New()
	}
	if o.Regions == nil {
		o.Regions = NewRegions()
		o.Regions.Opened()
	}
	if o.TTLInterval == 0 {
		o.TTLInterval = time.Second
	}
	if o.StreamShards == 0 {
		o.StreamShards = 1
	}
	if o.StreamShardRotation == 0 {
		o.StreamShardRotation = 4 * time.Hour
	}
	if o.StreamShardLoad == 0 {
		o.StreamShardLoad = 1000
	}
	o.transfers = o.transfers.withDefaults()
	return o
}

// Engine executes operations. Each has a method (PutItem, Query, …) that takes the input struct of package api, whose member
// constraints have been checked (api.Validate), and returns the output struct or an error. An *apierr.Error is for the client,
// any other error is internal. All methods are safe for concurrent use.
type Engine struct {
	store   kv.Store
	member  *cluster.Member // nil if no other server shares the store
	fence   *cluster.Store  // the same
	catalog *catalog.Catalog
	options Options // with defaults filled in
	jobs    *jobs
	past    *past // nil without GSIDelay
	regions *Regions
	site    site
	clock   *clock
	flows   flows
	shards  shardWatch

	knownStreams knownStreams

	workspaces   workspaces
	writes       writePool
	arenas       arenas
	appendCounts appendCounts
	hot          hotKeys
	enforcement  enforcement
	traffic      traffic // used by raiseWarm
	sweeps       sweeps
	logAlarmed   atomic.Bool  // a warning that LogMaxBytes is nearly reached has been logged
	sweptWindow  atomic.Int64 // the token window up to which expired tokens have been dropped

	randMu sync.Mutex // Options.Rand need not be safe for concurrent use
}

// Open starts an engine on a store: it checks the format version, loads the catalog and resumes unfinished jobs. Close closes the
// store; if Open fails, the caller still owns it.
func Open(ctx context.Context, store kv.Store, o Options) (*Engine, error) {
	o = o.withDefaults()
	free := format.Unshared
	if o.Shared {
		free = cluster.Older
	}
	if err := format.Claim(ctx, store, free); err != nil {
		return nil, err
	}
	site := siteOf(store)
	store = refusingStore{store}
	var fence *cluster.Store
	if o.Shared {
		fence = cluster.NewStore(store)
		store = fence
	}
	clock, err := newClock(ctx, store, o.Now, o.Logger)
	if err != nil {
		return nil, err
	}
	o.Now = clock.Now
	e := &Engine{options: o, regions: o.Regions, site: site, fence: fence, clock: clock, flows: newFlows()}
	e.appendCounts.regions = o.Regions
	e.store = newObservedStore(store, clock, &e.appendCounts, &e.sweeps)
	if o.Shared { // before the catalog is read
		if e.member, err = e.join(ctx, fence); err != nil {
			return nil, err
		}
		// A move marks the store and then looks for servers, so one of the two sees the other.
		if err := e.checkMoved(ctx); err != nil {
			e.leaveServers()
			return nil, err
		}
	}
	if e.catalog, err = catalog.Open(ctx, e.store, o.Region, o.AccountID, o.Now, e.appendCounts.listenedTo); err != nil {
		e.leaveServers()
		return nil, err
	}
	if err := e.checkRegion(); err != nil {
		e.leaveServers()
		return nil, err
	}
	if o.Shared {
		e.catalog.Share(e.member)
	}
	if o.Unencrypted {
		e.warnOfEncryption()
	}
	e.jobs = newJobs(e)
	e.regions.add(e)
	if err := e.start(ctx); err != nil {
		e.leaveServers()
		e.stop()
		return nil, err
	}
	return e, nil
}

// start starts background work.
func (e *Engine) start(ctx context.Context) error {
	if e.options.GSIDelay > 0 {
		if err := e.keepPast(ctx); err != nil {
			return err
		}
	}
	if err := e.adoptStreams(ctx); err != nil {
		return err
	}
	if e.clock.timed() {
		e.jobs.every(lookInterval, "look at the store's clock", func(ctx context.Context) error { return e.clock.look(ctx, e.store) })
	}
	e.jobs.every(warmInterval, "raise warm throughput", e.raiseWarm)
	if e.member != nil {
		e.jobs.every(logTrimInterval, "keep followed change logs", e.keepFollowedLogs) // of this server's followers
		e.member.Start()
		return nil
	}
	if err := e.dropNamelessKept(ctx); err != nil {
		return err
	}
	e.lead(e.jobs.ctx)
	return e.jobs.resume(ctx)
}

// lead starts the work that one server does for all that share the store, until ctx ends. It returns nil if ctx has already
// ended.
func (e *Engine) lead(ctx context.Context) *term {
	t := e.jobs.lead(ctx)
	if t == nil {
		return nil
	}
	if e.options.TTLInterval > 0 {
		t.every(e.jobs, e.options.TTLInterval, "expire items", func(ctx context.Context) error {
			_, err := e.ExpireNow(ctx)
			return err
		})
	}
	t.every(e.jobs, reshardInterval, "rotate and split shards", e.reshardStreams)
	t.every(e.jobs, logTrimInterval, "trim change logs", e.trimLogs)
	if e.options.LogMaxBytes > 0 {
		t.every(e.jobs, logCapInterval, "cap change logs", e.capLogs)
	}
	t.every(e.jobs, backupExpiryInterval, "expire backups", e.expireBackups)
	t.every(e.jobs, backupExpiryInterval, "forget old transfers", e.forgetTransfers)
	t.every(e.jobs, versionTrimInterval, "trim versions of items", e.trimVersions)
	t.wg.Go(func() { e.superviseFlows(t.ctx) })
	return t
}

// Close stops the jobs and closes the store.
func (e *Engine) Close() error {
	e.leaveServers()
	e.stop()
	return e.store.Close()
}

// Rest ends background work. Requests continue.
func (e *Engine) Rest() { e.jobs.stop() }

// stop ends background work.
func (e *Engine) stop() {
	if e.member != nil {
		e.member.Stop()
	}
	e.jobs.stop()
	if e.past != nil {
		e.past.close()
	}
}

// Verify verifies the store of a running engine.
func (e *Engine) Verify(ctx context.Context, report func(verify.Finding), progress func(done, total int64)) (verify.Verified, error) {
	return verify.Run(ctx, e.store, report, verify.Options{Progress: progress})
}

// randomBytes fills p from Options.Rand.
func (e *Engine) randomBytes(p []byte) error {
	e.randMu.Lock()
	defer e.randMu.Unlock()
	_, err := io.ReadFull(e.options.Rand, p)
	return err
}
