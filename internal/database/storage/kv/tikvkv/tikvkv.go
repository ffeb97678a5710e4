//go:build tikv

// Package tikvkv is the store in a TiKV cluster, which several processes may share. It is in builds with the tag tikv.
//
// # Model
//
// An update is one optimistic transaction of the client library: it reads at the timestamp at which it began, fn runs, and the commit fails if
// another transaction has committed to one of its keys since. Then it begins anew: what another store does by waiting, this one does by running fn
// again. Keys of the intent that fn does not write are locked in the commit, so that they count as written. The latches of package latch
// come first: updates of one process wait for each other, and meet transactions, as they do in an embedded store.
//
// All keys lie below a prefix:
//
//	'v' key            a value, or the mark of a counter with its generation
//	'c' key shard      a part of a counter's sums
//	'l' log number     a record of a change log
//	't' log            up to which number a log is trimmed
//	'g' key            who is about to change a steady key
//	'm'                the form of the store, its window, its numbers' offset
//	'x'                when old versions were last removed
//
// # The window
//
// No update commits later than a window after its beginning: whoever would be too late begins anew. So everything that began before T is decided
// at T and a window. Two things rest on it:
//
//   - A reader of a log waits until all that began before the last record it sees is decided. The records of an update have numbers
//     between its beginning and its commit.
//   - Steady keys (Options.Steady) are checked by nearly every update and hardly ever change. To check one is to read it. Whoever changes one
//     says so in a row beside it, which makes others wait, and begins when the window has passed.
//
// # Numbers
//
// A number of package kv is a time, and so is a timestamp of the placement driver, in the same form. Numbers are timestamps, plus an offset that
// Txn.Advance raises.
//
// # Invariants
//
//  1. The numbers of an update's records are above the timestamp of its beginning and below that of its commit, whose difference is at
//     most the window. Updates whose numbers in one log meet are therefore concurrent, write a common row, and do not both commit.
//  2. Async commit and one-phase commit are off: both choose the timestamp of a commit in ways that nobody has proved here.
//  3. A commit without an answer fails with kv.ErrUndetermined.
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
	// defaultWindow is how long an update may take from its first read to its commit.
	defaultWindow = time.Second
	// callTime is how long a read goes on asking a cluster that does not answer, and how long an update tries.
	callTime = 30 * time.Second
	// healthTime is how long the placement driver may take to answer a probe.
	healthTime = 2 * time.Second
	// lanes is how many counters' shards a process adds to, and so how many updates add at a time.
	lanes = 64
)

// limits leave room for what TiKV adds: keys are an eighth longer in its own form, and entries of its log have 8 MB at most. The longest keys that
// a database has need storage.max-key-size of 64 KB in TiKV's configuration, which Open tries.
var limits = kv.Limits{KeyBytes: 40 << 10, ValueBytes: 5 << 20, TxnBytes: 64 << 20}

// Options of a store; the zero value works.
type Options struct {
	// Steady tells which keys nearly every update checks and hardly any writes. All processes must agree. Default: none.
	Steady func(key []byte) bool
	// Window is the window of a store that is made by this call; one that exists has its own. Default 1 s.
	Window time.Duration
	// Untimed has the numbers of a store that is made by this call begin low, for tests that have a clock of their own.
	Untimed bool
	// Existing refuses, with kv.ErrMissing, to make a store where there is none.
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
	lanes   chan uint16 // that no update of this process uses at the moment
	held    held        // what keeps old versions
	process string      // a name that no other process has
	logger  *slog.Logger
	stop    context.CancelFunc
	tasks   sync.WaitGroup

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Open opens the store at an address, see ParseAddress. It is made where there is none.
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
		return nil, fmt.Errorf("tikvkv: cannot connect to %s: %w", strings.Join(at.drivers, ","), err)
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
		return nil, fmt.Errorf("tikvkv: %s: %w", address, errors.Join(err, client.Close()))
	}
	background, stop := context.WithCancel(context.Background())
	s.stop = stop
	s.tasks.Go(func() { s.keepVersions(background) })
	if at.gc {
		s.tasks.Go(func() { s.removeVersions(background) })
	}
	return s, nil
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

// now returns a timestamp that is above all that were returned before, in whatever process.
func (s *Store) now(ctx context.Context) (uint64, error) { return s.client.GetTimestamp(ctx) }

// Limits are narrower than those of the embedded stores: what does not fit is refused.
func (s *Store) Limits() kv.Limits { return limits }

// Eventual returns the store: TiKV shows a commit when it is durable.
func (s *Store) Eventual() kv.Reads { return s }

// clockStep is how far timestamps can be behind the placement driver's clock: it moves them on every 50 ms (tso-update-physical-interval), and
// later if it is busy.
const clockStep = 100 * time.Millisecond

// Time is the time of the placement driver's clock, by which numbers are times. It is early enough that a number that is drawn some time later is not
// before it plus that time, although timestamps stand still between two steps.
func (s *Store) Time(ctx context.Context) (now time.Time, timed bool, err error) {
	err = s.call(ctx, func(ctx context.Context) error {
		ts, err := s.now(ctx)
		now = oracle.GetTimeFromTS(ts).Add(-clockStep)
		return err
	})
	return now, s.timed, err
}

// Health asks the placement driver whether it answers.
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
	s.stop()
	s.tasks.Wait()
	return s.client.Close()
}
