// Package move moves a whole database from one store to another, of any kind.
//
// # Model
//
// It copies everything that belongs to the database: keys with their values or counters, change logs with the numbers of their
// records, backups. The target's numbers continue above the source's, so that sequence numbers and shard iterators of streams,
// and restore times, remain valid.
//
// Data of a store's servers is not copied: their leases, the leader and its term, and the counters that announce changes to
// other servers. The target's servers start without any.
//
// Run moves a database that no server has open:
//
//	              source              target
//	begin         version ─► Leaving  nothing ─► Arriving
//	copy, compare, verify
//	end                    ─► Left              ─► Arrived ─► version
//
// RunLive moves a database that its own process serves (live.go; round.go copies a round):
//
//	begin                             nothing ─► Arriving
//	copy, follow in rounds, compare, verify
//	hold          updates wait                 ─► Arrived
//	leave         version ─► Left
//	end           all requests fail                      ─► version
//
// Both stores record the progress of the move in place of their format version (package format), which every server checks
// first.
//
// # Invariants
//
//  1. At most one of the two stores can be served at any time, whatever crashes. The source is left before the target is complete.
//  2. A server does not change the source once it is Leaving: Run marks it first and then looks for servers that have it open; a server takes its
//     lease first and then checks for the mark.
//  3. A target marked Arrived has been read back and equals, byte for byte, what was read from the source.
//  4. If a move by Run fails, the source can be used again. If it is killed, the next Run with the same two stores restarts it, or completes it if everything was
//     copied. A move by RunLive that fails or is killed leaves the source as it is, until that is Left.
//  5. RunLive: after a round the target is the source at the round's cut, as far as it has been copied once.
//
// Calls for the same stores exclude each other: of two, one fails, even if it was suspended during the other (fenced.go).
package move

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/time/rate"

	"github.com/monotable/monotable/internal/database/cluster"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

// clockBehindMax is the maximum lag of the target's clock behind the source's numbers. Until it has caught up, the database's
// time does not advance.
const clockBehindMax = 10 * time.Second

// Store is a store that can be the source or target of a move.
type Store interface {
	kv.Store
	kv.Logs
}

// Options of a move. From, To and Verify are required.
type Options struct {
	// From and To are names of the stores that people recognize and that are unique.
	From, To string
	// Verify checks the copy's consistency before any server can open it.
	Verify func(ctx context.Context, target kv.Store) error
	// Progress is called with the number of bytes that have been copied or compared, and the approximate total.
	Progress func(phase Phase, done, total int64)
	// Notice is called with sentences that an operator should know.
	Notice func(text string)
	// Rate is the maximum number of bytes copied, or compared, per second. Default 0: no limit.
	Rate int
	Rand io.Reader // default crypto/rand
}

// Phase is a part of the work.
type Phase string

// The phases reported to Progress.
const (
	Copy    Phase = "copy"
	Compare Phase = "compare"
)

// Result describes what has been moved.
type Result struct {
	Keys, Bytes int64 // of values and counters; Bytes also of log records
	Logs        int64
	LogRecords  int64
	Backups     int64
	Checksum    string // SHA-256 of everything, the same for both stores
	// Completed means that an earlier run had copied everything, and this one has completed the move.
	Completed bool
	// For a move under writes, Keys, Bytes and LogRecords are those at the time of the proof. Left means that the source has
	// been left. Rounds is the number of rounds before updates were held, and Held the time during which no server accepted
	// updates, until the target could be opened.
	Left   bool
	Rounds int
	Held   time.Duration
}

// mover is one move.
type mover struct {
	Options
	source, target Store
	mark           format.Move // ID, From, To and Version
	again          bool        // the target may contain leftovers of an earlier attempt
	done, total    int64
	pace           *rate.Limiter // nil for no limit
}

// beginsAgain is the notice for a target with a partial copy.
const beginsAgain = "restarting an interrupted move: its partial copy is removed"

func newMover(source, target Store, o Options) *mover {
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	m := &mover{Options: o, source: source}
	m.target = &fenced{Store: target, mark: &m.mark}
	if o.Rate > 0 {
		m.pace = rate.NewLimiter(rate.Limit(o.Rate), max(o.Rate/10, 1))
	}
	return m
}

// Run moves the database of the source to the target, which must be empty, or contain what an interrupted move between the
// same two stores has left.
func Run(ctx context.Context, source, target Store, o Options) (Result, error) {
	m := newMover(source, target, o)
	copied, err := m.look(ctx)
	if err != nil {
		return Result{}, err
	}
	if copied {
		m.Notice("completing an interrupted move, which had copied everything")
		return Result{Completed: true}, m.complete(ctx)
	}
	if err := errors.Join(m.checkServing(ctx), m.checkUnderWay(ctx), m.checkClock(ctx)); err != nil {
		return Result{}, err
	}
	if m.again {
		m.Notice(beginsAgain)
	}
	result, err := m.run(ctx)
	if err != nil {
		return Result{}, errors.Join(err, m.reopenSource(context.WithoutCancel(ctx)))
	}
	return result, m.leave(ctx)
}

// look checks what the two stores contain, and whether only the end of an earlier move is missing.
func (m *mover) look(ctx context.Context) (copied bool, err error) {
	version, left, err := read(ctx, m.source)
	if err != nil {
		return false, fmt.Errorf("the source: %w", err)
	}
	held, arrived, err := read(ctx, m.target)
	if err != nil {
		return false, fmt.Errorf("the target: %w", err)
	}
	switch {
	case left == nil && version == 0:
		return false, errors.New("there is no database in the source")
	case left == nil:
		m.mark = format.Move{From: m.From, To: m.To, Version: version}
	case left.Stage == format.Left && left.To == m.To && arrived != nil && arrived.Stage == format.Arrived && arrived.ID == left.ID:
		m.mark = *arrived
		return true, nil
	case left.Stage != format.Leaving || left.To != m.To:
		return false, fmt.Errorf("the source: %w", left.Refusal())
	default:
		m.mark = format.Move{From: m.From, To: m.To, Version: left.Version}
	}
	switch {
	case held != 0:
		return false, errors.New("the target is not empty: it contains a database, which is never overwritten")
	case arrived == nil:
		err = m.checkEmpty(ctx)
	case arrived.From != m.From || arrived.Stage != format.Arriving && arrived.Stage != format.Arrived:
		err = fmt.Errorf("the target is not empty: %w", arrived.Refusal())
	default:
		m.again = true
	}
	var id [8]byte
	if _, random := io.ReadFull(m.Rand, id[:]); random != nil {
		return false, random
	}
	m.mark.ID = hex.EncodeToString(id[:])
	return false, err
}

func read(ctx context.Context, store kv.Store) (version uint64, m *format.Move, err error) {
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return 0, nil, err
	}
	defer snapshot.Close()
	return format.Read(snapshot)
}

// checkEmpty rejects a target that is not empty.
func (m *mover) checkEmpty(ctx context.Context) error {
	it, err := m.target.Iter(ctx, nil, nil, kv.IterOptions{Limit: 1})
	if err != nil {
		return err
	}
	keys := it.Next()
	if err := errors.Join(it.Err(), it.Close()); err != nil {
		return err
	}
	logs, err := m.target.Logs(ctx)
	if err != nil {
		return err
	}
	kept, err := m.target.Kept(ctx)
	if err == nil && (keys || len(logs) > 0 || len(kept) > 0) {
		err = errors.New("the target is not empty, and a move never overwrites data")
	}
	return err
}

// checkClock rejects a target whose clock is far behind.
func (m *mover) checkClock(ctx context.Context) error {
	upcoming, err := kv.Upcoming(ctx, m.source)
	if err != nil || !upcoming.Timed() {
		return err
	}
	now, timed, err := m.target.Time(ctx)
	if err != nil {
		return err
	}
	if !timed {
		now = time.Now()
	}
	if ahead := time.UnixMilli(upcoming.Millis()).Sub(now); ahead > clockBehindMax {
		return fmt.Errorf("the clock of the target is %v behind the latest change of the source: correct it first", ahead.Round(time.Second))
	}
	return nil
}

// run copies and proves the copy. If it fails, the source is still Leaving.
func (m *mover) run(ctx context.Context) (Result, error) {
	if err := m.begin(ctx); err != nil {
		return Result{}, err
	}
	if err := m.estimate(ctx); err != nil {
		return Result{}, err
	}
	read, err := m.copyAll(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("copy: %w", err)
	}
	m.done = 0
	written, err := m.digest(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("compare: %w", err)
	}
	if err := same(written, read); err != nil {
		return Result{}, err
	}
	if err := m.Verify(ctx, &whole{m.target, m.mark}); err != nil {
		return Result{}, err
	}
	return read, nil
}

// begin marks both stores, the target first, and checks that no server has the source open.
func (m *mover) begin(ctx context.Context) error {
	var parts []*part.Part
	err := eachPart(ctx, m.source, func(_ string, store kv.Store) error {
		if p, is := store.(*part.Part); is {
			parts = append(parts, p)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := m.beginTarget(ctx); err != nil {
		return err
	}
	err = m.update(ctx, m.source, func(txn kv.Txn, _ uint64, now *format.Move) error {
		if now != nil && now.Stage != format.Leaving {
			return now.Refusal()
		}
		// A server that was suspended reads its definitions again, and finds the mark.
		cluster.Raise(txn)
		for _, p := range parts {
			cluster.Raise(p.Within(txn))
		}
		return m.at(format.Leaving).Save(txn)
	})
	if err != nil {
		return err
	}
	return m.checkServing(ctx)
}

// beginTarget marks the target.
func (m *mover) beginTarget(ctx context.Context) error {
	return m.update(ctx, m.target, func(txn kv.Txn, held uint64, now *format.Move) error {
		if held != 0 || (now == nil) == m.again {
			return errors.New("another process has opened the target")
		}
		return m.at(format.Arriving).Save(txn)
	})
}

// checkServing rejects a source that servers have open.
func (m *mover) checkServing(ctx context.Context) error {
	serving, err := cluster.Serving(ctx, m.source)
	if err == nil && serving > 0 {
		err = fmt.Errorf("servers with the source open: %d: stop them, and wait five seconds if one of them has crashed", serving)
	}
	return err
}

// leave marks the source as left and completes the target.
func (m *mover) leave(ctx context.Context) error {
	err := m.update(ctx, m.target, m.from(format.Arriving, m.at(format.Arrived).Save))
	if err != nil {
		return errors.Join(err, m.reopenSource(context.WithoutCancel(ctx)))
	}
	if err := m.update(ctx, m.source, m.from(format.Leaving, m.at(format.Left).Save)); err != nil {
		return fmt.Errorf("everything has been copied, but the source cannot be marked as moved: %w: run the same move again", err)
	}
	return m.complete(ctx)
}

// complete completes the target once the source has been left.
func (m *mover) complete(ctx context.Context) error {
	upcoming, err := kv.Upcoming(ctx, m.source)
	if err != nil {
		return err
	}
	return m.end(ctx, upcoming)
}

// end completes the target, whose numbers continue above all of the source's.
func (m *mover) end(ctx context.Context, upcoming kv.Seq) error {
	err := m.update(ctx, m.target, func(txn kv.Txn, version uint64, now *format.Move) error {
		if now == nil && version != 0 { // an earlier attempt got no response
			return nil
		}
		return m.from(format.Arrived, func(txn kv.Txn) error {
			txn.Advance(upcoming)
			m.mark.End(txn)
			return nil
		})(txn, version, now)
	})
	if err != nil {
		return fmt.Errorf("everything has been copied, but the target cannot be opened yet: %w: run the same move again", err)
	}
	return nil
}

// reopenSource allows servers to open the source again.
func (m *mover) reopenSource(ctx context.Context) error {
	return m.update(ctx, m.source, func(txn kv.Txn, _ uint64, now *format.Move) error {
		if now != nil && now.Stage == format.Leaving && now.ID == m.mark.ID {
			now.End(txn)
		}
		return nil
	})
}

// at is the mark of the move at a stage.
func (m *mover) at(stage format.Stage) *format.Move {
	mark := m.mark
	mark.Stage = stage
	return &mark
}

// from returns an update that changes a store, provided it is at a stage of this very move.
func (m *mover) from(stage format.Stage, change func(kv.Txn) error) func(kv.Txn, uint64, *format.Move) error {
	return func(txn kv.Txn, _ uint64, now *format.Move) error {
		if now == nil || now.Stage != stage || now.ID != m.mark.ID {
			return errors.New("another process has changed the store's record of the move")
		}
		return change(txn)
	}
}

// update changes what a store has in place of its version.
func (m *mover) update(ctx context.Context, store kv.Store, change func(txn kv.Txn, version uint64, now *format.Move) error) error {
	intent := kv.Intent{Write: [][]byte{keyenc.FormatVersion()}, Drops: true}
	return store.Update(ctx, intent, func(txn kv.Txn) error {
		version, now, err := format.Read(txn)
		if err != nil {
			return err
		}
		return change(txn, version, now)
	})
}

// Reopen undoes a move: servers may open the source again. It does not contain what was written to the target since.
func Reopen(ctx context.Context, source kv.Store) error {
	return new(mover).update(ctx, source, func(txn kv.Txn, _ uint64, now *format.Move) error {
		if now == nil || now.Stage != format.Leaving && now.Stage != format.Left {
			return errors.New("nothing to reopen: no database was moved from here")
		}
		now.End(txn)
		return nil
	})
}

// whole is a target in its final state: with its version.
type whole struct {
	kv.Store
	mark format.Move
}

func (w *whole) Get(ctx context.Context, key []byte) ([]byte, error) {
	if bytes.Equal(key, keyenc.FormatVersion()) {
		return w.mark.VersionBytes(), nil
	}
	return w.Store.Get(ctx, key)
}

func (w *whole) Snapshot(ctx context.Context) (kv.Snapshot, error) {
	s, err := w.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &wholeSnapshot{s, w.mark}, nil
}

type wholeSnapshot struct {
	kv.Snapshot
	mark format.Move
}

func (w *wholeSnapshot) Get(key []byte) ([]byte, error) {
	if bytes.Equal(key, keyenc.FormatVersion()) {
		return w.mark.VersionBytes(), nil
	}
	return w.Snapshot.Get(key)
}
