// Package postgreskv is the store in a PostgreSQL database, which several processes may share.
//
// # Model
//
// One table holds keys and values, another one the shards of counters, another one the records of change logs. An update is one
// transaction of the database, in two round trips:
//
//	begin · hold the intent's locks · read the intent's keys   ─▶   fn   ─▶   write · draw numbers, append to logs · commit
//
// Locks are PostgreSQL's advisory locks on hashes of keys, taken in one order, so that no two updates wait for each other. Values are
// read in a statement of its own, after the locks are held: a statement sees what was committed when it began. The latches of
// package latch come before the locks: of the updates of one key in a process, only one has a connection.
//
// A key longer than an entry of an index can be is cut into segments. A row has one segment, and the hash of all that are before it:
//
//	p              k               v    flags
//	''             short key       …
//	''             first segment        branch: there are longer keys
//	sha256(first)  the rest        …
//
// # Numbers
//
// A number of package kv is a time, by the clock of the database's server. It comes from a sequence, which moves on to the time whenever
// it lags some milliseconds behind. Before an update draws the numbers of its records, it takes a lock whose own number says where
// the sequence stood. A reader of a log reads the sequence, then these locks, and then the log: below all of them the log is complete.
//
// # Connections
//
// A connection may be lost without a word: no answer comes any more, and no end. A read that has no answer in readTime is asked again in a new
// connection; an idle connection that does not answer a ping has all pools begin anew. A commit is never given up for being slow: the system ends a
// connection whose other side acknowledges nothing for lossTime (dial.go). An update without an answer to its commit is undetermined.
//
// # Invariants
//
//  1. A number drawn after another one was returned is higher, in whatever process.
//  2. An update holds its locks until its transaction has ended, and PostgreSQL makes a transaction's changes visible before it releases
//     its locks.
//  3. A commit without an answer fails with kv.ErrUndetermined.
//
// The server has to be durable: a database with fsync or full_page_writes off is refused, and synchronous_commit is switched on for the
// store's own connections.
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
	// schemaVersion is what this code reads and writes.
	schemaVersion = 1
	// defaultSchema is where the tables are if the URL does not name a search_path.
	defaultSchema = "monotable"
	// defaultConnections is how many updates, how many reads, and how many snapshots and iterations have a connection at a time.
	defaultConnections = 16
	// readTime is how long the server may take to answer a read of an item or of a page, which is then asked for again in another connection: this
	// one may be lost without a word.
	readTime = 10 * time.Second
	// holdTime is how long an update may wait for its keys.
	holdTime = time.Minute
	// healthTime is how long the server may take to answer a probe.
	healthTime = 2 * time.Second
	// defaultPause is how long an update may stand still between two statements.
	defaultPause = 30 * time.Second
	// connectTime is how long a host may take to accept a connection before the next one is tried.
	connectTime = 5 * time.Second
)

//go:embed schema.sql
var schemaSQL string

// Options of a store; the zero value works.
type Options struct {
	// Connections is how many updates are under way at a time, how many reads, and how many snapshots and iterations; others wait. Default 16.
	Connections int
	// Pause is how long an update may stand still between two statements before the server ends it, so that a process that is stopped, or that
	// the server cannot reach any more, does not hold keys for ever. Default 30 s.
	Pause time.Duration
	// Untimed has numbers move on by Txn.Advance alone, for tests that have a clock of their own.
	Untimed bool
	// Existing refuses, with kv.ErrMissing, a database that has no tables of a store, in which they would be made.
	Existing bool
	Logger   *slog.Logger // default: discard
}

// Store implements kv.Store.
type Store struct {
	updates, reads *pgxpool.Pool
	views          *pgxpool.Pool // of snapshots and iterators, whose callers may read beside them, or wait for others that do
	pingTime       time.Duration // how long an idle connection may take to answer before it is given up
	latches        *latch.Table
	salt           [sha256.Size]byte // of the hashes of keys: what is in another schema has other locks
	timed          bool
	appendLock     int64         // what the locks of appends have in common; the rest is the number after which each of them draws
	numberLock     int64         // held by whoever moves the sequence on
	floor          atomic.Uint64 // see raiseFloor
	logger         *slog.Logger

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Open opens the store in the database of a URL, as libpq takes it: several hosts may stand in it, of which the one that takes writes is
// used. The tables are made where there are none. The role needs the right to create a schema, or one that it may create tables in.
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
	s.appendLock, s.numberLock = appendClass|int64(s.salt[0]&63)<<tagShift, s.lock([]byte("the numbers"))
	if err := s.connect(ctx, config, o.Pause); err != nil {
		s.disconnect()
		return nil, fmt.Errorf("postgreskv: %w", err)
	}
	if err := s.retryWhile(ctx, busy, func() error { return s.prepare(ctx, schema, o.Existing) }); err != nil {
		s.disconnect()
		return nil, fmt.Errorf("postgreskv: %s: %w", redacted(address), err)
	}
	return s, nil
}

// The kinds of advisory locks, by their highest bits.
const (
	markBit     int64 = 1 << 62
	appendClass       = -1 << 63 // with six bits that tell schemas apart, and the block of a number
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

// enter begins a call, which leave ends.
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

// Limits are those of the embedded stores, so that what fits into one fits into the other.
func (s *Store) Limits() kv.Limits { return kv.EmbeddedLimits() }

// Eventual returns the store: PostgreSQL shows a commit when it is durable.
func (s *Store) Eventual() kv.Reads { return s }

// Health asks the server whether it answers.
func (s *Store) Health() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	if err := s.reads.Ping(ctx); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUnreachable, err)
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

// Close waits for calls under way, open snapshots and iterators.
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
