package monotable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/monotable/monotable/internal/database/engine/format"
	"github.com/monotable/monotable/internal/database/move"
	"github.com/monotable/monotable/internal/database/server"
	"github.com/monotable/monotable/internal/database/storage/kv"
	"github.com/monotable/monotable/internal/database/storage/kv/pebblekv"
)

// awaitInterval is how often AwaitMove polls the store.
const awaitInterval = 20 * time.Millisecond

// Move moves the whole database to a PostgreSQL database or a TiKV cluster, like the function [Move], while reads and writes continue.
// From and the master key of o are ignored: they are the database's own.
//
// Changes are copied in rounds. At the end updates wait for about as long as the last round takes; from then on every request
// fails with an InternalServerError, which SDKs retry and which says where the database is. [DB.Ready] returns an error, too.
// Only then can the target be opened. The database stays open and must be closed.
//
// After an error before that point nothing has changed. Canceling ctx after that point does not stop the move. An error after
// that point means that neither store can be opened until this database is closed and the function [Move] is called for the same
// two stores.
func (db *DB) Move(ctx context.Context, o *MoveOptions) (Moved, error) {
	own := *o
	own.From, own.MasterKey = db.dir, db.masterKey
	if _, onDisk := db.store.(*pebblekv.Store); !onDisk {
		return Moved{}, fmt.Errorf("monotable: move to %s: %w", describeStore(own.To), db.errNoDirectory("stop all servers, and move from the URL of the store"))
	}
	done, err := db.move(ctx, &own)
	if err != nil {
		return Moved{}, fmt.Errorf("monotable: move %s to %s: %w", describeStore(own.From), describeStore(own.To), err)
	}
	return done, nil
}

func (db *DB) move(ctx context.Context, o *MoveOptions) (Moved, error) {
	source, _ := db.store.(*pebblekv.Store)
	if !isURL(o.To) {
		return Moved{}, errors.New("a server has the directory open, and an online move only works to PostgreSQL or TiKV: stop the server first")
	}
	if err := o.check(); err != nil {
		return Moved{}, err
	}
	target, err := openShareable(ctx, o.To, false)
	if err != nil {
		return Moved{}, err
	}
	for _, text := range o.remains(source) {
		o.notice(text)
	}
	refusal := server.MovedTo(describeStore(o.To))
	var verified Verified
	result, err := move.RunLive(ctx, source, target, move.LiveOptions{
		Options: o.options(&verified),
		Follow: func() (move.Follower, error) {
			f, err := source.Follow()
			if err != nil {
				return nil, err
			}
			return f, nil
		},
		Refusal: refusal,
		Left:    func() { db.left.Store(&refusal) },
	})
	if result.Left {
		db.logger.WarnContext(ctx, "the database has been moved: all requests are rejected from now on", "to", describeStore(o.To), "error", err)
		db.stopBackground()
	}
	return moved(&result, verified), errors.Join(err, target.Close())
}

// moved returns the error of all requests after the database has been moved.
func (db *DB) moved() error {
	if refusal := db.left.Load(); refusal != nil {
		return *refusal
	}
	return nil
}

// stopBackground stops background work, which the new servers take over.
func (db *DB) stopBackground() {
	if db.kinesis != nil {
		db.kinesis.Close()
	}
	db.engine.Rest()
	for _, r := range db.regions {
		if r.kinesis != nil {
			r.kinesis.Close()
		}
		r.engine.Rest()
	}
}

// AwaitMove waits until a database that is being moved, or will be moved, to a store can be opened there. address is the store's,
// as for [OpenStore].
func AwaitMove(ctx context.Context, address string) error {
	if err := awaitMove(ctx, address); err != nil {
		return fmt.Errorf("monotable: await the move to %s: %w", describeStore(address), err)
	}
	return nil
}

func awaitMove(ctx context.Context, address string) error {
	for {
		store, err := openShareable(ctx, address, true)
		if err == nil {
			return errors.Join(awaitVersion(ctx, store), store.Close())
		}
		if !errors.Is(err, kv.ErrMissing) {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func awaitVersion(ctx context.Context, store kv.Store) error {
	for {
		snapshot, err := store.Snapshot(ctx)
		if err != nil {
			return err
		}
		version, _, err := format.Read(snapshot)
		if err := errors.Join(err, snapshot.Close()); err != nil || version > 0 {
			return err
		}
		if err := pause(ctx); err != nil {
			return err
		}
	}
}

func pause(ctx context.Context) error {
	select {
	case <-time.After(awaitInterval):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
