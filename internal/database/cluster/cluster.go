// Package cluster lets several servers share one store: each of them serves any request, and one of them does the background
// work.
//
// # Model
//
// A server joins by a record in the store, its lease, which it renews long before it expires. The record also says which
// version of the definitions (of tables, streams and so on) the server knows. A change of a definition raises the version in
// its own transaction, and every server polls the version several times a second.
//
//	server ──look──► version is new ──► read the definitions again ──► renew, with the version
//	change ──commit, version+1──► Await: until each server with an unexpired lease knows the version
//
// One server at a time leads. Its lease has a term, a number that rises with each new leader:
//
//	claim ──► the leader's lease is free, has expired or is one's own ──► lead until it expires
//
// # Invariants
//
//  1. When Await has returned, every active server knows the definitions: a server whose lease has expired must not use the definitions that it
//     knows (Current), and Await does not wait for it. When it has a lease again, it checks the version once more before it uses them.
//  2. An update of a leader commits only in its own term (Store), so a leader that was paused, or disconnected, and does not know yet that
//     another one has taken its place, changes nothing.
//  3. A server whose program does not know the store's format gets no lease (Options.Admit), and a program with a later format does not begin to
//     write it while a server with an older format has a lease (Older). Both hold the key of the format version, so that one of them comes first.
//  4. Leases are compared with the store's time, never with that of a server. A server considers its own lease to expire no later than others do,
//     as long as the store's clock does not jump by more than clockLag: it counts from before it requested the renewal.
//
// # Concurrency
//
// All methods are safe for concurrent use, except Leave: call it once, at the end.
package cluster

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
)

const (
	// leaseTime is how long a crashed server delays changes of definitions, and the background work.
	leaseTime = 5 * time.Second
	// clockLag is how much earlier a server considers its own lease to expire: the store's clock may be late when it is renewed, and in
	// time again when others compare. The placement driver of TiKV is late when its machine is busy.
	clockLag = time.Second
	// renewals is the number of renewals of a lease within its time, so that some may fail.
	renewals = 5
	// lookInterval is the interval at which a server checks whether the definitions have changed, and so approximately the
	// delay of a change.
	lookInterval = 100 * time.Millisecond
	// awaitInterval is the interval at which Await checks the servers.
	awaitInterval = 20 * time.Millisecond
	// responseTime is the timeout of a call to the store. After that the lease has expired, and the call may never return: its
	// connection may have been lost silently.
	responseTime = leaseTime
	// claimTime is the timeout for the leader's lease: the leader's updates hold it, and a stalled one must not prevent other
	// servers from renewing their own leases.
	claimTime = time.Second
)

// Options of a member. Store and Fence are required.
type Options struct {
	// Store has times as numbers: Txn.LogSeq is the store's time.
	Store kv.Store
	// Fence is the store for the leader's updates. Store may wrap it.
	Fence *Store
	// Changed is called when others have changed definitions; it reads them again.
	Changed func(context.Context) error
	// Lead starts the leader's work. Its context, which makes updates fail with ErrDeposed once the term is over, ends with
	// the term or with the member. Retire ends the work. Neither may wait for the work: the same goroutine renews the lease.
	Lead   func(context.Context)
	Retire func()
	// Form is the format version that the server writes. Admit checks whether it knows the version in the store, before
	// definitions are read and in the update of each renewal. Its error prevents the renewal. Default: no check.
	Form  uint64
	Admit func(kv.Reader) error
	// Looked is called after each check of the store.
	Looked func()
	Rand   io.Reader    // default crypto/rand
	Logger *slog.Logger // default: discard
}

// Member is a server's membership in the group that shares a store.
type Member struct {
	options Options
	id      string
	joined  time.Time
	current atomic.Int64 // end of the lease, counted from joined
	wall    atomic.Int64 // the same by the wall clock, which continues while the machine is suspended
	known   int64        // version of the definitions that were read last
	renewed time.Time
	term    *term
	failure atomic.Pointer[error] // the error of the last check; nil if it succeeded

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// term is a period in which the member leads.
type term struct {
	number int64
	cancel context.CancelFunc
	timer  *time.Timer // ends it with the lease
}

// Join adds a server. From then on the member is assumed to know definitions read after Join has returned. Start must follow.
func Join(ctx context.Context, o Options) (*Member, error) {
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	var id [8]byte
	if _, err := io.ReadFull(o.Rand, id[:]); err != nil {
		return nil, err
	}
	m := &Member{options: o, id: hex.EncodeToString(id[:]), joined: time.Now()}
	var err error
	if m.known, err = m.version(ctx); err != nil {
		return nil, err
	}
	asked := time.Now()
	if _, err = m.renew(ctx); err != nil {
		return nil, err
	}
	m.extend(asked)
	m.renewed = time.Now()
	return m, nil
}

// Start starts checking the store, and leading if no other server does.
func (m *Member) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	m.stop = cancel
	m.look(ctx, true)
	m.stopped.Go(func() {
		ticker := time.NewTicker(lookInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				m.retire()
				return
			case <-ticker.C:
				m.look(ctx, false)
			}
		}
	})
}

// Leave ends leading and removes the member, so that no server waits for its leases to expire.
func (m *Member) Leave(ctx context.Context) error {
	m.Stop()
	return m.leave(ctx)
}

// Stop ends what Start began, without notifying others: to them it is as if the server had crashed.
func (m *Member) Stop() {
	if m.stop != nil {
		m.stop()
	}
	m.stopped.Wait()
}

// Current reports whether the definitions that this server knows may be used.
func (m *Member) Current() bool {
	now := time.Now()
	return now.Sub(m.joined) < time.Duration(m.current.Load()) && now.UnixNano() < m.wall.Load()
}

// Failure is the reason why the last renewal of the lease failed, nil if it succeeded.
func (m *Member) Failure() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// refusedError is an error of Admit.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// look reads the definitions again if they have changed, and renews the leases when that is due.
func (m *Member) look(ctx context.Context, first bool) {
	err := m.follow(ctx, first)
	if err != nil && ctx.Err() == nil {
		before := m.Failure()
		_, refused := errors.AsType[*refusedError](err)
		_, refusedBefore := errors.AsType[*refusedError](before)
		switch {
		case refused && !refusedBefore:
			m.options.Logger.Error("the server has stopped serving", "error", err)
		case before == nil:
			m.options.Logger.Warn("the server's lease cannot be renewed", "error", err)
		}
	}
	if m.failure.Store(nil); err != nil {
		m.failure.Store(&err)
	}
	if m.term != nil && !m.Current() {
		m.retire()
	}
	if m.options.Looked != nil {
		m.options.Looked()
	}
}

func (m *Member) follow(ctx context.Context, due bool) error {
	changed, err := m.readChanges(ctx)
	if err != nil {
		return err
	}
	if !due && !changed && time.Since(m.renewed) < leaseTime/renewals {
		return nil
	}
	m.renewed = time.Time{} // due, until it has succeeded
	asked := time.Now()
	now, err := m.renewInTime(ctx)
	if err != nil {
		return err
	}
	changed = false
	if !m.Current() {
		// Until now the lease had expired, so changes since the first check may not have waited for this server.
		if changed, err = m.readChanges(ctx); err != nil {
			return err
		}
	}
	m.extend(asked)
	if !changed { // otherwise the next check reports that they are known
		m.renewed = time.Now()
	}
	leading, err := m.claim(ctx, now)
	if err != nil {
		return err
	}
	switch {
	case m.term != nil && m.term.number != leading:
		m.retire()
	case m.term != nil && !m.term.timer.Reset(m.left()): // the renewal came too late for the running work
		m.retire()
	}
	if m.term == nil && leading != 0 {
		m.lead(ctx, leading)
	}
	return nil
}

// admit checks whether the server knows the store's format. The reader's update holds the key of its version.
func (m *Member) admit(r kv.Reader) error {
	if m.options.Admit == nil {
		return nil
	}
	if err := m.options.Admit(r); err != nil {
		return &refusedError{err}
	}
	return nil
}

// readChanges checks the version, and reads the definitions again if it has changed.
func (m *Member) readChanges(ctx context.Context) (changed bool, err error) {
	version, err := m.versionInTime(ctx)
	if err != nil || version == m.known {
		return false, err
	}
	if err := m.admitted(ctx); err != nil {
		return false, err
	}
	if err := m.options.Changed(ctx); err != nil {
		return false, err
	}
	m.known = version
	return true, nil
}

// extend lets the server use its definitions for the duration of a lease requested at a time.
func (m *Member) extend(asked time.Time) {
	const lasts = leaseTime - clockLag
	m.wall.Store(asked.Add(lasts).UnixNano())
	m.current.Store(int64(asked.Sub(m.joined) + lasts))
}

// admitted is admit in its own update.
func (m *Member) admitted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, responseTime)
	defer cancel()
	return m.options.Store.Update(ctx, kv.Intent{Check: [][]byte{keyenc.FormatVersion()}}, func(txn kv.Txn) error { return m.admit(txn) })
}

func (m *Member) versionInTime(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, responseTime)
	defer cancel()
	return m.version(ctx)
}

func (m *Member) renewInTime(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, responseTime)
	defer cancel()
	return m.renew(ctx)
}

func (m *Member) left() time.Duration {
	return time.Duration(m.current.Load()) - time.Since(m.joined)
}

func (m *Member) lead(ctx context.Context, number int64) {
	ctx, cancel := context.WithCancel(context.WithValue(ctx, fenceKey{m.options.Fence}, fence{m.id, number}))
	m.term = &term{number, cancel, time.AfterFunc(m.left(), cancel)}
	m.options.Logger.Info("this server runs the background work", "term", number)
	m.options.Lead(ctx)
}

func (m *Member) retire() {
	if m.term == nil {
		return
	}
	m.term.timer.Stop()
	m.term.cancel()
	m.term = nil
	m.options.Retire()
}

// version is the store's version of the definitions.
func (m *Member) version(ctx context.Context) (int64, error) {
	sums, err := m.options.Store.Counter(ctx, keyenc.Definitions())
	if err != nil || len(sums) == 0 {
		return 0, err
	}
	return sums[0], nil
}

// Raise makes an update announce a change of definitions to the other servers.
func Raise(txn kv.Txn) { txn.Add(keyenc.Definitions(), 1) }

// Await waits until every server knows the definitions at the time of the call.
func (m *Member) Await(ctx context.Context) error {
	version, err := m.version(ctx)
	if err != nil {
		return err
	}
	for {
		behind, err := m.behind(ctx, version)
		if err != nil || !behind {
			return err
		}
		select {
		case <-time.After(awaitInterval):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// behind reports whether another server only knows an earlier version.
func (m *Member) behind(ctx context.Context, version int64) (behind bool, err error) {
	err = m.options.Store.Update(ctx, kv.Intent{}, func(txn kv.Txn) error {
		behind = false
		now := txn.LogSeq().Millis()
		return eachServer(txn, func(key []byte, other serverRecord) {
			behind = behind || !bytes.Equal(key, keyenc.Server(m.id)) && other.Until >= now && other.Known < version
		})
	})
	return behind, err
}

// ErrDeposed is the error of an update by the leader of an earlier term.
var ErrDeposed = errors.New("another server runs the background work")
