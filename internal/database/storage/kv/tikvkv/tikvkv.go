//go:build tikv

// Package tikvkv is a store in a TiKV cluster, which several processes may share. It is included in builds with the tag tikv.
//
// # Model
//
// An update is one optimistic transaction of the client library: it reads at its start timestamp, fn runs, and the commit
// fails if another transaction has committed to one of its keys since. Then it restarts: where other stores wait, this one
// runs fn again. Keys of the intent that fn does not write are locked in the commit, so that they count as written. The
// latches of package latch come first: updates of one process wait for each other, and conflict with transactions, as in an
// embedded store.
//
// All keys start with a prefix:
//
//	'v' key            a value, or the mark of a counter with its generation
//	'c' key shard      a part of a counter's sums
//	'l' log number     a record of a change log
//	't' log            up to which number a log is trimmed
//	'g' key            who is about to change a steady key
//	'm'                the store's format, its window, its numbers' offset
//	'x'                when old versions were last removed
//
// # The window
//
// No update commits later than a window after its start: one that would be too late restarts. So everything that started
// before T is decided one window after T. Two things rely on this:
//
//   - A reader of a log waits until everything that started before the last record it sees is decided. The records of an update have numbers
//     between its start and its commit.
//   - Steady keys (Options.Steady) are checked by nearly every update and hardly ever change. Checking one is a read. An update that changes one
//     announces that in a row next to it, which makes others wait, and starts once the window has passed.
//
// # Numbers
//
// A number in package kv is a time, and so is a timestamp of the placement driver, in the same format. Numbers are timestamps
// plus an offset that Txn.Advance raises.
//
// # Invariants
//
//  1. The numbers of an update's records are above its start timestamp and below its commit timestamp, whose difference is at
//     most the window. Updates with overlapping numbers in one log are therefore concurrent, write a common row, and do not both commit.
//  2. Async commit and one-phase commit are off: both choose commit timestamps in ways for which this has not been proved.
//  3. A commit without a response fails with kv.ErrUndetermined.
package tikvkv

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/tikv/client-go/v2/oracle"

	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/latch"
)

const (
	// defaultWindow is the maximum time of an update from its first read to its commit.
	defaultWindow = time.Second
	// callTime is the timeout of a read in a cluster that does not respond, and of an update.
	callTime = 30 * time.Second
	// healthTime is the timeout of a health probe of the placement driver.
	healthTime = 2 * time.Second
	// lanes is the number of counter shards to which a process adds, and so the number of concurrent updates that add.
	lanes = 64
)

// limits leave room for TiKV's overhead: keys are an eighth longer in its encoding, and entries of its log are limited to 8
// MB. The longest keys of a database require storage.max-key-size of 64 KB in TiKV's configuration, which Open checks.
var limits = kv.Limits{KeyBytes: 40 << 10, ValueBytes: 5 << 20, TxnBytes: 64 << 20}

// Options of a store; the zero value works.
type Options struct {
	// Steady reports whether a key is checked by nearly every update and written by hardly any. All processes must agree.
	// Default: none.
	Steady func(key []byte) bool
	// Window is the window of a store created by this call; an existing store has its own. Default 1 s.
	Window time.Duration
	// Untimed makes the numbers of a store created by this call start low, for tests with their own clock.
	Untimed bool
	// Existing makes Open fail with kv.ErrMissing instead of creating a store.
	Existing bool
	Logger   *slog.Logger // default: discard
}

// Store implements kv.Core.
type Store struct {
	client  *client
	prefix  []byte
	latches *latch.Table
	steady  func(key []byte) bool
	window  time.Duration
	timed   bool
	lanes   chan uint16 // not in use by an update of this process
	held    held        // what prevents the removal of old versions
	process string      // unique name of the process
	logger  *slog.Logger
	stop    context.CancelFunc
	tasks   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Open opens the store at an address, see ParseAddress, and creates it if it does not exist.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	at, err := ParseAddress(address)
	if err != nil {
		return nil, err
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Window == 0 {
		o.Window = defaultWindow
	}
	if o.Steady == nil {
		o.Steady = func([]byte) bool { return false }
	}
	client, err := connect(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", strings.Join(at.drivers, ","), err)
	}
	s := &Store{
		client: client, prefix: at.prefix(), latches: latch.New(), steady: o.Steady, timed: !o.Untimed, lanes: make(chan uint16, lanes),
		process: fmt.Sprintf("%016x", rand.Uint64()), logger: o.Logger,
	}
	first := rand.IntN(shards)
	for i := range lanes {
		s.lanes <- uint16((first + i) % shards) //nolint:gosec // below shards
	}
	if err := s.prepare(ctx, o); err != nil {
		return nil, fmt.Errorf("%s: %w", address, errors.Join(err, client.Close()))
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.tasks.Go(func() { s.keepVersions(background) })
	if at.gc {
		s.tasks.Go(func() { s.removeVersions(background) })
	}
	return s, nil
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

// now returns a timestamp above all that were returned before, in any process.
func (s *Store) now(ctx context.Context) (uint64, error) { return s.client.GetTimestamp(ctx) }

// Limits are narrower than those of the embedded stores: larger data is rejected.
func (s *Store) Limits() kv.Limits { return limits }

// Eventual returns the store: TiKV shows a commit once it is durable.
func (s *Store) Eventual() kv.Reads { return s }

// clockStep is the maximum lag of timestamps behind the placement driver's clock: it advances them every 50 ms
// (tso-update-physical-interval), and later if it is busy.
const clockStep = 100 * time.Millisecond

// Time is the time of the placement driver's clock, on which numbers are based. It is early enough that a number allocated
// some time later is not before it plus that time, although timestamps do not advance between two steps.
func (s *Store) Time(ctx context.Context) (now time.Time, timed bool, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		ts, err := s.now(ctx)
		now = oracle.GetTimeFromTS(ts).Add(-clockStep)
		return err
	})
	return now, s.timed, err
}

// Health checks that the placement driver responds.
func (s *Store) Health() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithTimeout(context.Background(), healthTime)
	defer cancel()
	if _, err := s.now(ctx); err != nil {
		return fmt.Errorf("%w: %w", kv.ErrUnreachable, err)
	}
	return nil
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
	s.stop()
	s.tasks.Wait()
	return s.client.Close()
}
