package engine

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/monotable/monotable/internal/database/dynamo/attr"
	"github.com/monotable/monotable/internal/database/engine/catalog"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/logenc"
)

// Change is the effect of one commit on one item. Old is nil for an inserted item, New for a removed one.
type Change struct {
	Seq     kv.Seq
	Time    time.Time
	Expired bool // removed because its time to live expired
	Key     attr.Item
	Old     attr.Item
	New     attr.Item
}

// Start positions of Changes other than the Seq of a change.
const (
	// ChangesKept is before the oldest change in the table's log.
	ChangesKept kv.Seq = 0
	// ChangesNow is after everything acknowledged before the call. A read of items after the call sees all earlier changes.
	ChangesNow kv.Seq = math.MaxUint64
)

// Errors that can end Changes, besides its context's, kv.ErrClosed and errors of the store.
var (
	// ErrChangesTrimmed: changes after the position are no longer retained.
	ErrChangesTrimmed = errors.New("engine: changes after this position are no longer retained")
	// ErrChangesAhead: the position is later than any change of this store.
	ErrChangesAhead = errors.New("engine: the position is later than the latest change")
	// ErrTableGone: the table was deleted, and all its changes have been returned.
	ErrTableGone = errors.New("engine: the table was deleted")
	// ErrNoTable: the table did not exist when Changes was called.
	ErrNoTable = errors.New("engine: table not found")
)

// Changes follows the changes of a table after a position, with or without a stream. It returns each change once, and the changes
// of an item in commit order, and waits for more when it has returned all. A table without a stream starts to log changes when it
// is first followed, and continues for at least catalog.FollowedFor after the call and after its last follower has ended. The
// sequence ends when the caller stops or with an error as its last pair. The table and, for ChangesNow, the position are
// determined at the time of the call. The error is ErrChangesTrimmed if changes between the position and the start of the
// iteration were not logged.
func (e *Engine) Changes(ctx context.Context, nameOrARN string, from kv.Seq) iter.Seq2[Change, error] {
	f, err := e.newFollower(ctx, nameOrARN, from)
	return func(yield func(Change, error) bool) {
		if err != nil {
			yield(Change{}, err)
			return
		}
		f := *f // the sequence may be iterated more than once
		f.listener = e.appendCounts.listen(f.table.ID)
		defer e.appendCounts.dismiss(f.listener)
		if err := f.begin(ctx); err != nil {
			yield(Change{}, err)
			return
		}
		if err := f.recordProgress(ctx); err != nil {
			yield(Change{}, err)
			return
		}
		for {
			records, err := f.next(ctx)
			if err != nil {
				yield(Change{}, err)
				return
			}
			for i := range records {
				change, err := f.decode(&records[i])
				if !yield(change, err) || err != nil {
					return
				}
			}
		}
	}
}

// follower reads one table's log.
//
// An acknowledged commit can be temporarily invisible in a log, while a commit with a lower number is in progress, even one of
// another table or Region. So when a follower is notified of a commit, it records the number below which all acknowledged commits
// lie, and listens to the commits of all tables until it has read up to there.
//
// While it listens, the table's log records both images. Before that, the log may not have recorded them for some time, so every
// read is checked against the number from which the log is complete.
type follower struct {
	engine       *Engine
	table        *catalog.Table // as last seen
	keyNames     []string
	after        kv.Seq // read up to here
	begun        bool   // started at a definite position, not at whatever is retained
	acknowledged kv.Seq // all commits acknowledged when the listener was last notified are below
	gone         bool   // the table had been deleted by then
	listener     *listener
}

func (e *Engine) newFollower(ctx context.Context, nameOrARN string, from kv.Seq) (*follower, error) {
	t, err := e.followedTable(ctx, nameOrARN)
	if isNotFound(err) {
		return nil, ErrNoTable
	}
	if err != nil {
		return nil, err
	}
	f := &follower{engine: e, table: t, keyNames: []string{t.PK.Name}, after: from, begun: from != ChangesKept}
	if t.SK.Name != "" {
		f.keyNames = append(f.keyNames, t.SK.Name)
		slices.Sort(f.keyNames)
	}
	if from == ChangesKept {
		return f, nil
	}
	if from == ChangesNow {
		upcoming, err := e.awaitWrites(ctx, t.ID)
		f.after = upcoming - 1
		return f, err
	}
	upcoming, err := kv.Upcoming(ctx, e.store)
	if err == nil && from >= upcoming {
		err = ErrChangesAhead
	}
	return f, err
}

// followedTable looks up a table and makes its log record what followers need.
func (e *Engine) followedTable(ctx context.Context, nameOrARN string) (*catalog.Table, error) {
	t, err := e.catalog.Lookup(nameOrARN)
	if err != nil {
		return nil, err
	}
	if err := e.keepFollowed(ctx, t); err != nil {
		return nil, err
	}
	return e.catalog.Lookup(nameOrARN)
}

// keepFollowed makes a table's log record both images for followers, for at least catalog.FollowedFor. It is called again for
// tables with a follower whenever logs are trimmed.
func (e *Engine) keepFollowed(ctx context.Context, t *catalog.Table) error {
	if t.Descriptor.FollowedAt(e.options.Now().Add(catalog.FollowedFor + logTrimInterval)) {
		return nil
	}
	_, err := e.catalog.Change(ctx, t.Name, func(_ kv.Txn, d *catalog.Descriptor) error {
		d.Follow(e.options.Now())
		return nil
	})
	return err
}

// begin makes the table's log record both images until the follower stops listening.
func (f *follower) begin(ctx context.Context) error {
	if t := f.current(); t != nil {
		if err := f.engine.keepFollowed(ctx, t); err != nil && !isNotFound(err) {
			return err
		}
	}
	if t := f.current(); t != nil {
		f.table = t
		return nil
	}
	if !f.table.Descriptor.FollowedAt(f.engine.options.Now()) {
		return ErrChangesTrimmed // the log may have been off for some time before the table was deleted
	}
	return nil
}

// current returns the table's current definition, or nil if it has been deleted.
func (f *follower) current() *catalog.Table {
	t := f.engine.catalog.Tables()[f.table.Name]
	if t == nil || t.ID != f.table.ID || t.Descriptor.GoneAt != 0 {
		return nil
	}
	return t
}

// next returns the next records, at least one; it waits for them.
func (f *follower) next(ctx context.Context) ([]kv.Record, error) {
	for {
		records, err := f.read(ctx)
		if err != nil || len(records) > 0 {
			return records, err
		}
		if f.after+1 < f.acknowledged {
			if err := f.listener.wait(ctx, f.engine.jobs.ctx.Done()); err != nil {
				return nil, err
			}
			continue
		}
		if f.gone {
			return nil, ErrTableGone
		}
		f.listener.all.Store(false)
		if err := f.listener.wait(ctx, f.engine.jobs.ctx.Done()); err != nil {
			return nil, err
		}
		if err := f.recordProgress(ctx); err != nil {
			return nil, err
		}
	}
}

// recordProgress records how far the log can be read, when the follower starts or has been notified.
func (f *follower) recordProgress(ctx context.Context) (err error) {
	f.listener.all.Store(true)
	f.gone = f.current() == nil
	f.acknowledged, err = kv.Upcoming(ctx, f.engine.store)
	return err
}

// read returns the next records, if any, and makes sure that none before them is missing.
func (f *follower) read(ctx context.Context) ([]kv.Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	log := kv.LogID(f.table.ID)
	for {
		records, through, err := f.engine.store.ReadLog(ctx, log, f.after, logChunk)
		if err != nil {
			return nil, err
		}
		// Check after the read: records trimmed during it, or not logged, may be missing.
		lost, err := f.lost(ctx)
		if err != nil {
			return nil, err
		}
		if lost <= f.after {
			f.after, f.begun = through, true
			return records, nil
		}
		if f.begun {
			return nil, ErrChangesTrimmed
		}
		f.after = lost
	}
}

// lost returns the number up to which changes may be missing from the log because they were trimmed or not logged.
func (f *follower) lost(ctx context.Context) (kv.Seq, error) {
	if t := f.current(); t != nil {
		f.table = t
	}
	trimmed, err := f.engine.store.LogTrimmed(ctx, kv.LogID(f.table.ID))
	return max(trimmed, f.table.Descriptor.Log.BothImages()-1), err
}

func (f *follower) decode(r *kv.Record) (Change, error) {
	stored, err := decodeRecord(kv.LogID(f.table.ID), r)
	if err != nil {
		return Change{}, err
	}
	change := Change{Seq: r.Seq, Time: time.UnixMilli(stored.Time), Expired: stored.Origin == logenc.OriginTTL}
	image := stored.New
	if image == nil {
		image = stored.Old
	}
	if change.Key, err = image.Select(f.keyNames); err != nil {
		return Change{}, err
	}
	if change.Old, err = stored.Old.Decode(); err != nil {
		return Change{}, err
	}
	change.New, err = stored.New.Decode()
	return change, err
}
