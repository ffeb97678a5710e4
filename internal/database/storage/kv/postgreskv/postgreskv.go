// Package postgreskv is a store in a PostgreSQL database, which several processes may share.
//
// # Model
//
// One table holds keys and values, another one the shards of counters, another one the records of change logs. An update is
// one transaction of the database, in two round trips:
//
//	begin · hold the intent's locks · read the intent's keys   ─▶   fn   ─▶   write · draw numbers, append to logs · commit
//
// Locks are PostgreSQL's advisory locks on hashes of keys, taken in one order, so that no two updates wait for each other.
// Values are read in a separate statement, after the locks are held: a statement sees what was committed when it started. The
// latches of package latch come before the locks: of the updates of one key in a process, only one has a connection.
//
// A key that is too long for an index entry is cut into segments. A row has one segment, and the hash of all segments before
// it:
//
//	p              k               v    flags
//	''             short key       …
//	''             first segment        branch: there are longer keys
//	sha256(first)  the rest        …
//
// # Numbers
//
// A number in package kv is a time, by the clock of the database server. It comes from a sequence, which is advanced to the
// time whenever it lags by some milliseconds. Before an update allocates the numbers of its records, it takes a lock whose own
// number records the state of the sequence. A reader of a log reads the sequence, then these locks, and then the log: below
// all of them the log is complete.
//
// # Connections
//
// A connection may be lost silently: without further data, and without being closed. A read without a response within readTime
// is retried in a new connection; if an idle connection does not respond to a ping, all pools start again with new
// connections. A commit is never given up for being slow: the system ends a connection whose peer acknowledges nothing for
// lossTime (dial.go). An update without a response to its commit is undetermined.
//
// # Invariants
//
//  1. A number allocated after another one was returned is higher, in any process.
//  2. An update holds its locks until its transaction has ended, and PostgreSQL makes a transaction's changes visible before it releases
//     its locks.
//  3. A commit without a response fails with kv.ErrUndetermined.
//
// The server must be durable: a database with fsync or full_page_writes off is rejected, and synchronous_commit is switched on
// for the store's own connections.
package postgreskv

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

const (
	// schemaVersion is the version that this code reads and writes.
	schemaVersion = 1
	// defaultSchema is the schema of the tables if the URL does not set a search_path.
	defaultSchema = "monotable"
	// defaultConnections is the maximum number of connections for updates, for reads, and for snapshots and iterations.
	defaultConnections = 16
	// readTime is the timeout for a read of an item or page, which is then retried in another connection, because this one may
	// be lost silently.
	readTime = 10 * time.Second
	// holdTime is the timeout of an update that waits for its keys.
	holdTime = time.Minute
	// healthTime is the timeout of a health probe.
	healthTime = 2 * time.Second
	// defaultPause is the maximum idle time of an update between two statements.
	defaultPause = 30 * time.Second
	// connectTime is the timeout for a host to accept a connection before the next one is tried.
	connectTime = 5 * time.Second
)

var (
	//go:embed schema.sql
	schemaSQL string
	//go:embed storage.sql
	storageSQL string
	//go:embed functions.sql
	functionsSQL string
)

// Options of a store; the zero value works.
type Options struct {
	// Connections is the maximum number of concurrent updates, of reads, and of snapshots and iterations; others wait. Default
	// 16.
	Connections int
	// Pause is the maximum idle time of an update between two statements before the server ends it, so that a process that is
	// stopped or unreachable does not hold keys forever. Default 30 s.
	Pause time.Duration
	// Untimed makes numbers advance by Txn.Advance alone, for tests with their own clock.
	Untimed bool
	// Existing makes Open fail with kv.ErrMissing instead of creating the tables of a store.
	Existing bool
	Logger   *slog.Logger // default: discard
}

// Store implements kv.Store.
type Store struct {
	updates, reads *pgxpool.Pool
	views          *pgxpool.Pool // of snapshots and iterators, whose callers may read concurrently, or wait for others that do
	pingTime       time.Duration // the timeout of a ping to an idle connection
	latches        *latch.Table
	salt           [sha256.Size]byte // of the hashes of keys: other schemas use other locks
	timed          bool
	appendLock     int64         // the common part of the locks of appends; the rest is the number after which each of them allocates
	numberLock     int64         // held while advancing the sequence
	long           chan struct{} // one element for each transaction in progress that may take long, see takeTurn
	floor          atomic.Uint64 // see raiseFloor
	logger         *slog.Logger
	outage         outage

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Open opens the store in the database of a URL, in libpq's format: it may list several hosts, of which the writable one is
// used. The tables are created if they do not exist. The role needs the right to create a schema, or one in which it may
// create tables.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Connections == 0 {
		o.Connections = defaultConnections
	}
	if o.Pause == 0 {
		o.Pause = defaultPause
	}
	config, schema, err := configure(address, o)
	if err != nil {
		return nil, err
	}
	s := &Store{latches: latch.New(), salt: sha256.Sum256([]byte(schema)), timed: !o.Untimed, pingTime: config.PingTimeout, logger: o.Logger}
	s.long = make(chan struct{}, max(1, o.Connections/2))
	s.appendLock, s.numberLock = appendClass|int64(s.salt[0]&63)<<tagShift, s.lock([]byte("the numbers"))
	if err := s.connect(ctx, config, o.Pause); err != nil {
		s.disconnect()
		return nil, err
	}
	if err := s.retryWhile(ctx, busy, func() error { return s.prepare(ctx, schema, o.Existing) }); err != nil {
		s.disconnect()
		return nil, fmt.Errorf("%s: %w", Describe(address), err)
	}
	return s, nil
}

// The kinds of advisory locks, by their highest bits.
const (
	markBit     int64 = 1 << 62
	appendClass       = -1 << 63 // with six bits that distinguish schemas, and the block of a number
	tagShift          = 56
	lockMask          = markBit - 1
)

// lock is the number of a key's lock.
func (s *Store) lock(key []byte) int64 {
	h := sha256.New()
	h.Write(s.salt[:])
	h.Write(key)
	var sum [sha256.Size]byte
	return int64(binary.BigEndian.Uint64(h.Sum(sum[:0]))) & lockMask //nolint:gosec // any 62 bits
}

// enter starts a call, which leave ends.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return kv.ErrClosed
	}
	s.calls.Add(1)
	return nil
}

func (s *Store) leave() { s.calls.Done() }

// Limits are those of the embedded stores, so that the stores accept the same data.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// Eventual returns the store: PostgreSQL shows a commit once it is durable.
func (s *Store) Eventual() kv.Reads { return s }

// Health checks that the server responds.
func (s *Store) Health() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	if err := s.reads.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUnreachable, inOneLine(err))
	}
	return nil
}

// DiskUsage is zero: the disk is the server's.
func (s *Store) DiskUsage() (kv.DiskUsage, error) {
	if err := s.enter(); err != nil {
		return kv.DiskUsage{}, err
	}
	s.leave()
	return kv.DiskUsage{}, nil
}

// Close waits for running calls, open snapshots and iterators.
func (s *Store) Close() error {
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.calls.Wait()
	s.disconnect()
	return nil
}
