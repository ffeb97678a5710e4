package move

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/backup"
	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/storage/keyenc"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/part"
)

const (
	// roundInterval is the minimum time for which changes are collected while something else is done.
	roundInterval = time.Second
	// roundShort is the target duration of the last round before the switch, and roundLong its limit: beyond it, updates
	// continue, and the switch is tried again.
	roundShort = 500 * time.Millisecond
	roundLong  = 5 * time.Second
	// stuckMax is the maximum number of rounds without getting shorter, and holdsMax the maximum number of failed attempts to
	// hold updates.
	stuckMax, holdsMax = 5, 5
	// underWayInterval is the interval of checks whether work that cannot be moved has ended.
	underWayInterval = 2 * time.Second
	// endTime is the default of EndTime, and endInterval the pause before the target is asked again after an error.
	endTime, endInterval = time.Minute, 200 * time.Millisecond
)

// Follower records what is committed to a source, and can make commits wait, or end them.
type Follower interface {
	// Cut returns what has changed since the last Cut or Hold, and a snapshot with exactly these changes.
	Cut() (kv.Snapshot, kv.Changes, error)
	// Hold is Cut, and makes commits wait until Release or Leave.
	Hold() (kv.Snapshot, kv.Changes, error)
	Release()
	// Set sets a key while commits wait.
	Set(key, value []byte) error
	// Leave makes all commits from Hold on fail with an error, and returns a number above all of the store's.
	Leave(refusal error) kv.Seq
	// Close lets commits continue, unless Leave has been called.
	Close()
}

// LiveOptions are the options of a move under writes. Everything required in Options is required, and Follow, Left and
// Refusal.
type LiveOptions struct {
	Options
	Follow func() (Follower, error)
	// Refusal is the error of commits once the source has been left. Left is then called, and ends requests: when it returns,
	// no new request is served from the source. Only after that can servers open the target.
	Refusal error
	Left    func()
	// EndTime is the timeout for completing the target once the source has been left. Default one minute.
	EndTime time.Duration
}

// live is a move under writes.
type live struct {
	*mover
	options  LiveOptions
	follower Follower
	quiet    *mover // for the rounds: it reports nothing, and is not slowed down

	cursor  []byte // tables have been copied up to there; nil once they have all been copied
	logged  bool   // the same for logs and backups
	logs    map[kv.LogID]logState
	pending kv.Changes // recorded and not copied yet
	result  Result
}

// RunLive moves the database of a source that this process serves, while it serves it. The target must be as for Run.
//
// An error with kv.ErrUndetermined means that it is unknown whether the source has been left: the process must end. After
// another error the source stays in use, unless it has been left (Result.Left).
func RunLive(ctx context.Context, source, target Store, o LiveOptions) (Result, error) {
	m := newMover(source, target, o.Options)
	l := &live{mover: m, options: o, cursor: []byte{0}, logs: map[kv.LogID]logState{}}
	l.quiet = &mover{source: source, target: m.target}
	left, err := m.look(ctx)
	if left {
		err = errors.New("the source is marked as moved: stop its server and run the same move again")
	}
	if err != nil {
		return Result{}, err
	}
	if err := m.checkClock(ctx); err != nil {
		return Result{}, err
	}
	if l.follower, err = o.Follow(); err != nil { // before the target is touched, which may belong to another running move
		return Result{}, err
	}
	defer l.follower.Close()
	if err := m.beginTarget(ctx); err != nil {
		return Result{}, err
	}
	if m.again {
		m.Notice(beginsAgain)
		if err := m.clear(ctx); err != nil {
			return Result{}, err
		}
	}
	if err := l.run(ctx); err != nil {
		return l.result, err
	}
	return l.result, nil
}

func (l *live) run(ctx context.Context) error {
	if err := l.estimate(ctx); err != nil {
		return err
	}
	if err := l.copyOnce(ctx); err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	if err := l.catchUp(ctx); err != nil {
		return err
	}
	if err := l.prove(ctx); err != nil {
		return err
	}
	for holds := 1; ; holds++ {
		if err := l.catchUp(ctx); err != nil {
			return err
		}
		err := l.leave(ctx)
		if !errors.Is(err, errTooLong) {
			return err
		}
		if holds == holdsMax {
			return errTooFast
		}
	}
}

// copyOnce copies everything once, and changes in the meantime as far as the data has been copied.
func (l *live) copyOnce(ctx context.Context) error {
	if err := part.CopyNames(ctx, l.source, l.target); err != nil {
		return err
	}
	err := eachBackup(ctx, l.source, func(store kv.Store, region string, b *backup.Record) error {
		l.result.Backups++
		return l.copyBackupProved(ctx, store, region, b)
	})
	if err != nil {
		return err
	}
	latest := time.Now()
	round := func() error {
		if time.Since(latest) < roundInterval {
			return nil
		}
		err := l.follow(ctx)
		latest = time.Now()
		return err
	}
	for l.cursor != nil {
		if err := l.copyNext(ctx); err != nil {
			return err
		}
		if err := round(); err != nil {
			return err
		}
	}
	snapshot, err := l.cut()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	if err := l.extendLogs(ctx, l.mover, snapshot, round); err != nil {
		return err
	}
	l.logged = true
	return nil
}

// copyNext copies the next keys in their current state.
func (l *live) copyNext(ctx context.Context) error {
	snapshot, err := l.source.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer snapshot.Close()
	k := newKeys(snapshot, kv.Span{Lo: l.cursor})
	defer k.it.Close()
	more, err := l.copyChunk(ctx, newDigest(), k, l.target, liveChunkBytes)
	switch {
	case err != nil:
		return err
	case more:
		l.cursor = append(bytes.Clone(k.key), 0)
	default:
		l.cursor = nil
	}
	return nil
}

// cut records the changes until now, and returns a current snapshot.
func (l *live) cut() (kv.Snapshot, error) {
	snapshot, changes, err := l.follower.Cut()
	l.pending.Add(changes)
	return snapshot, err
}

// follow updates what has been copied to the current state.
func (l *live) follow(ctx context.Context) error {
	snapshot, err := l.cut()
	if err != nil {
		return err
	}
	return errors.Join(l.round(ctx, snapshot), snapshot.Close())
}

var (
	errTooLong = errors.New("the last round took too long")
	errTooFast = errors.New("the source changes faster than the target can follow: move at a quieter time")
)

// catchUp follows until so little is left to copy that updates can be held for it, and no work that cannot be moved is
// running.
func (l *live) catchUp(ctx context.Context) error {
	stuck, reported := 0, false
	for before := time.Duration(0); ; {
		begun := time.Now()
		if err := l.follow(ctx); err != nil {
			return fmt.Errorf("copy changes: %w", err)
		}
		l.result.Rounds++
		took := time.Since(begun)
		if before > 0 && took > before*9/10 {
			stuck++
		}
		before = took
		err := l.checkUnderWay(ctx)
		if waits, is := errors.AsType[*underWayError](err); is {
			if !reported {
				l.Notice("the move continues when this is complete: " + waits.Error())
				reported = true
			}
			stuck, before = 0, 0 // only later rounds have to get shorter
			if err := wait(ctx, underWayInterval); err != nil {
				return err
			}
			continue
		}
		switch {
		case err != nil:
			return err
		case took < roundShort, stuck >= stuckMax && took < roundLong/2:
			return nil
		case stuck >= stuckMax:
			return errTooFast
		}
	}
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// prove compares the source with the target, both at the end of a round, and verifies the target. Rounds continue meanwhile.
func (l *live) prove(ctx context.Context) error {
	source, err := l.cut()
	if err != nil {
		return err
	}
	defer source.Close()
	if err := l.round(ctx, source); err != nil {
		return err
	}
	target, err := l.target.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer target.Close()
	trimmed := map[kv.LogID]kv.Seq{}
	for log, state := range l.logs {
		trimmed[log] = state.trimmed
	}
	l.done, l.total = 0, 2*l.total
	err = l.alongside(ctx, func(ctx context.Context) error {
		read, written := newDigest(), newDigest()
		err := errors.Join(l.digestKeys(ctx, read, source, kv.Span{}), l.digestLogs(ctx, read, source, trimmed))
		if err == nil {
			err = errors.Join(l.digestKeys(ctx, written, target, kv.Span{}), l.digestLogs(ctx, written, target, trimmed))
		}
		if err != nil {
			return err
		}
		result := read.result()
		l.result.Keys, l.result.Bytes, l.result.Logs, l.result.LogRecords, l.result.Checksum = result.Keys, result.Bytes, result.Logs, result.LogRecords, result.Checksum
		return same(written.result(), result)
	})
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	return l.alongside(ctx, func(ctx context.Context) error { return l.Verify(ctx, &whole{l.target, l.mark}) })
}

// alongside runs read-only work while rounds continue.
func (l *live) alongside(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	ticker := time.NewTicker(roundInterval)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			if err := l.follow(ctx); err != nil {
				cancel()
				<-done
				return fmt.Errorf("copy changes: %w", err)
			}
		}
	}
}

// leave holds updates, copies the rest, and switches. errTooLong means that updates continue and it may be tried again.
func (l *live) leave(ctx context.Context) error {
	begun := time.Now()
	snapshot, changes, err := l.follower.Hold()
	if err != nil {
		return err
	}
	defer l.follower.Release()
	l.pending.Add(changes)
	held, cancel := context.WithTimeoutCause(ctx, roundLong, errTooLong)
	defer cancel()
	err = errors.Join(l.round(held, snapshot), snapshot.Close())
	if err == nil {
		err = l.checkUnderWay(held)
	}
	if _, is := errors.AsType[*underWayError](err); is || err != nil && ctx.Err() == nil && errors.Is(context.Cause(held), errTooLong) {
		return errTooLong
	}
	if err == nil {
		err = l.update(held, l.target, l.from(format.Arriving, l.at(format.Arrived).Save))
	}
	if err != nil {
		return err
	}
	mark, err := json.Marshal(l.at(format.Left))
	if err != nil {
		return err
	}
	if err := l.follower.Set(keyenc.FormatVersion(), mark); err != nil {
		err = fmt.Errorf("everything has been copied, but the source cannot be marked as moved: %w", err)
		if errors.Is(err, kv.ErrUndetermined) {
			l.follower.Leave(err)
		}
		return err
	}
	l.result.Left = true
	upcoming := l.follower.Leave(l.options.Refusal)
	l.options.Left()
	err = l.completeTarget(context.WithoutCancel(ctx), upcoming)
	l.result.Held = time.Since(begun)
	return err
}

// completeTarget completes the target. The source has been left, so there is no way back.
func (l *live) completeTarget(ctx context.Context, upcoming kv.Seq) error {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(l.options.EndTime, endTime))
	defer cancel()
	for {
		err := l.end(ctx, upcoming)
		if err == nil || wait(ctx, endInterval) != nil {
			return err
		}
	}
}

// same describes how two digests differ.
func same(written, read Result) error {
	if written != read {
		return fmt.Errorf("the copy differs from the source: %+v, want %+v", written, read)
	}
	return nil
}
