// Package cluster lets several servers share one store: each of them answers any request, and one of them does the work that goes on beside
// requests.
//
// # Model
//
// A server joins by a record in the store, its lease, which it renews long before it ends. The record also says which version of the
// definitions (of tables, streams and the like) the server knows. A change of a definition raises the version in its own transaction, and every
// server looks at the version several times a second.
//
//	server ──look──► version is new ──► read the definitions anew ──► renew, with the version
//	change ──commit, version+1──► Await: until each server whose lease has not ended knows the version
//
// One server at a time leads. Its lease has a term, a number that rises with each new leader:
//
//	claim ──► the leader's lease is nobody's, has ended or is one's own ──► lead until it ends
//
// # Invariants
//
//  1. What Await has returned for is known to every server that serves: a server whose lease has ended must not use the definitions that it
//     knows (Current), and nobody waits for it. When it has a lease again, it looks at the version once more before it uses them.
//  2. An update of a leader commits only in its own term (Store), so a leader that was paused, or cut off, and does not know yet that
//     another one has taken its place, changes nothing.
//  3. A server whose program does not know the store's form gets no lease (Options.Admit), and a program of a later form does not begin to
//     write it while another server's lease lasts (Older). Both hold the key of the form's version, so that one of them comes first.
//  4. Leases are compared with the store's time, never with that of a server. A server takes its own lease to end no later than others do,
//     as long as the store's clock does not jump: it counts from before it asked for the renewal.
//
// # Concurrency
//
// All methods are safe for concurrent use, except Leave: call it once, as the last.
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
	// leaseTime is how long a server that has ended without a word holds up changes of definitions, and the work beside requests.
	leaseTime = 5 * time.Second
	// renewals is how many times a lease is renewed in its time, so that some may fail.
	renewals = 5
	// lookInterval is how often a server looks whether the definitions have changed, and how long a change waits for that, about.
	lookInterval = 100 * time.Millisecond
	// awaitInterval is how often Await looks at the servers.
	awaitInterval = 20 * time.Millisecond
	// answerTime is how long the store may take to answer a question. Later the lease has ended, and the question may be one that no answer comes to
	// any more: that of a connection that was lost without a word.
	answerTime = leaseTime
	// claimTime is how long the leader's lease is waited for: updates of the leader hold it, and one that stands still must not keep
	// anybody's own lease from being renewed.
	claimTime = time.Second
)

// Options of a member. Store and Fence are needed.
type Options struct {
	// Store has times as numbers: Txn.LogSeq is the store's time.
	Store kv.Store
	// Fence is the store that the leader's updates pass. Store may wrap it.
	Fence *Store
	// Changed is called when others have changed definitions; it reads them anew.
	Changed func(context.Context) error
	// Lead begins the work of the leader. Its context, which makes updates fail with ErrDeposed when the term is over, ends with the term or
	// with the member. Retire ends the work. Neither may wait for the work: the same goroutine renews the lease.
	Lead   func(context.Context)
	Retire func()
	// Form is the version of the stored form that the server writes. Admit is asked whether it knows the one in the store, before definitions are
	// read anew and in the update of each renewal. Its error keeps the lease from being renewed. Default: nothing is asked.
	Form  uint64
	Admit func(kv.Reader) error
	// Looked is called after each look at the store.
	Looked func()
	Rand   io.Reader    // default crypto/rand
	Logger *slog.Logger // default: discard
}

// Member is a server's place among those that share a store.
type Member struct {
	options Options
	id      string
	joined  time.Time
	current atomic.Int64 // until when the lease lasts, counted from joined
	wall    atomic.Int64 // the same by the machine's calendar, which goes on while the machine is suspended
	known   int64        // the version of the definitions that were read last
	renewed time.Time
	term    *term
	failure atomic.Pointer[error] // why the last look has failed; nil after one that has not

	stop    context.CancelFunc
	stopped sync.WaitGroup
}

// term is a time in which the member leads.
type term struct {
	number int64
	cancel context.CancelFunc
	timer  *time.Timer // ends it with the lease
}

// Join gives a server its place. Definitions that are read after Join has returned are those that the member is taken to know. Start must follow.
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

// Start begins to look at the store, and to lead where nobody does.
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

// Leave ends leading and gives the member's place up, so that nobody waits for its leases to end.
func (m *Member) Leave(ctx context.Context) error {
	m.Stop()
	return m.leave(ctx)
}

// Stop ends what Start began, without a word to others: to them it is as if the server had crashed.
func (m *Member) Stop() {
	if m.stop != nil {
		m.stop()
	}
	m.stopped.Wait()
}

// Current tells whether the definitions that this server knows may be used.
func (m *Member) Current() bool {
	now := time.Now()
	return now.Sub(m.joined) < time.Duration(m.current.Load()) && now.UnixNano() < m.wall.Load()
}

// Failure is why the lease could not be renewed the last time, nil if it could.
func (m *Member) Failure() error {
	if err := m.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// refusedError is an error of Admit.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// look reads the definitions anew if they have changed, and renews the leases if that is due.
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
		// Until now the lease had ended, so changes since the first look may have waited for nobody.
		if changed, err = m.readChanges(ctx); err != nil {
			return err
		}
	}
	m.extend(asked)
	if !changed { // otherwise the next look says that they are known
		m.renewed = time.Now()
	}
	leading, err := m.claim(ctx, now)
	if err != nil {
		return err
	}
	switch {
	case m.term != nil && m.term.number != leading:
		m.retire()
	case m.term != nil && !m.term.timer.Reset(m.left()): // the renewal came too late for the work under way
		m.retire()
	}
	if m.term == nil && leading != 0 {
		m.lead(ctx, leading)
	}
	return nil
}

// admit asks whether the server knows the store's form. The reader's update holds the key of its version.
func (m *Member) admit(r kv.Reader) error {
	if m.options.Admit == nil {
		return nil
	}
	if err := m.options.Admit(r); err != nil {
		return &refusedError{err}
	}
	return nil
}

// readChanges looks at the version, and reads the definitions anew if it has changed.
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

// extend lets the server use its definitions for the time of a lease that it asked for.
func (m *Member) extend(asked time.Time) {
	m.wall.Store(asked.Add(leaseTime).UnixNano())
	m.current.Store(int64(asked.Sub(m.joined) + leaseTime))
}

// admitted is admit in an update of its own.
func (m *Member) admitted(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return m.options.Store.Update(ctx, kv.Intent{Check: [][]byte{keyenc.FormatVersion()}}, func(txn kv.Txn) error { return m.admit(txn) })
}

func (m *Member) versionInTime(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return m.version(ctx)
}

func (m *Member) renewInTime(ctx context.Context) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
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

// Raise has an update tell the other servers that it changes definitions.
func Raise(txn kv.Txn) { txn.Add(keyenc.Definitions(), 1) }

// Await waits until every server knows the definitions as they are when it is called.
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

// behind tells whether another server knows an earlier version only.
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
var ErrDeposed = errors.New("cluster: another server runs the background work")
