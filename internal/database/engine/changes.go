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

// Change is what one commit did to one item. Old is nil where the item was inserted, New where it was removed.
type Change struct {
	Seq     kv.Seq
	Time    time.Time
	Expired bool // removed because its time to live was over
	Key     attr.Item
	Old     attr.Item
	New     attr.Item
}

// Where Changes may begin, beside a change's Seq.
const (
	// ChangesKept is before the oldest change that the table's log still has.
	ChangesKept kv.Seq = 0
	// ChangesNow is after everything that was acknowledged before the call. Who reads items after the call sees all
	// that is before it.
	ChangesNow kv.Seq = math.MaxUint64
)

// What may end Changes, beside its context, kv.ErrClosed and faults of the store.
var (
	// ErrChangesTrimmed: changes after the position are no longer kept.
	ErrChangesTrimmed = errors.New("engine: changes after this position are no longer kept")
	// ErrChangesAhead: the position is one that this store has not given out yet.
	ErrChangesAhead = errors.New("engine: position lies ahead of all changes")
	// ErrTableGone: the table was deleted; all its changes have been seen.
	ErrTableGone = errors.New("engine: table was deleted")
	// ErrNoTable: there was no such table to begin with.
	ErrNoTable = errors.New("engine: there is no such table")
)

// Changes follows the changes of a table, with or without a stream, from a position on: each once, those of
// one item in the order of their commits. A table without a stream begins to keep changes when it is first
// followed, and keeps them for catalog.FollowedFor, at least, after the call and after the last follower has ended. Where
// there are none left it waits for more. It ends with its caller, or with the error that is its last pair. The table and,
// for ChangesNow, the position are those of the time of the call. If the log was not kept at some time between the
// position and the beginning of the iteration, that error is ErrChangesTrimmed.
func (e *Engine) Changes(ctx context.Context, nameOrARN string, from kv.Seq) iter.Seq2[Change, error] {
	f, err := e.newFollower(ctx, nameOrARN, from)
	return func(yield func(Change, error) bool) {
		if err != nil {
			yield(Change{}, err)
			return
		}
		f := *f // may be iterated over again
		f.listener = e.landings.listen(f.table.ID)
		defer e.landings.dismiss(f.listener)
		if err := f.begin(ctx); err != nil {
			yield(Change{}, err)
			return
		}
		if err := f.heed(ctx); err != nil {
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
// A commit that was acknowledged can be out of a log's sight for a moment: as long as one with a lower number
// is under way, be it of another table or Region. So a follower that hears of a commit takes note of the number below
// which all acknowledged ones are, and until it has read so far it listens to the commits of all tables.
//
// As long as it listens, the table's log keeps both images. Before that, the log may have stopped keeping them for some
// time, so every read is checked against the number from which the log is whole.
type follower struct {
	engine   *Engine
	table    *catalog.Table // as last seen
	keyNames []string
	after    kv.Seq // read up to here
	begun    bool   // with a position to go on from, not with whatever there is
	heard    kv.Seq // all that was acknowledged when the listener was last woken is below
	gone     bool   // and the table had been deleted by then
	listener *listener
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
	upcoming, err := upcomingSeq(ctx, e.store)
	if err == nil && from >= upcoming {
		err = ErrChangesAhead
	}
	return f, err
}

// followedTable looks a table up and makes its log keep what followers need.
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

// keepFollowed makes a table's log keep both images for followers: for catalog.FollowedFor, at least, after any time until
// logs are next trimmed, when it is called again for tables with a follower.
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

// begin makes the table's log keep both images from now on, until the follower stops listening.
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

// current is the table's present definition, nil if it has been deleted.
func (f *follower) current() *catalog.Table {
	t := f.engine.catalog.Tables()[f.table.Name]
	if t == nil || t.ID != f.table.ID || t.Descriptor.GoneAt != 0 {
		return nil
	}
	return t
}

// next returns the records that follow, at least one; it waits for them.
func (f *follower) next(ctx context.Context) ([]kv.Record, error) {
	for {
		records, err := f.read(ctx)
		if err != nil || len(records) > 0 {
			return records, err
		}
		if f.after+1 < f.heard {
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
		if err := f.heed(ctx); err != nil {
			return nil, err
		}
	}
}

// heed takes note of what there is to be read, for a follower that has been woken or has just begun.
func (f *follower) heed(ctx context.Context) (err error) {
	f.listener.all.Store(true)
	f.gone = f.current() == nil
	f.heard, err = upcomingSeq(ctx, f.engine.store)
	return err
}

// read returns the records that follow, if there are any, and makes sure that none before them is missing.
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
		// Only now: what is trimmed during the read may be missing from it, and so may what was not kept.
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

// lost is the number up to which changes may be missing from the log, because they were trimmed or not kept.
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
