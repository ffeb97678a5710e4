// Package engine executes DynamoDB's operations on a kv.Store.
//
// There is one file for each operation, with a method of Engine in it. What operations share is in files named
// after it: how a write is carried out (write.go, mutate.go), what a Query or Scan walks through (read_source.go,
// page.go). What needs neither a transaction nor the catalog is in packages of its own: what a table may look like
// and how it is described (schema), what follows from a stored item (derive), the records of jobs and backups (job,
// backup), the version of the stored form (format), and the verifier (verify), which reads a store and cannot write.
//
// # Transfers
//
// Exports and imports (transfers.go) are jobs whose records stay, because the API describes them when they are over.
//
// # Jobs
//
// Work that outlasts its request is a job: filling a new index, removing a deleted one's entries, building
// or removing TTL entries, filling a restored table (restore.go), removing what a deleted one held. A job's
// record is written in the transaction that makes the work necessary and removed in the one that ends it, so
// Open finds what was under way. Jobs change the state of indexes and of TTL; states of a table that only take
// time are instants in its descriptor (package catalog), which no job has to end.
//
//	UpdateTable ─► version n+1: writes keep the new index                 allocating
//	job         ─► version n+2                                            backfilling
//	            ─► entries of the items that were there, chunk by chunk
//	            ─► version n+3: reads may use it                          active
//
// # Invariants
//
//	I1  What is derived of an item (index entries, TTL entry, counters, change-log record) is written in the
//	    item's own transaction. Verify proves it; scripts and tests of the engine end with it.
//	I2  A write acts on a table's definition only while it is the current one: it holds the table's version
//	    shared, and a change of definition holds it exclusively.
//	I3  An index that is not readable may lack entries of items older than itself, never hold wrong ones.
//	    Writes and the backfill hold the item's key, so each entry is made, and counted, once.
//	I4  A record of a change log is in one shard of a stream, also for who reads while shards change: both hold
//	    the table's version and the stream's record (stream_life.go).
//	I5  All time is the one clock's, which never goes back (clock.go), and all randomness Options.Rand.
//	I6  The number of a change is its time: numbers order changes by time, exactly, within an item and in a log.
//	I7  A change log keeps what somebody can ask for, and the table's definition says what that is (catalog.Log).
//	I8  Of the servers that share a store, one does the work beside requests, in terms (package cluster). Its updates fail when its
//	    term is over.
//
// # Errors
//
// What a client did is an *apierr.Error: the engine gives the facts, package apierr has AWS's sentence for
// them. Any other error is a fault of the server or its disk, for the log.
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

// StreamShardsMax is how many open shards a stream may have.
const StreamShardsMax = stream.ShardsMax

// Options of an engine; the zero value works.
type Options struct {
	Region    string // default us-east-1
	AccountID string // default 000000000000
	// MetricsPrefix precedes the names of tables in Observe and Gauges.
	MetricsPrefix string
	Now           func() time.Time // the machine's clock; default time.Now
	Rand          io.Reader        // default crypto/rand
	Logger        *slog.Logger     // default: discard
	// Observe counts what requests do. Default: one that nobody sees.
	Observe *observe.Database
	// GSIDelay makes reads of global secondary indexes see the state of that long ago. Default 0.
	GSIDelay time.Duration
	// TableDelay is how long a table stays CREATING, UPDATING or DELETING. Default 0: the answer to
	// the request shows the state, the next request finds it over.
	TableDelay time.Duration
	// TTLInterval is how often expired items are looked for. Default 1 s; negative: only by ExpireNow.
	TTLInterval time.Duration
	// EnforceCapacity holds tables to their capacity as AWS does, but for those whose tag says otherwise (catalog.EnforcementTag).
	EnforceCapacity bool
	// ItemRules are asked for the rule that the items of clients' writes must follow. Default: none, and any item may be written.
	ItemRules ItemRules
	// StreamShards is how many shards a new stream begins with, 1 to StreamShardsMax. Default 1.
	StreamShards int
	// StreamShardRotation is how long a shard stays open before another takes its place. Default 4 h; negative:
	// for ever.
	StreamShardRotation time.Duration
	// StreamShardLoad is how many records a second, over some seconds, let a shard be split in two. Default 1000;
	// negative: none do.
	StreamShardLoad int
	// OnDeliveries is called when Deliveries has changed. Default: nothing delivers, and no destination can be enabled.
	OnDeliveries func()
	// Regions are those of the server. Default: the engine's own alone, and no table has replicas.
	Regions *Regions
	// ReplicationDelay is how long a change waits before it is brought to this Region from another one. Default 0.
	ReplicationDelay time.Duration
	// Buckets is where exports go and imports come from. Default: none, and those are refused.
	Buckets bucket.Store
	// LogMaxBytes is the most room that change logs take together, about: beyond it the oldest changes are forgotten
	// before their time. Default 0: no cap.
	LogMaxBytes int64
	// Shared is for a store that other servers have open too (package cluster).
	Shared bool
	// Unencrypted is for a store whose files are on a disk as they are: tables that ask for encryption are warned of.
	Unencrypted bool

	transfers transferSizes // tests make them small
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

// Engine executes operations: one method an operation (PutItem, Query, …) that takes the input struct of
// package api, whose member constraints have been checked (api.Validate), and returns the output struct or
// an error; an *apierr.Error is for the client, anything else is a fault of ours. All methods may be called
// at once.
type Engine struct {
	store   kv.Store
	member  *cluster.Member // nil where no other server has the store
	catalog *catalog.Catalog
	options Options // defaults filled
	jobs    *jobs
	past    *past // nil without GSIDelay
	regions *Regions
	site    site
	clock   *clock
	flows   flows
	shards  shardWatch

	knownStreams knownStreams

	workspaces  workspaces
	arenas      arenas
	landings    landings
	hot         hotKeys
	enforcement enforcement
	traffic     traffic // raiseWarm's
	sweeps      sweeps
	logAlarmed  atomic.Bool  // the log has been warned that LogMaxBytes comes near
	sweptWindow atomic.Int64 // the token window up to which expired tokens have been dropped

	randMu sync.Mutex // an injected source need not be safe for concurrent use
}

// Open starts an engine on a store: it checks the format version, loads the catalog and resumes the jobs
// (backfills, drops) that were under way. The engine closes the store in Close; where Open fails, the store
// stays the caller's.
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
	e := &Engine{options: o, regions: o.Regions, site: site, clock: clock, flows: newFlows()}
	e.landings.regions = o.Regions
	e.store = newObservedStore(store, clock, &e.landings, &e.sweeps)
	if o.Shared { // before the catalog is read
		if e.member, err = e.join(ctx, fence); err != nil {
			return nil, err
		}
		// A move marks the store, then looks for servers: one of the two sees the other.
		if err := e.checkMoved(ctx); err != nil {
			e.leaveServers()
			return nil, err
		}
	}
	if e.catalog, err = catalog.Open(ctx, e.store, o.Region, o.AccountID, o.Now, e.landings.listenedTo); err != nil {
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

// start begins what runs beside requests.
func (e *Engine) start(ctx context.Context) error {
	if e.options.GSIDelay > 0 {
		var err error
		if e.past, err = newPast(ctx, e.store, e.options); err != nil {
			return err
		}
		e.jobs.every(e.past.step, "keep the past of indexes", e.past.advance)
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

// lead begins what one server does for all that share the store, until ctx ends. It returns nil if that has ended already.
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

// Rest ends the work beside requests, which go on.
func (e *Engine) Rest() { e.jobs.stop() }

// stop ends what runs beside requests.
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

// randomBytes fills p from the injected source.
func (e *Engine) randomBytes(p []byte) error {
	e.randMu.Lock()
	defer e.randMu.Unlock()
	_, err := io.ReadFull(e.options.Rand, p)
	return err
}
