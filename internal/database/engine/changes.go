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

// changesChunk is how many records of a log are read at a time.
const changesChunk = 64

// Changes follows the changes of a table, with or without a stream, from a position on: each once, those of
// one item in the order of their commits. A table without a stream begins to keep changes when it is first
// followed, and goes on for catalog.FollowedFor after that. Where there are none left it waits for more. It ends with its
// caller, or with the error that is its last pair. The table and, for ChangesNow, the position are those of
// the time of the call.
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
// is under way, be it of another table. So a follower that hears of a commit takes note of the number below
// which all acknowledged ones are, and until it has read so far it listens to the commits of all tables.
type follower struct {
	engine   *Engine
	table    *catalog.Table
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
	whole := t.Descriptor.Log.BothImages() - 1 // nothing after it is missing, but for what is trimmed
	if from == ChangesKept {
		f.after = whole
		return f, nil
	}
	if from == ChangesNow {
		upcoming, err := e.awaitWrites(ctx, t.ID)
		f.after = upcoming - 1
		return f, err
	}
	upcoming, err := upcomingSeq(ctx, e.store)
	switch {
	case err != nil:
	case from >= upcoming:
		err = ErrChangesAhead
	case from < whole:
		err = ErrChangesTrimmed
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

// keepFollowed makes a table's log keep both images for followers, for half of catalog.FollowedFor at least.
func (e *Engine) keepFollowed(ctx context.Context, t *catalog.Table) error {
	if t.Descriptor.FollowedAt(e.options.Now().Add(catalog.FollowedFor / 2)) {
		return nil
	}
	_, err := e.catalog.Change(ctx, t.Name, func(_ kv.Txn, d *catalog.Descriptor) error {
		d.Followed = e.options.Now().Add(catalog.FollowedFor).UnixMilli()
		return nil
	})
	return err
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
	current := f.engine.catalog.Tables()[f.table.Name]
	f.gone = current == nil || current.ID != f.table.ID || current.Descriptor.GoneAt != 0
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
		records, through, err := f.engine.store.ReadLog(ctx, log, f.after, changesChunk)
		if err != nil {
			return nil, err
		}
		// Only now: what is trimmed during the read may be missing from it.
		trimmed, err := f.engine.store.LogTrimmed(ctx, log)
		if err != nil {
			return nil, err
		}
		if trimmed <= f.after {
			f.after, f.begun = through, true
			return records, nil
		}
		if f.begun {
			return nil, ErrChangesTrimmed
		}
		f.after = trimmed
	}
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
